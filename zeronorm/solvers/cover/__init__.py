"""Covers of rows by few of them."""
