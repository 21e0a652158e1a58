"""The cross-entropy method for minimising over vectors of zeros and ones."""

from zeronorm.solvers.cross_entropy.search import minimise

__all__ = ["minimise"]
