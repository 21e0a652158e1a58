"""A selection of features without the selector that made it: what a file holds of one."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from zeronorm.checks import is_integer, is_text
from zeronorm.files import check_format, write_model

FORMAT = "zeronorm-selection"
VERSION = 1

#: A file may not claim more features: the mask has room in memory.
MOST_FEATURES = 2**28


class SelectedFeatures(SelectorMixin, BaseEstimator):
    """The features that a selector selected; what :func:`zeronorm.load` returns of one.

    It transforms as the selector did, and there is nothing to fit.

    Parameters
    ----------
    support : array-like of int
        Indices of the selected features.
    n_features_in : int
        Number of features to select from.
    feature_names_in : array-like of str, optional
        Their names, where they have names.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    n_features_in_ : int
        Number of features to select from.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where they have names.

    Examples
    --------
    >>> from zeronorm.feature_selection.selected import SelectedFeatures
    >>> SelectedFeatures([0, 2], 3).transform([[1.0, 2.0, 3.0]])
    array([[1., 3.]])
    """

    def __init__(self, support: Any, n_features_in: int, feature_names_in: Any = None) -> None:
        self.support = support
        self.n_features_in = n_features_in
        self.feature_names_in = feature_names_in
        self.n_features_in_ = n_features_in
        self.support_ = np.zeros(n_features_in, dtype=bool)
        self.support_[np.asarray(support, dtype=np.intp)] = True
        if feature_names_in is not None:
            self.feature_names_in_ = np.array(feature_names_in, dtype=object)

    @classmethod
    def from_selector(cls, selector: Any) -> SelectedFeatures:
        """Return what a fitted selector of scikit-learn's kind selected."""
        check_is_fitted(selector)
        mask = selector.get_support()
        names = getattr(selector, "feature_names_in_", None)
        return cls(np.flatnonzero(mask), len(mask), names)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what input fits."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None) -> SelectedFeatures:
        """Do nothing: the features are selected.

        Parameters
        ----------
        X, y : object
            Ignored.

        Returns
        -------
        self
        """
        return self

    def _get_support_mask(self) -> np.ndarray:
        return self.support_

    def to_dict(self) -> dict[str, Any]:
        """Describe the selection as plain data."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None and not all(map(is_text, names)):
            raise ValueError("The names of the features cannot be written to a file.")
        return {
            "format": FORMAT,
            "version": VERSION,
            "n_features_in": self.n_features_in_,
            "feature_names_in": None if names is None else names.tolist(),
            "support": np.flatnonzero(self.support_).tolist(),
        }

    @classmethod
    def from_dict(cls, data: Any) -> SelectedFeatures:
        """Rebuild a selection from :meth:`to_dict`; a clear ``ValueError`` if it is damaged."""
        needed = ("n_features_in", "feature_names_in", "support")
        data = check_format(data, "selection", FORMAT, VERSION, needed)
        n_features, names, support = (data[key] for key in needed)
        if not is_integer(n_features) or not 0 < n_features <= MOST_FEATURES:
            raise ValueError("The selection is damaged: n_features_in is not a positive number.")
        if not isinstance(support, list) or not all(
            is_integer(index) and 0 <= index < n_features for index in support
        ):
            raise ValueError("The selection is damaged: support is not a list of features.")
        if names is not None and (
            not isinstance(names, list) or len(names) != n_features or not all(map(is_text, names))
        ):
            raise ValueError(f"The selection is damaged: its names are not {n_features} texts.")
        return cls(support, n_features, names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the selection as readable JSON with a checksum, all of it or nothing."""
        write_model(path, self.to_dict())
