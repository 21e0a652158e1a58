"""
A density with a handful of kernels
===================================

scikit-learn's ``KernelDensity`` keeps every row. :class:`~zeronorm.SparseKernelDensity` keeps a
few, with weights, and is about as likely on new rows.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from zeronorm import SparseKernelDensity
from zeronorm.datasets import make_ripley

X, _ = make_ripley(250, random_state=0)
X_new, _ = make_ripley(5000, random_state=1)
widths = {"bandwidth": np.geomspace(0.02, 0.5, 25)}
full = GridSearchCV(KernelDensity(), widths).fit(X).best_estimator_
sparse = SparseKernelDensity().fit(X)

# %%
# Log-densities; the circles are the kernels that are left, by their weights.
low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
across, up = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
grid = np.column_stack([across.ravel(), up.ravel()])

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for ax, density, n_kernels in zip(axes, (full, sparse), (len(X), sparse.n_terms_), strict=True):
    values = density.score_samples(grid).reshape(across.shape)
    ax.contourf(across, up, values, np.linspace(-5, 0.5, 12), cmap="Blues", extend="both")
    ax.scatter(*X.T, s=6, color="0.35", linewidths=0)
    mean = density.score(X_new) / len(X_new)
    ax.set_title(f"{type(density).__name__}: {n_kernels} kernels, {mean:.3f} a new row")
    ax.set(xticks=[], yticks=[])
circles = {"facecolors": "none", "edgecolors": "#d9822b", "linewidths": 1.6}
axes[1].scatter(*sparse.support_vectors_.T, s=900 * sparse.weights_, **circles)
plt.show()
