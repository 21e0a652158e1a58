"""Smaller models with the same decisions."""

from zeronorm.reduction.svc_reducer import SVCReducer

__all__ = ["SVCReducer"]
