"""Numerics only: arrays in, arrays out."""
