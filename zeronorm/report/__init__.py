"""Pictures and reports of fitted models."""
