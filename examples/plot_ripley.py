"""
Many support vectors, or a few terms
====================================

After figure 3 of Huang et al. (2010), on Ripley's two classes: what an ``SVC`` keeps, and what
:class:`~zeronorm.ZeroNormSVC` keeps, whose terms are rows of the data too.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.svm import SVC

from zeronorm import ZeroNormSVC
from zeronorm.datasets import make_ripley
from zeronorm.report import TermsDisplay

X, y = make_ripley(250, random_state=0)
models = {
    "SVC": SVC(C=1.0, gamma=2.0),
    "ZeroNormSVC, A": ZeroNormSVC("A", C=1.0, gamma=2.0),
    "ZeroNormSVC, B": ZeroNormSVC("B", C=1.0, gamma=2.0),
}

# %%
# A solves quadratic problems with weights that change from round to round, B linear programs.
figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    display = TermsDisplay.from_estimator(model.fit(X, y), X, y).plot(ax)
    ax.set_title(f"{name}: {len(display.terms)} terms")
plt.show()
