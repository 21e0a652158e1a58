"""
Why this decision?
==================

Every decision of a kernel expansion can be split exactly among the columns, and among the terms.
The parts add up to the decision value; nothing is sampled.
"""

# %%
# A pipeline on a data frame. Everything below is in the units of the raw columns: the scaler is
# undone.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zeronorm import SparseSVC
from zeronorm.report import ContributionsDisplay, describe, explain

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), SparseSVC(4, max_features=5, random_state=0))
model.fit(X_train, y_train)

# %%
# What the model has learned.
print(describe(model, X_train))

# %%
# Why it says what it says about one tumour.
row = X_test.iloc[0]
print(explain(model, row, X_train))

# %%
# The same as a picture: from the typical row to this one, column by column.
ContributionsDisplay.from_estimator(model, row, X_train).plot()
plt.show()
