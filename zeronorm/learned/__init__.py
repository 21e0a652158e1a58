"""Vectors that move: tasks, descent, the path of sizes, the choice of everything."""
