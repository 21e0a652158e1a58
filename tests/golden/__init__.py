"""A golden record: what every estimator found on fixed problems before a change of the code."""
