"""Kernel classifiers with few terms, and feature selection with few inputs."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # "as" says to type checkers that these are names of this module
    from zeronorm.classifiers.cross_entropy import CrossEntropySVC as CrossEntropySVC
    from zeronorm.classifiers.irwls import IRWLSClassifier as IRWLSClassifier
    from zeronorm.classifiers.kernel_fisher import SparseKernelFisher as SparseKernelFisher
    from zeronorm.classifiers.large_margin import (
        SparseLargeMarginClassifier as SparseLargeMarginClassifier,
    )
    from zeronorm.classifiers.linear_programming import LinearProgrammingSVC as LinearProgrammingSVC
    from zeronorm.classifiers.linear_programming import OneNormSVC as OneNormSVC
    from zeronorm.classifiers.reduced import ReducedSVC as ReducedSVC
    from zeronorm.classifiers.relevance import (
        RelevanceVectorClassifier as RelevanceVectorClassifier,
    )
    from zeronorm.classifiers.sparse_probit import SparseProbitClassifier as SparseProbitClassifier
    from zeronorm.classifiers.sparse_svc import SparseSVC as SparseSVC
    from zeronorm.classifiers.sparsity_controlled import (
        SparsityControlledSVC as SparsityControlledSVC,
    )
    from zeronorm.classifiers.zero_norm import ZeroNormSVC as ZeroNormSVC
    from zeronorm.decomposition.kernel_pca import SparseKernelPCA as SparseKernelPCA
    from zeronorm.density.kernel_density import SparseKernelDensity as SparseKernelDensity
    from zeronorm.expansion import KernelExpansion as KernelExpansion
    from zeronorm.feature_selection.arom import AROMSelector as AROMSelector
    from zeronorm.feature_selection.classifier import AROMClassifier as AROMClassifier
    from zeronorm.feature_selection.correlation import CorrelationSelector as CorrelationSelector
    from zeronorm.feature_selection.fsv import FSVSelector as FSVSelector
    from zeronorm.feature_selection.r2w2 import R2W2Selector as R2W2Selector
    from zeronorm.one_class.sparse_one_class import SparseOneClassSVM as SparseOneClassSVM
    from zeronorm.quantization.zero_norm import ZeroNormQuantizer as ZeroNormQuantizer
    from zeronorm.reduction.one_class_reducer import OneClassReducer as OneClassReducer
    from zeronorm.reduction.svc_reducer import SVCReducer as SVCReducer
    from zeronorm.reduction.svr_reducer import SVRReducer as SVRReducer
    from zeronorm.regressors.relevance import RelevanceVectorRegressor as RelevanceVectorRegressor
    from zeronorm.regressors.sparse_svr import SparseSVR as SparseSVR
    from zeronorm.regressors.zero_norm import ZeroNormSVR as ZeroNormSVR
    from zeronorm.report.displays import SparsityPathDisplay as SparsityPathDisplay
    from zeronorm.saving import load as load
    from zeronorm.saving import save as save

__version__ = "0.1.0"

#: Where the public names are; they are imported when first used, so that who needs one estimator
#: does not wait for the others, nor ``zeronorm --version`` for any.
_MODULES = {
    "AROMClassifier": "feature_selection.classifier",
    "AROMSelector": "feature_selection.arom",
    "CorrelationSelector": "feature_selection.correlation",
    "CrossEntropySVC": "classifiers.cross_entropy",
    "FSVSelector": "feature_selection.fsv",
    "IRWLSClassifier": "classifiers.irwls",
    "KernelExpansion": "expansion",
    "LinearProgrammingSVC": "classifiers.linear_programming",
    "OneClassReducer": "reduction.one_class_reducer",
    "OneNormSVC": "classifiers.linear_programming",
    "R2W2Selector": "feature_selection.r2w2",
    "ReducedSVC": "classifiers.reduced",
    "RelevanceVectorClassifier": "classifiers.relevance",
    "RelevanceVectorRegressor": "regressors.relevance",
    "SVCReducer": "reduction.svc_reducer",
    "SVRReducer": "reduction.svr_reducer",
    "SparseKernelDensity": "density.kernel_density",
    "SparseKernelFisher": "classifiers.kernel_fisher",
    "SparseKernelPCA": "decomposition.kernel_pca",
    "SparseLargeMarginClassifier": "classifiers.large_margin",
    "SparseOneClassSVM": "one_class.sparse_one_class",
    "SparseProbitClassifier": "classifiers.sparse_probit",
    "SparseSVC": "classifiers.sparse_svc",
    "SparseSVR": "regressors.sparse_svr",
    "SparsityControlledSVC": "classifiers.sparsity_controlled",
    "SparsityPathDisplay": "report.displays",
    "ZeroNormQuantizer": "quantization.zero_norm",
    "ZeroNormSVC": "classifiers.zero_norm",
    "ZeroNormSVR": "regressors.zero_norm",
    "load": "saving",
    "save": "saving",
}

__all__ = [*_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    """Import a public name, or a module, when it is asked for."""
    if name in _MODULES:
        value = getattr(importlib.import_module(f"zeronorm.{_MODULES[name]}"), name)
        globals()[name] = value
        return value
    if any(module.name == name for module in pkgutil.iter_modules(__path__)):
        return importlib.import_module(f"zeronorm.{name}")
    raise AttributeError(f"module 'zeronorm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
