"""Reports and pictures."""
