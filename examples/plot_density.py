"""A kernel density with one kernel for every row, and one with a handful.

Usage: python examples/plot_density.py [PICTURE.png]
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from zeronorm import SparseKernelDensity
from zeronorm.datasets import make_ripley


def draw(ax, density, X, levels, title):
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    across, up = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
    values = density.score_samples(np.column_stack([across.ravel(), up.ravel()]))
    ax.contourf(
        across, up, values.reshape(across.shape), levels=levels, cmap="Blues", extend="both"
    )
    ax.scatter(*X.T, s=6, color="0.35", linewidths=0)
    ax.set(title=title, xticks=[], yticks=[])


def main(path):
    X, _ = make_ripley(250, random_state=0)
    fresh, _ = make_ripley(5000, random_state=1)
    widths = {"bandwidth": np.geomspace(0.02, 0.5, 25)}
    full = GridSearchCV(KernelDensity(), widths).fit(X).best_estimator_
    sparse = SparseKernelDensity().fit(X)
    levels = np.linspace(-5, 0.5, 12)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for ax, density, name, terms in (
        (axes[0], full, "KernelDensity", len(X)),
        (axes[1], sparse, "SparseKernelDensity", sparse.n_terms_),
    ):
        mean = density.score(fresh) / len(fresh)
        title = f"{name}: {terms} kernels, log-likelihood {mean:.3f} per new row"
        draw(ax, density, X, levels, title)
        ax.title.set_fontsize(10)
    axes[1].scatter(
        *sparse.support_vectors_.T,
        s=900 * sparse.weights_,
        facecolors="none",
        edgecolors="#d9822b",
        linewidths=1.6,
    )
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "density.png")
