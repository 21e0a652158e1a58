"""The simplex problem of the kernel density."""
