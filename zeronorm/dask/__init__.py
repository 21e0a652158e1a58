"""Learning from rows that are spread over a cluster, or larger than memory: Dask collections."""

try:
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError("zeronorm.dask needs Dask; pip install 'zeronorm[dask]'") from error

from zeronorm.dask.sparse_svc import DaskSparseSVC
from zeronorm.dask.sparse_svr import DaskSparseSVR

__all__ = ["DaskSparseSVC", "DaskSparseSVR"]
