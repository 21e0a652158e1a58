"""The classifiers, one module per method."""
