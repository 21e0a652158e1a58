"""Kernel classifiers with few terms, and feature selection with few inputs."""

from zeronorm.classifiers.zero_norm import ZeroNormSVC
from zeronorm.expansion import KernelExpansion

__version__ = "0.1.0"

__all__ = ["KernelExpansion", "ZeroNormSVC", "__version__"]
