"""Error against the number of terms, as SparseSVC finds it inside the training data.

    python examples/plot_path.py [picture.png]

Left the path, with the size that was kept; right the model itself: its few vectors, and the line
that it draws between the classes.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from zeronorm import SparseSVC, SparsityPathDisplay

X, y = make_moons(400, noise=0.25, random_state=0)
model = SparseSVC(random_state=0).fit(X, y)
svc = SVC(C=model.C_, gamma=model.gamma_).fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
SparsityPathDisplay.from_estimator(model).plot(ax=left)

low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
across, up = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
grid = np.column_stack([across.ravel(), up.ravel()])
for one, style in ((model, "-"), (svc, ":")):
    right.contour(
        across, up, one.decision_function(grid).reshape(across.shape), [0], linestyles=style
    )
right.scatter(*X.T, c=np.where(y, "C1", "C0"), s=8, alpha=0.5)
right.scatter(*model.support_vectors_.T, marker="*", s=220, color="k")
right.set_title(f"SparseSVC, {model.n_terms_} terms (SVC, dotted: {len(svc.support_)})")

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=100)
else:
    plt.show()
