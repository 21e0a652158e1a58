"""
Regression with intervals
=========================

:class:`~zeronorm.SparseSVR` finds a curve with a handful of terms, does not mind outliers, and says
how wide 90 % of new values spread, from rows that were held out of its choice.
"""

# %%
# A damped wave whose noise grows, with a few gross errors.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVR

from zeronorm import SparseSVR

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 300))
y = np.exp(-0.15 * x) * np.sin(1.5 * x) + 0.1 * rng.standard_normal(300)
y[rng.choice(300, 10, replace=False)] += 2.0
X = x[:, None]

model = SparseSVR(random_state=0).fit(X, y)
svr = SVR(C=10.0).fit(X, y)

# %%
grid = np.linspace(0, 10, 400)[:, None]
values, interval = model.predict(grid, return_interval=0.9)
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
ax.scatter(x, y, s=9, color="0.5", linewidths=0, label="rows")
ax.plot(grid, svr.predict(grid), "C2:", label=f"SVR, {len(svr.support_)} terms")
ax.plot(grid, values, "C0", label=f"SparseSVR, {model.n_terms_} terms")
ax.fill_between(grid[:, 0], *interval.T, color="C0", alpha=0.15, lw=0, label="90 % of new rows")
ax.set(xlabel="x", ylabel="y")
ax.legend(frameon=False)
plt.show()

# %%
# With :class:`~zeronorm.RelevanceVectorRegressor` the noise is learned as well, and there is
# neither C nor epsilon; it assumes that errors are normal, which these are not.
