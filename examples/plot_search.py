"""A cross-entropy search at work: the sets it ends with, and how it came to them.

Usage: python examples/plot_search.py [PICTURE.png]
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from plot_ripley import draw
from sklearn.svm import SVC

from zeronorm import CrossEntropySVC, KernelExpansion, OneNormSVC
from zeronorm.datasets import make_ripley


def draw_history(ax, history):
    rounds = range(1, len(history["level"]) + 1)
    ax.plot(rounds, history["level"], "o-", color="#2b6ca3", label="level of the elite")
    ax.plot(rounds, history["objective"], "s-", color="#d9822b", label="best score")
    ax.set(title="the search", xlabel="round", ylabel="terms + C Σ hinge", xticks=rounds)
    terms = ax.twinx()
    terms.plot(rounds, history["terms"], "^:", color="0.5", label="terms of the best")
    terms.set_ylim(0, 1.6 * max(history["terms"]))
    terms.set_ylabel("terms")
    lines = ax.get_lines() + terms.get_lines()
    ax.legend(lines, [line.get_label() for line in lines], loc="upper right", frameon=False)


def main(path):
    X, y = make_ripley(250, random_state=0)
    parameters = {"C": 1.0, "gamma": 8.0}
    search = CrossEntropySVC(random_state=0, **parameters).fit(X, y)
    models = {
        "SVC": KernelExpansion.from_svc(SVC(**parameters).fit(X, y)),
        "OneNormSVC": OneNormSVC(**parameters).fit(X, y).expansion_,
        "CrossEntropySVC": search.expansion_,
    }
    figure, axes = plt.subplots(1, 4, figsize=(16, 4), layout="constrained")
    for ax, (title, expansion) in zip(axes, models.items(), strict=False):
        draw(ax, expansion, X, y, title)
    draw_history(axes[3], search.history_)
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "search.png")
