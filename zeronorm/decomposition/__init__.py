"""Decompositions of data in feature space: thin estimators, one module per method."""
