"""Smaller models with the same decisions."""

from zeronorm.reduction.one_class_reducer import OneClassReducer
from zeronorm.reduction.svc_reducer import SVCReducer
from zeronorm.reduction.svr_reducer import SVRReducer

__all__ = ["OneClassReducer", "SVCReducer", "SVRReducer"]
