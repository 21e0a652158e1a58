"""
How many terms?
===============

:class:`~zeronorm.SparseSVC` measures the error of every size inside the training data and keeps the
smallest that is not clearly worse than the best. The path says what more terms would have gained.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from zeronorm import SparseSVC, SparsityPathDisplay
from zeronorm.report import TermsDisplay

X, y = make_moons(400, noise=0.25, random_state=0)
model = SparseSVC(random_state=0).fit(X, y)
model

# %%
# Left the path, with the size that was kept; right the model itself.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
SparsityPathDisplay.from_estimator(model).plot(left)
TermsDisplay.from_estimator(model, X, y).plot(right)
plt.show()
