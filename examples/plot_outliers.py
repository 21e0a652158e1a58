"""
Outliers with a few terms
=========================

:class:`~zeronorm.SparseOneClassSVM` solves the problem of ``OneClassSVM`` with a few learned
vectors. Their scores have the same scale, and nearly the same values.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import OneClassSVM

from zeronorm import SparseOneClassSVM
from zeronorm.datasets import make_ripley

X, _ = make_ripley(400, random_state=0)
full = OneClassSVM(nu=0.1, gamma=2.0).fit(X)
sparse = SparseOneClassSVM(nu=0.1, gamma=2.0, random_state=0).fit(X)

# %%
# A tenth of the rows lies outside of either line.
low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
across, up = np.meshgrid(np.linspace(low[0], high[0], 150), np.linspace(low[1], high[1], 150))
grid = np.column_stack([across.ravel(), up.ravel()])

figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for ax, model, vectors in zip(
    axes, (full, sparse), (full.support_vectors_, sparse.support_vectors_), strict=True
):
    values = model.decision_function(grid).reshape(across.shape)
    ax.contourf(across, up, values, 12, cmap="Blues")
    ax.contour(across, up, values, [0.0], colors="C1", linewidths=2)
    ax.scatter(*X.T, s=6, color="0.35", linewidths=0)
    ax.scatter(*vectors.T, marker="*", s=90, color="white", edgecolors="black", linewidths=0.6)
    ax.set(title=f"{type(model).__name__}: {len(vectors)} terms", xticks=[], yticks=[])
plt.show()
