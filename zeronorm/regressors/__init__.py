"""Regressors: thin estimators, one module per method."""
