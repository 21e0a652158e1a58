"""The command line: reading, encoding, comparing, selecting."""
