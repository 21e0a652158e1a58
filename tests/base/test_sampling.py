import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from zeronorm.base.labels import class_codes
from zeronorm.base.sampling import (
    MANY_ROWS,
    central_rows,
    other_rows,
    renumbered,
    shuffled_rows,
    stratified_blocks,
    stratified_rows,
)


@pytest.mark.parametrize("sizes", [[50, 50], [97, 3], [90, 6, 1, 1, 1, 1]], ids=str)
@pytest.mark.parametrize("count", [1, 5, 20, 99, 100, 500])
def test_every_class_in_proportion(sizes, count):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows = stratified_rows(codes, count, np.random.RandomState(0))
    assert (np.diff(rows) > 0).all()
    assert set(codes[rows]) == set(range(len(sizes)))
    assert len(rows) == min(max(count, len(sizes)), 100)
    # In proportion, but each class has half of an equal share where it has so many rows.
    found, sizes = np.bincount(codes[rows]), np.array(sizes)
    floors = np.minimum(sizes, max(1, count // (2 * len(sizes))))
    assert (found >= floors).all() and (found <= sizes).all()
    above = found > floors
    exact = len(rows) * sizes / 100
    if above.all():
        assert (np.abs(found - exact) < 1).all()
    else:  # what the small classes have more than their share, the largest gives
        assert found[0] <= max(1, np.ceil(exact[0]))


def test_least_of_a_class_where_it_has_them():
    codes = np.repeat([0, 1, 2], [900, 92, 8])
    rows = stratified_rows(codes, 100, np.random.RandomState(0), least=20)
    assert np.bincount(codes[rows]).tolist() == [72, 20, 8]


def test_the_source_decides():
    codes = np.repeat([0, 1], 50)
    draws = [stratified_rows(codes, 10, np.random.RandomState(s)).tolist() for s in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("sizes", [[50, 50], [97, 3], [90, 6, 1, 1, 1, 1]], ids=str)
@pytest.mark.parametrize("n_blocks", [1, 2, 7, 100])
def test_blocks_hold_every_row_once_and_every_class_evenly(sizes, n_blocks):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    blocks = stratified_blocks(codes, n_blocks, np.random.RandomState(0))
    assert len(blocks) == n_blocks
    np.testing.assert_array_equal(np.sort(np.concatenate(blocks)), np.arange(100))
    assert all((np.diff(block) > 0).all() for block in blocks)
    # As even as whole numbers can be, in all and for each class.
    counts = np.array([np.bincount(codes[block], minlength=len(sizes)) for block in blocks])
    assert np.ptp(counts.sum(axis=1)) <= 1
    assert np.ptp(counts, axis=0).max() <= 1


def test_the_source_decides_the_blocks():
    codes = np.repeat([0, 1], 50)
    deals = [
        [block.tolist() for block in stratified_blocks(codes, 4, np.random.RandomState(seed))]
        for seed in (0, 0, 1)
    ]
    assert deals[0] == deals[1] != deals[2]


def test_rows_of_a_large_class_are_distinct():
    codes = np.repeat([0, 1], [2 * MANY_ROWS, 50])
    rows = stratified_rows(codes, 1_000, np.random.RandomState(0))
    assert len(np.unique(rows)) == 1_000
    assert np.bincount(codes[rows]).tolist() == [950, 50]
    # Uniformly: the mean of so many has a standard deviation of 0.0094 of the range.
    assert rows[codes[rows] == 0].mean() / (2 * MANY_ROWS) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize(
    ("n_rows", "count"), [(50, 20), (50, 80), (MANY_ROWS, 1_000), (MANY_ROWS, MANY_ROWS // 2)]
)
def test_some_rows_in_random_order(n_rows, count):
    rows = shuffled_rows(n_rows, count, np.random.RandomState(0))
    assert len(np.unique(rows)) == len(rows) == min(n_rows, count)
    assert rows.min() >= 0 and rows.max() < n_rows
    assert not np.all(np.diff(rows) > 0)
    again = shuffled_rows(n_rows, count, np.random.RandomState(0))
    np.testing.assert_array_equal(rows, again)


def test_different_rows_are_drawn_uniformly():
    """Every tenth of the rows as often as any other, in any place of the order."""
    draws = [shuffled_rows(MANY_ROWS, 9_000, np.random.RandomState(seed)) for seed in range(40)]
    for part in (slice(None), slice(-500, None)):  # the last were drawn in place of others
        tenths = np.bincount(np.concatenate([one[part] for one in draws]) // (MANY_ROWS // 10))
        expected = tenths.sum() / 10
        assert np.sum((tenths - expected) ** 2 / expected) < 30  # chi squared, 9 degrees: 0.0004


def test_codes_without_gaps_and_other_rows():
    assert renumbered(np.array([5, 2, 2, 9])).tolist() == [1, 0, 0, 2]
    assert other_rows(6, np.array([4, 0, 1])).tolist() == [2, 3, 5]


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -2, 3, 5]),
        np.array([-128, 127, 0] * 100, dtype=np.int8),
        np.array([2**62, -(2**62)]),
        np.array([2**63, 2**63 + 1], dtype=np.uint64),
        np.array(["b", "a", "b"]),
        np.array([True, False]),
        np.array([0.5, -1.0]),
    ],
    ids=str,
)
def test_codes_of_labels(labels):
    classes, codes = class_codes(labels)
    expected, inverse = np.unique(labels, return_inverse=True)
    assert classes.dtype == expected.dtype
    assert np.array_equal(classes, expected)
    assert np.array_equal(codes, inverse)


# --- rows in the middle of clusters ---------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_every_cluster_has_the_row_nearest_to_its_mean(make):
    X, which = make_blobs([60, 20, 8, 4], centers=None, cluster_std=0.05, random_state=3)
    rows = central_rows(make(X), 4, np.random.RandomState(0))
    assert sorted(which[rows]) == [0, 1, 2, 3]
    for row in rows:
        cluster = np.flatnonzero(which == which[row])
        distances = ((X[cluster] - X[cluster].mean(axis=0)) ** 2).sum(axis=1)
        assert row == cluster[distances.argmin()]


EXTREME = {
    "huge": lambda X: np.tanh(X) * 1.7e308,
    "tiny": lambda X: X * 1e-310,
    "far off": lambda X: X + 1e15,
    "one far row": lambda X: np.vstack([X, np.full((1, 3), 1e200)]),
    "scales": lambda X: X * [1.0, 1e-200, 1e200],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("change", EXTREME.values(), ids=EXTREME)
@pytest.mark.parametrize("count", [0, 1, 7, 30])
def test_as_many_rows_as_asked_for_whatever_their_size(change, count):
    X = change(np.random.RandomState(0).normal(size=(30, 3)))
    rows = central_rows(X, count, np.random.RandomState(0))
    assert len(rows) == count and (np.diff(rows) > 0).all()
    assert set(rows) <= set(range(len(X)))
