"""AROM: columns are rescaled until few are left."""
