"""Solve, take new weights, drop what vanished, repeat."""
