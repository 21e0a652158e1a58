"""The sparse probit classifier (SPC): an adaptive prior without parameters.

Figueiredo (2002, 2003). P(y = 1 | x) = N(f(x)), the normal distribution function of
f(x) = Σ α_j k(x_j, x) + b. Each α_j is normal with a variance τ_j of its own, and τ_j has
Jeffreys' prior 1/τ_j; with τ integrated out the most probable α minimises

    - Σ c_i log N(y_i f_i) + Σ log|α_j|.

Figueiredo's EM algorithm takes the latent normal variables and the τ as missing: E-step
Λ = diag(1/α_j²) and the latent means, M-step one ridge problem with Λ. In the E-step for τ alone
the M-step is the whole weighted problem - Σ c_i log N(y_i f_i) + ½ αᵀΛα, which is the reweighting
of Huang et al. (2010), (9), with the probit loss in place of the hinge: the same fixed points, far
fewer rounds. It is solved by Newton steps (``solvers/newton/probit_ridge.py``), smoothed at the
size at which a term counts as zero (``solvers/reweighting``). The intercept has a flat prior.

The prior has its largest value where there are no terms, and EM goes where its start leads it.
Figueiredo starts from a ridge solution; with many candidates, each of which carries little, that
still ends at nothing on many small sets. Here the prior is annealed: from a weak ridge to the prior
as it is, but at a tenth of its strength, then to its full strength.

Of several classes each is learned against the rest, with terms of its own.
"""

from __future__ import annotations

from typing import Any

from zeronorm.base.outputs import join_reweighted
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import ChosenTerms, TrainingProblem
from zeronorm.classifiers.probabilistic import ProbabilisticClassifier
from zeronorm.solvers.losses import Probit
from zeronorm.solvers.newton.probit_ridge import ProbitRidge
from zeronorm.solvers.reweighting.loop import Penalty, reweight


@with_parameters
class SparseProbitClassifier(ProbabilisticClassifier):
    """Sparse probit classifier: few kernel terms, probabilities, and no C to tune.

    A probit model whose coefficients have Jeffreys' prior: most of them become exactly zero.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel function, as in :class:`~sklearn.svm.SVC`.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf", "poly" and "sigmoid", as in :class:`~sklearn.svm.SVC`.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    candidates : {"auto", "all"} or int, default="auto"
        Which training rows may become terms. "all" builds the kernel matrix of all rows; an
        integer draws that many rows, classes in proportion ("landmarks"), so that memory and
        time grow with n and not with n²; "auto" is "all" up to 300 rows and 300 landmarks
        beyond. Equal rows count once.
    class_weight : dict or "balanced", optional
        Factor of the rows' weights for each class.
    tol : float, default=1e-4
        Stop when the coefficients change by less than this, relatively, and the last weighted
        problem is solved to this relative gap.
    max_iter : int, default=100
        Most rounds of reweighting.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks, where there are any.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    expansion_ : KernelExpansion
        The learned function.
    n_terms_ : int
        Number of kernel terms.
    support_ : ndarray of shape (n_terms,)
        Indices of the training rows that became terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        These rows.
    dual_coef_ : ndarray of shape (n_outputs, n_terms)
        Coefficients, with plain signs: positive favours the class of the output.
    intercept_ : ndarray of shape (n_outputs,)
        Constants.
    objective_ : float
        Minus the logarithm of the posterior density, up to a constant that differs between fits.
    n_iter_ : int
        Rounds of reweighting.
    history_ : dict of ndarray
        "terms", "objective", "gap" (of the weighted problem, relative) and "strength" (of the
        prior, to which the objective belongs) of every round.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    RelevanceVectorClassifier : Integrates over the coefficients instead of the variances.
    ZeroNormSVC : The same reweighting with the hinge loss.

    Notes
    -----
    With several classes each is modelled against the rest, and the probabilities are scaled to
    sum to one.

    References
    ----------
    Mário A. T. Figueiredo: Adaptive sparseness for supervised learning. IEEE Transactions on
    Pattern Analysis and Machine Intelligence 25 (2003).

    Kaizhu Huang et al.: Sparse learning for support vector classification. Pattern Recognition
    Letters 31 (2010), section 3.5.2.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import SparseProbitClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseProbitClassifier().fit(X, y)
    >>> model.n_terms_, model.score(X, y)
    (6, 0.975)
    >>> model.predict_proba([[0.4, 0.4], [1.0, -0.5]]).round(2)
    array([[0.66, 0.34],
           [0.  , 1.  ]])
    """

    candidates: Any = "auto"
    max_iter: int = 100

    _link = "probit"

    def _solve(self, problem: TrainingProblem) -> ChosenTerms:
        # The probabilities of one class against the rest need the rows as they are: no factors.
        loss = Probit(problem.cost)
        results = [
            reweight(
                ProbitRidge(problem.values, target, loss),
                Penalty(0.0, 2),
                max_rounds=self.max_iter,
                tolerance=self.tol,
                anneal=True,
            )
            for target in problem.targets.T
        ]
        return join_reweighted(
            results,
            self.tol,
            "SparseProbitClassifier",
            kind="gap",
            if_stuck="Rounding allows no further.",
        )
