"""Why we are not best where we are not: the text of that section of RESULTS.md, without figures."""

REASONS = """
TODO
"""
