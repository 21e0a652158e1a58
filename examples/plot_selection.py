"""
Which features, and how sure?
=============================

Six of a hundred features are of use, and two of them are enough. Which does
:class:`~zeronorm.AROMSelector` find, and would it find them again on other rows?
"""

# %%
# The error with each number of features; the selection is made anew in every fold.
import matplotlib.pyplot as plt

from zeronorm import AROMSelector, CorrelationSelector
from zeronorm.datasets import make_weston_toy
from zeronorm.feature_selection import StabilityDisplay

X, y = make_weston_toy(60, random_state=0)

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for selector in AROMSelector("auto"), CorrelationSelector("auto"):
    results = selector.fit(X, y).cv_results_
    sizes, error = results["n_features"], 100 * (1 - results["mean_test_accuracy"])
    spread = 100 * results["standard_error"]
    ax.plot(sizes, error, "o-", label=f"{type(selector).__name__} (chooses {selector.n_features_})")
    ax.fill_between(sizes, error - spread, error + spread, alpha=0.15, lw=0)
ax.set_xscale("log")
ax.set_xticks([1, 2, 5, 10, 20, 50, 100], [1, 2, 5, 10, 20, 50, 100])
ax.minorticks_off()
ax.set(xlabel="features", ylabel="cross-validated error in %", ylim=(0, None))
ax.legend(frameon=False)
plt.show()

# %%
# How often each feature is selected on resampled rows. Those called x1 to x6 are of use.
StabilityDisplay.from_estimator(AROMSelector(2), X, y, max_features=10, random_state=0)
plt.show()
