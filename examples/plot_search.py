"""
A search over sets of rows
==========================

:class:`~zeronorm.CrossEntropySVC` minimises the number of terms plus C Σ hinge itself: it draws
sets of rows at random, judges each by a linear program, and draws more like the best.
"""

# %%
# It starts from the support vectors of :class:`~zeronorm.OneNormSVC`.
import matplotlib.pyplot as plt
from sklearn.svm import SVC

from zeronorm import CrossEntropySVC, OneNormSVC
from zeronorm.datasets import make_ripley
from zeronorm.report import TermsDisplay

X, y = make_ripley(250, random_state=0)
search = CrossEntropySVC(C=1.0, gamma=8.0, random_state=0).fit(X, y)

figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
models = SVC(C=1.0, gamma=8.0), OneNormSVC(C=1.0, gamma=8.0), search
for ax, model in zip(axes, models, strict=True):
    fitted = model if model is search else model.fit(X, y)
    display = TermsDisplay.from_estimator(fitted, X, y).plot(ax)
    ax.set_title(f"{type(model).__name__}: {len(display.terms)} terms")
plt.show()

# %%
# How it came to them, round by round. The elite are the best sets of a round.
history = search.history_
rounds = range(1, len(history["level"]) + 1)
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(rounds, history["level"], "o-", label="level of the elite")
ax.plot(rounds, history["objective"], "s-", label="best score")
ax.plot(rounds, history["terms"], "^:", color="0.5", label="terms of the best")
ax.set(xlabel="round", ylabel="terms + C Σ hinge", ylim=(0, None))
ax.legend(frameon=False)
plt.show()
