"""A differential sweep: every classifier against SVC on small problems that nobody has chosen."""
