"""What SparseSVC and SparseSVR on Dask collections share: the same parameters, the same model.

The interface is that of ``lightgbm.dask``: ``client``, ``client_``, ``to_local``, and predictions
that are as lazy as what they are asked of.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import dask
import dask.array as da
import numpy as np
from distributed import Client, default_client
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from zeronorm.arrays import DOUBLE
from zeronorm.base.fitting import all_or_nothing
from zeronorm.base.training_set import Learned
from zeronorm.checks import check_integer, is_integer
from zeronorm.dask.blocks import Blocks, check_collection, check_rows, is_array, is_collection
from zeronorm.dask.rows import Facts, Target, find_facts, take_sample
from zeronorm.dask.sums import AllRows
from zeronorm.learned.machine import LearnedMachine

#: Fewest rows of a sample: what is chosen should be chosen from some.
FEWEST_ROWS = 1_000


class OnDask(LearnedMachine):
    """What both have in common."""

    client: Any
    sample_rows: int

    _local: ClassVar[type]
    _target: ClassVar[Target]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Any:
        """Learn from all blocks.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Training rows. Blocks of an array may be SciPy's sparse matrices. Blocks that were not
            persisted are made again for every pass over the rows.
        y : Dask array, series or dataframe of shape (n_samples,)
            Their labels or targets; of an array whose block sizes are not known, and of a
            dataframe, cut into the same blocks as X.
        sample_weight : Dask array or series of shape (n_samples,), optional
            Non-negative weight of each row; it multiplies C.
        **params : dict
            None: ``groups`` and other metadata of rows would have to be sampled with them.

        Returns
        -------
        self
        """
        if params:
            raise TypeError(
                f"{type(self).__name__}.fit takes X, y and sample_weight; {', '.join(params)} "
                f"would have to be sampled with the rows. {self._local.__name__} takes groups."
            )
        with all_or_nothing(self):
            self._check_parameters()
            check_integer("sample_rows", self.sample_rows, least=FEWEST_ROWS)
            blocks = Blocks.of(self._connected(), X, y, sample_weight)
            facts = find_facts(blocks, self._target)
            has_all = facts.n_rows <= self.sample_rows
            if not has_all and not (is_integer(self.cv) or hasattr(self.cv, "split")):
                raise ValueError(
                    f"cv is a list of splits, but choices are made on a sample of "
                    f"{self.sample_rows} of the {facts.n_rows} rows: give a number of folds."
                )
            random = check_random_state(self.random_state)
            drawn = take_sample(blocks, self._target, facts, self.sample_rows, random)
            rows, labels, weight = drawn
            if not has_all:
                self._source = blocks, facts
            super().fit(rows, labels, None if has_all and sample_weight is None else weight)
            if blocks.names is not None:
                self.feature_names_in_ = blocks.names
        return self

    def _training_rows(self, X: Any, y: np.ndarray, sample_weight: Any) -> Any:
        training = super()._training_rows(X, y, sample_weight)
        if "_source" in self.__dict__:
            blocks, facts = self.__dict__.pop("_source")
            coding = self._coding(training, facts)
            training.full_data = AllRows(blocks, facts.n_rows, coding, self.device)
        return training

    def _store_learned(self, learned: Learned) -> None:
        learned.support = None  # numbers of rows of a sample
        super()._store_learned(learned)

    @abstractmethod
    def _coding(self, training: Any, facts: Facts) -> Any:
        """How rows of a block become training rows, from those of the sample."""

    @property
    def client_(self) -> Client:
        """The client in use: the one given, or else the one that Dask has at hand."""
        check_is_fitted(self, "expansion_")
        return self._connected()

    def _connected(self) -> Client:
        if self.client is not None:
            return self.client
        try:
            return default_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client. Start one, as client = distributed.Client(), or give "
                "one as client=."
            ) from None

    def to_local(self) -> Any:
        """Return the model without Dask.

        Returns
        -------
        SparseSVC or SparseSVR
            With the same parameters, and fitted.
        """
        check_is_fitted(self, "expansion_")
        local = self._local(**self._local_parameters())
        for name, value in vars(self).items():
            if name.endswith("_"):
                setattr(local, name, value)
        return local

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """Return the accuracy, or R² of a regressor, on Dask collections or rows in memory.

        With ``scoring`` it is that score, of rows in memory only.
        """
        if not is_collection(X):
            return super().score(X, y, sample_weight, **params)
        if self.scoring is not None or params:
            raise ValueError(
                "A scorer takes rows in memory: give X.compute() and y.compute(), or take scores "
                "of what predict returns."
            )
        predicted, truth = self.predict(X), _as_array("y", y)
        if predicted.ndim < truth.ndim:
            truth = truth[:, 0]
        weight = da.ones_like(predicted if predicted.ndim == 1 else predicted[:, 0], dtype=float)
        if sample_weight is not None:
            weight = _as_array("sample_weight", sample_weight)
        return self._scored(predicted, truth, weight)

    @abstractmethod
    def _scored(self, predicted: Any, truth: Any, weight: Any) -> float:
        """Compare predictions with the truth, both Dask arrays."""

    def _computed(self, *values: Any) -> tuple[Any, ...]:
        return dask.compute(*values, scheduler=self._connected())

    def _local_parameters(self) -> dict[str, Any]:
        own = ("client", "sample_rows")
        return {
            name: value for name, value in self.get_params(deep=False).items() if name not in own
        }

    def __sklearn_clone__(self) -> Any:
        """Return an estimator that is not fitted, with the same client: it cannot be copied."""
        parameters = {
            name: clone(value, safe=False) for name, value in self._local_parameters().items()
        }
        return type(self)(client=self.client, sample_rows=self.sample_rows, **parameters)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the client, which is no part of a model."""
        return {**super().__getstate__(), "client": None}

    def _is_lazy(self, X: Any) -> bool:
        """Whether a fitted model will speak of rows block by block."""
        if is_collection(X):
            check_is_fitted(self, "expansion_")
        return is_collection(X)

    def _lazily(
        self, X: Any, method: str, shape: tuple[int, ...], dtype: Any = DOUBLE, **options: Any
    ) -> Any:
        """Return a Dask array of what the model will say of each block, rows x ``shape``."""
        X = check_rows(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        model = dask.delayed(self.to_local(), traverse=False)
        if is_array(X):
            axes: dict[str, Any] = {"drop_axis": 1}
            if shape:
                axes = {"chunks": (X.chunks[0], *((n,) for n in shape))}
            if len(shape) > 1:
                axes["new_axis"] = 2
            meta = np.empty((0,) * (1 + len(shape)), dtype)
            call = {"method": method, "shape": shape, "dtype_": dtype, "options": options}
            return X.map_blocks(_applied, model, dtype=dtype, meta=meta, **axes, **call)
        apply = dask.delayed(_applied, pure=False, traverse=False)
        parts = [
            da.from_delayed(
                apply(part, model, method, shape, dtype, options), (math.nan, *shape), dtype
            )
            for part in X.to_delayed()
        ]
        return da.concatenate(parts, allow_unknown_chunksizes=True)


def _as_array(name: str, part: Any) -> Any:
    """Return a Dask array, series or dataframe as an array."""
    check_collection(name, part)
    return part if is_array(part) else part.to_dask_array()


def _applied(
    X: Any, model: Any, method: str, shape: tuple[int, ...], dtype_: Any, options: dict[str, Any]
) -> np.ndarray:
    """Return what a model says of a block: the second thing of what there are options for."""
    if X.shape[0] == 0:
        return np.zeros((0, *shape), dtype_)
    found = getattr(model, method)(X, **options)
    return found[1] if options else found
