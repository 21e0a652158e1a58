"""Saving what an estimator has learned, and loading it: one file format for each kind of thing."""

from __future__ import annotations

import os
from typing import Any

from sklearn.frozen import FrozenEstimator

from zeronorm.expansion import KernelExpansion
from zeronorm.expansion_parts import FORMAT as EXPANSION_FORMAT
from zeronorm.files import read_model
from zeronorm.model import Model


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Save what an estimator has learned, as readable JSON that :func:`load` reads.

    Parameters
    ----------
    estimator : fitted estimator
        Any estimator of zeronorm but :class:`ZeroNormQuantizer`, or an
        :class:`~sklearn.svm.SVC`, ``NuSVC``, ``SVR``, ``NuSVR`` or ``OneClassSVM``, as it is or in
        a :class:`~sklearn.frozen.FrozenEstimator`; also any selector of features.
    path : path-like
        The file; it is written whole or not at all.

    Raises
    ------
    ValueError
        If the estimator is something else (a pipeline, a grid search) or not fitted; if its
        kernel is a function, which is code and not data; if its class labels are of a type that
        JSON does not have.

    See Also
    --------
    load : Reads the file.

    Notes
    -----
    Parameters and training records are not saved, and neither are the probabilities of an ``SVC``.

    Examples
    --------
    >>> import os, tempfile
    >>> import zeronorm
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> classifier = zeronorm.ZeroNormSVC().fit(X, y)
    >>> zeronorm.save(classifier, path)
    >>> bool((zeronorm.load(path).predict(X) == classifier.predict(X)).all())
    True
    """
    from sklearn.feature_selection import SelectorMixin  # brings much, which `load` does not need

    inner = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    if isinstance(inner, SelectorMixin):
        from zeronorm.feature_selection.selected import SelectedFeatures

        SelectedFeatures.from_selector(inner).save(path)
    else:
        Model.from_estimator(inner).save(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Load what :func:`save` wrote. Nothing in the file is ever executed.

    Parameters
    ----------
    path : path-like
        A file or a pipe, of at most 256 MiB (:data:`zeronorm.files.MAX_BYTES`). A file that was
        changed after it was written does not match its checksum and is refused; to edit one by
        hand, remove the line with the checksum.

    Returns
    -------
    Model, SelectedFeatures or TableModel
        A model that predicts as the estimator did; of a selector, the selection; of a file that
        ``zeronorm fit --out`` wrote, the model of the table. An expansion that
        :meth:`KernelExpansion.save` wrote is a model without classes: it has decision values.

    Raises
    ------
    ValueError
        If the content is damaged, was edited, or is anything else.

    See Also
    --------
    save : Writes the file, and has an example.
    """
    return read_model(path, _from_dict)


def _from_dict(data: Any) -> Any:
    name = data.get("format") if isinstance(data, dict) else None
    if name == EXPANSION_FORMAT:
        return Model(KernelExpansion.from_dict(data))
    if name == "zeronorm-table-model":
        from zeronorm.tables.model import TableModel

        return TableModel.from_dict(data)
    if name == "zeronorm-selection":
        from zeronorm.feature_selection.selected import SelectedFeatures

        return SelectedFeatures.from_dict(data)
    return Model.from_dict(data)
