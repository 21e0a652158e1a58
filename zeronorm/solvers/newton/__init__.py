"""A penalty and a loss of the slacks, by Newton steps: one loop, six problems.

A module is called by its loss and its penalty. In all of them the intercept has no penalty.

====================== ============================== ==============================================
module                 loss, penalty                  who uses it
====================== ============================== ==============================================
`hinge_ridge`          hinge, ridge; to a duality gap rounds of ZeroNormSVC (A) and of AROM with the
                                                      hinge; learned vectors, at their end
`rounded_hinge`        hinge rounded off, ridge       learned vectors, while they move
`squared_hinge_ridge`  squared hinge, ridge; to a gap rounds of AROM with squared slacks,
                                                      R2W2Selector
`probit_ridge`         probit, ridge; to a bound      rounds of SparseProbitClassifier
`hinge_lasso`          hinge, one-norm + quadratic    SparsityControlledSVC
                       form; to a duality gap
`smooth_hinge_lasso`   Kim's smooth hinge, one-norm;  IRWLSClassifier, with the criteria of `gcv`
                       along a path of penalties
====================== ============================== ==============================================

What they share: `descent` (the loop, what a problem must say, and how far a step goes),
`ridge_descent` (the steps of `hinge_ridge` and `rounded_hinge`).
"""
