"""The classifiers, one module per method."""

from zeronorm.classifiers.zero_norm import ZeroNormSVC

__all__ = ["ZeroNormSVC"]
