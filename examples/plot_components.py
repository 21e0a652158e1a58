"""
Kernel components with few terms
================================

Scores of kernel PCA cost one kernel value for every training row.
:class:`~zeronorm.SparseKernelPCA` has nearly the same with a few learned vectors, and
:class:`~zeronorm.SparseKernelFisher` discriminants that know the classes.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import KernelPCA
from sklearn.preprocessing import StandardScaler

from zeronorm import SparseKernelFisher, SparseKernelPCA

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
gamma = 1 / X.shape[1]

pca = KernelPCA(2, kernel="rbf", gamma=gamma)
sparse = SparseKernelPCA(2, 8, gamma=gamma, random_state=0)
fisher = SparseKernelFisher(8, gamma=gamma, random_state=0)
scores = {
    f"KernelPCA: {len(X)} terms": pca.fit_transform(X),
    "SparseKernelPCA: 8 terms": sparse.fit_transform(X),
    "SparseKernelFisher: 8 terms": fisher.fit(X, y).transform(X),
}

# %%
# The three kinds of wine, in two components each. Signs of components mean nothing.
figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
for ax, (title, values) in zip(axes, scores.items(), strict=True):
    for kind in range(3):
        ax.scatter(*values[y == kind].T, s=14, linewidths=0)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
