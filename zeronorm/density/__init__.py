"""Kernel densities with few components."""

from zeronorm.density.kernel_density import SparseKernelDensity

__all__ = ["SparseKernelDensity"]
