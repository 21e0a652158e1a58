"""Columns of the data: the same numbers as NumPy's on a whole array, in either precision."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from zeronorm import AROMSelector
from zeronorm.solvers.elimination.columns import Columns


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["C", "F", "sparse"])
def test_products_are_those_of_the_whole_array(form, dtype):
    """A block holds seven columns; the data lie far from zero, where single precision is coarse."""
    random = np.random.default_rng(0)
    X = (100.0 * (form != "sparse") + random.normal(size=(9, 40))).astype(dtype)
    given = sparse.csr_array(X) if form == "sparse" else np.array(X, order=form)
    columns = Columns(given, random.integers(1, 4, size=40), block_values=9 * 7)
    exact = X.astype(float)
    around = exact - exact.mean(axis=0)
    kept = random.random(40) < 0.6
    for mask in (np.ones(40, bool), kept, kept & (np.arange(40) != np.flatnonzero(kept)[0])):
        columns.keep(mask[kept] if columns.n_columns < 40 else mask)
        assert columns.n_columns == mask.sum()
        part, rows = around[:, mask], random.normal(size=(9, 2))
        rows -= rows.mean(axis=0)
        scaling = random.uniform(0.1, 2.0, size=mask.sum())
        scaled = part * scaling * np.sqrt(columns.multiplicity)
        centring = np.eye(9) - 1.0 / 9.0
        gram = centring @ columns.gram(scaling) @ centring
        np.testing.assert_allclose(gram, scaled @ scaled.T, atol=1e-9)
        np.testing.assert_allclose(columns.adjoint(rows), part.T @ rows, atol=1e-10)
        np.testing.assert_allclose(columns.deviations, part.std(axis=0), rtol=1e-9)
        weight = random.random(9)
        squares = (exact[:, mask] if form == "sparse" else part) ** 2
        np.testing.assert_allclose(columns.square_sums(weight), weight @ squares, rtol=1e-9)
        if form != "sparse":
            np.testing.assert_allclose(columns.values, part, atol=1e-12)


def test_single_precision_selects_the_same_and_copies_the_data_once():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 30_000), dtype=np.float32)
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    before = X.copy()
    expected = AROMSelector(10).fit(X.astype(float), y)
    tracemalloc.start()
    try:
        found = AROMSelector(10).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    np.testing.assert_allclose(found.scaling_, expected.scaling_, rtol=1e-9)
    # A copy, a block of it in double precision, and vectors over the columns.
    assert peak < 2.5 * X.nbytes
