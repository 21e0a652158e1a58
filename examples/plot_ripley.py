"""After figure 3 of Huang et al. (2010): a hundred support vectors, or two or three terms.

Usage: python examples/plot_ripley.py [PICTURE.png]
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from zeronorm import KernelExpansion, ZeroNormSVC
from zeronorm.datasets import make_ripley


def draw(ax, expansion, X, y, title):
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    across, up = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
    values = expansion.decision_function(np.column_stack([across.ravel(), up.ravel()]))
    values = values.reshape(across.shape)
    ax.contourf(across, up, values, levels=[-1e9, 0, 1e9], colors=["#dbe9f6", "#fde0c5"])
    ax.contour(across, up, values, levels=[-1, 0, 1], colors="0.3", linestyles=["--", "-", "--"])
    for label, colour in ((-1, "#2b6ca3"), (1, "#d9822b")):
        ax.scatter(*X[y == label].T, s=9, color=colour, linewidths=0)
    ax.scatter(*expansion.vectors.T, s=60, facecolors="none", edgecolors="black", linewidths=1.2)
    ax.set(title=f"{title}: {expansion.n_terms} terms", xticks=[], yticks=[])


def main(path):
    X, y = make_ripley(250, random_state=0)
    parameters = {"C": 1.0, "gamma": 2.0}
    models = {"SVC": KernelExpansion.from_svc(SVC(**parameters).fit(X, y))}
    for variant in ("A", "B"):
        fitted = ZeroNormSVC(variant, **parameters).fit(X, y)
        models[f"ZeroNormSVC, {variant}"] = fitted.expansion_
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for ax, (title, expansion) in zip(axes, models.items(), strict=True):
        draw(ax, expansion, X, y, title)
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "ripley.png")
