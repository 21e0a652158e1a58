"""Quantisers: few vectors that represent all rows."""
