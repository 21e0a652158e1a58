"""Kernel classifiers with few terms, and feature selection with few inputs."""

from zeronorm.classifiers.cross_entropy import CrossEntropySVC
from zeronorm.classifiers.irwls import IRWLSClassifier
from zeronorm.classifiers.kernel_fisher import SparseKernelFisher
from zeronorm.classifiers.large_margin import SparseLargeMarginClassifier
from zeronorm.classifiers.linear_programming import LinearProgrammingSVC, OneNormSVC
from zeronorm.classifiers.reduced import ReducedSVC
from zeronorm.classifiers.relevance import RelevanceVectorClassifier
from zeronorm.classifiers.sparse_probit import SparseProbitClassifier
from zeronorm.classifiers.sparse_svc import SparseSVC
from zeronorm.classifiers.sparsity_controlled import SparsityControlledSVC
from zeronorm.classifiers.zero_norm import ZeroNormSVC
from zeronorm.decomposition.kernel_pca import SparseKernelPCA
from zeronorm.density.kernel_density import SparseKernelDensity
from zeronorm.expansion import KernelExpansion
from zeronorm.feature_selection.arom import AROMSelector
from zeronorm.feature_selection.classifier import AROMClassifier
from zeronorm.feature_selection.correlation import CorrelationSelector
from zeronorm.feature_selection.fsv import FSVSelector
from zeronorm.feature_selection.r2w2 import R2W2Selector
from zeronorm.one_class.sparse_one_class import SparseOneClassSVM
from zeronorm.quantization.zero_norm import ZeroNormQuantizer
from zeronorm.reduction.one_class_reducer import OneClassReducer
from zeronorm.reduction.svc_reducer import SVCReducer
from zeronorm.reduction.svr_reducer import SVRReducer
from zeronorm.regressors.relevance import RelevanceVectorRegressor
from zeronorm.regressors.sparse_svr import SparseSVR
from zeronorm.regressors.zero_norm import ZeroNormSVR
from zeronorm.report.displays import SparsityPathDisplay
from zeronorm.saving import load, save

__version__ = "0.1.0"

__all__ = [
    "AROMClassifier",
    "AROMSelector",
    "CorrelationSelector",
    "CrossEntropySVC",
    "FSVSelector",
    "IRWLSClassifier",
    "KernelExpansion",
    "LinearProgrammingSVC",
    "OneClassReducer",
    "OneNormSVC",
    "ReducedSVC",
    "R2W2Selector",
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "SVCReducer",
    "SVRReducer",
    "SparseKernelDensity",
    "SparseKernelFisher",
    "SparseKernelPCA",
    "SparseLargeMarginClassifier",
    "SparseOneClassSVM",
    "SparseProbitClassifier",
    "SparseSVC",
    "SparseSVR",
    "SparsityControlledSVC",
    "SparsityPathDisplay",
    "ZeroNormQuantizer",
    "ZeroNormSVC",
    "ZeroNormSVR",
    "__version__",
    "load",
    "save",
]
