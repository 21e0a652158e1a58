"""The smoothed hinge and its relatives, by Newton steps."""
