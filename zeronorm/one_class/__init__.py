"""One-class machines: thin estimators, one module per method."""
