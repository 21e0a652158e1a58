"""What estimators share: validation, labels, weights, candidates, sampling, progress."""
