"""Sparse Bayesian learning: the marginal likelihood."""
