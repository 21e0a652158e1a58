"""Quantisers: few vectors that stand for all rows."""
