"""
Make an SVC smaller
===================

An ``SVC`` on two interleaved moons keeps all rows near the boundary as support vectors.
:class:`~zeronorm.SVCReducer` finds a few new vectors that leave its function nearly as it is, and
needs no data for that; :class:`~zeronorm.SparseSVC` learns its vectors from the rows.
"""

# %%
# Three models of the same rows. The ``FrozenEstimator`` says that the ``SVC`` is fitted already.
import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from zeronorm import SparseSVC, SVCReducer
from zeronorm.report import TermsDisplay

X, y = make_moons(400, noise=0.25, random_state=0)
X_new, y_new = make_moons(2000, noise=0.25, random_state=1)

svc = SVC(gamma=1.0).fit(X, y)
reduced = SVCReducer(FrozenEstimator(svc), n_terms=8).fit()
learned = SparseSVC(random_state=0).fit(X, y)

# %%
# The stars are the terms: the larger, the more weight. Rows of both classes are dots.
figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
for ax, model in zip(axes, (svc, reduced, learned), strict=True):
    display = TermsDisplay.from_estimator(model, X, y).plot(ax)
    error = 100 * (1 - model.score(X_new, y_new))
    name = type(model).__name__
    ax.set_title(f"{name}: {len(display.terms)} terms, error {error:.1f} %")
plt.show()

# %%
# The share of the decisions on the support vectors that is another one now; ``history_`` has that
# of every size that was tried.
print(f"{reduced.changed_:.3f}")
