"""Feature selection: the error with each number of features, and how sure the choice is.

Usage: python examples/plot_selection.py [PICTURE.png]
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from zeronorm import AROMSelector, CorrelationSelector
from zeronorm.datasets import make_weston_toy
from zeronorm.feature_selection import StabilityDisplay


def draw_errors(ax, X, y):
    for selector, name, colour in (
        (AROMSelector("auto"), "AROM", "#2f6db3"),
        (CorrelationSelector("auto"), "correlation", "#d9822b"),
    ):
        results = selector.fit(X, y).cv_results_
        sizes, error = results["n_features"], 100 * (1 - results["mean_test_accuracy"])
        spread = 100 * results["standard_error"]
        ax.plot(sizes, error, "o-", color=colour, label=f"{name} (chooses {selector.n_features_})")
        ax.fill_between(sizes, error - spread, error + spread, color=colour, alpha=0.15, lw=0)
    ax.set_xscale("log")
    ax.set_xticks([1, 2, 5, 10, 20, 50, 100], [1, 2, 5, 10, 20, 50, 100])
    ax.minorticks_off()
    ax.set(xlabel="features", ylabel="cross-validated error in %", ylim=(0, None))
    ax.set_title("selected anew in every fold, ± standard error", fontsize=10)
    ax.legend(frameon=False)


def main(path):
    X, y = make_weston_toy(60, random_state=0)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    draw_errors(axes[0], X, y)
    StabilityDisplay.from_estimator(
        AROMSelector(2), X, y, max_features=10, random_state=0, ax=axes[1]
    )
    axes[1].set_title("two features of a hundred; x1 to x6 are useful", fontsize=10)
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "selection.png")
