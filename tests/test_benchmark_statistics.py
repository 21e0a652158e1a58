"""The statistics of the benchmarks: means, ranks, published figures, and duels with peers."""

import numpy as np
import pytest
from scipy import stats

from benchmarks import duels, peers
from benchmarks.statistics import (
    Figure,
    corrected_error,
    corrected_t_test,
    difference,
    mean_and_error,
    mean_ranks,
)


class TestStatistics:
    def test_mean_and_error(self):
        values = [1.0, 2.0, 4.0]
        assert mean_and_error(values) == pytest.approx((7 / 3, stats.sem(values)))
        assert np.isnan(mean_and_error([1.0])[1])

    def test_corrected_t_test_is_the_ordinary_one_without_shared_rows(self):
        differences = np.random.default_rng(0).normal(0.3, 1.0, size=12)
        ordinary = stats.ttest_1samp(differences, 0.0).pvalue
        assert corrected_t_test(differences, 0.0) == pytest.approx(ordinary)
        # The statistic shrinks by sqrt((1/k) / (1/k + share)).
        t = stats.ttest_1samp(differences, 0.0).statistic * np.sqrt((1 / 12) / (1 / 12 + 1 / 11))
        assert corrected_t_test(differences, 1 / 11) == pytest.approx(2 * stats.t.sf(abs(t), 11))

    def test_corrected_error_is_that_of_the_mean_without_shared_rows(self):
        differences = [1.0, 2.0, 5.0, 2.5]
        assert corrected_error(differences, 0.0) == pytest.approx(stats.sem(differences))
        assert corrected_error(differences, 0.25) == pytest.approx(
            np.sqrt(2.0) * stats.sem(differences)
        )

    def test_corrected_t_test_of_constant_differences(self):
        assert corrected_t_test([0.0, 0.0], 0.1) == 1.0
        assert corrected_t_test([1.0, 1.0], 0.1) == 0.0
        assert np.isnan(corrected_t_test([1.0], 0.1))

    def test_mean_ranks_share_ties(self):
        ranks, p_value = mean_ranks([[1.0, 2.0, 2.0], [3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
        assert ranks == pytest.approx([5 / 3, 5.5 / 3, 7.5 / 3])
        assert 0.0 < p_value <= 1.0

    def test_what_differs_by_less_than_records_have_digits_is_equal(self):
        nearly = 2.0 + 1e-5
        ranks, _ = mean_ranks([[nearly, 2.0, 3.0], [2.0, nearly, 1.0], [2.0, nearly, 3.0]])
        assert ranks == pytest.approx([11 / 6, 11 / 6, 7 / 3])
        assert difference(nearly, 2.0) == 0.0 and difference(2.002, 2.0) == pytest.approx(0.002)
        assert Figure("t", "r", "c", [nearly], 2.0).standing == 0

    @pytest.mark.parametrize(
        ("values", "published", "standing"),
        [
            ([9.0, 11.0], 10.0, 0),  # equal
            ([9.0, 11.0], 9.5, 1),  # half a standard error above
            ([9.0, 11.0], 8.5, 2),  # one and a half
            ([9.0, 11.0], 7.5, 3),
            ([10.0], 9.0, 3),  # no standard error to excuse it
            ([10.0], 11.0, 0),
        ],
    )
    def test_standing_of_a_figure(self, values, published, standing):
        assert Figure("t", "r", "c", values, published).standing == standing

    def test_larger_may_be_better_and_papers_have_errors_too(self):
        assert Figure("t", "r", "c", [9.0, 11.0], 8.0, larger_is_better=True).standing == 0
        far = Figure("t", "r", "c", [9.0, 11.0], 6.0, published_error=np.sqrt(3.0))
        assert far.distance == pytest.approx(2.0)


def peer_rows(method, budget, terms, errors):
    return [
        {"set": "s", "method": method, "budget": budget, "fold": k, "terms": terms, "error": e}
        for k, e in enumerate(errors)
    ]


class TestDuels:
    ours = (*peer_rows("SparseSVC", 2, 2, [0.2, 0.3]), *peer_rows("SparseSVC", 8, 8, [0.1, 0.2]))

    def duels(self, *theirs):
        return duels.duels([*self.ours, *theirs], "SparseSVC", ("Nystroem", "SVC"), (2, 8, 16))

    def test_a_peer_with_a_given_number_meets_ours_with_that_number(self):
        (one,) = self.duels(*peer_rows("Nystroem", 2, 2, [0.1, 0.2]))
        assert one.ours == pytest.approx([20.0, 30.0])
        assert one.difference == pytest.approx(10.0)
        assert not one.is_within and not one.is_within_paired  # 5 points are one standard error
        assert duels.good_sets([one]) == {"s": False}

    def test_a_peer_with_its_own_number_meets_ours_with_no_more(self):
        (one,) = self.duels(*peer_rows("SVC", None, 15, [0.1, 0.2]))
        assert one.ours == pytest.approx([10.0, 20.0])
        assert one.difference == 0.0 and one.is_within and one.is_within_paired
        assert duels.good_sets([one]) == {"s": True}

    def test_only_folds_that_both_have_count(self):
        (one,) = self.duels(*peer_rows("Nystroem", 8, 8, [0.1, 0.1, 0.9]))
        assert len(one.ours) == len(one.theirs) == 2

    def test_within_one_standard_error_of_the_peer(self):
        (one,) = self.duels(*peer_rows("Nystroem", 8, 8, [0.05, 0.15]))
        assert one.difference == pytest.approx(5.0)
        assert one.is_within and not one.is_within_paired  # the same 5 points on every fold
        assert "| Nystroem | 8 | 1 | 0 | 1 | 0 |" in duels.duel_table(
            [one], "SparseSVC", ("Nystroem",), "terms"
        )


def test_means_at_equal_numbers_are_of_the_sets_and_folds_that_all_have():
    rows = [
        {"set": name, "method": method, "budget": 4, "fold": fold, "error": 0.1 * (place + fold)}
        for name in ("banana", "thyroid", "sonar")
        for place, method in enumerate(peers.TOLD)
        for fold in range(1 if method == "RS" else 3)
        if (name, method) != ("sonar", "MRS")
    ]
    rows += [{**row, "budget": 8, "error": 0.9} for row in rows if row["method"] == "SparseSVC"]
    errors = peers.errors_at(rows, 4)
    assert list(errors) == list(peers.TOLD)
    for place, found in enumerate(errors.values()):  # in %, of the first fold of two sets
        np.testing.assert_allclose(found, [10.0 * place] * 2)
    assert peers.errors_at(rows, 8) == {}
    header, _, line = peers.equal_table(rows).splitlines()[2:]
    assert header.startswith("| terms | sets | SparseSVC | SLMC |")
    assert line.startswith("| 4 | 2 | 0.0 (1.0) | 10.0 (2.0) | 20.0 (3.0) |")
