"""What estimators share that choose everything themselves: parameters, the choice, the last fit.

A subclass names the losses to learn by (``losses.py``) and the criterion that models are compared
by (``criteria.py``); labels or targets are its base class's part.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags, check_random_state
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from zeronorm.base.machine import KernelMachine
from zeronorm.base.parameters import with_parameters
from zeronorm.base.progress import progress_bar
from zeronorm.base.training_set import Learned, TrainingRows, check_cost
from zeronorm.base.validation import check_device
from zeronorm.checks import check_choice, check_integer, check_terms, check_word, is_auto
from zeronorm.expansion_parts import n_features_used
from zeronorm.learned.choice import Choice, Effort, Search
from zeronorm.learned.constraints import VECTORS, feature_ranges
from zeronorm.learned.criteria import Criterion
from zeronorm.learned.final import fit_setting
from zeronorm.learned.holdout import BATCH_STEPS
from zeronorm.learned.learner import check_learnable
from zeronorm.learned.losses import RowLoss
from zeronorm.learned.scoring import Scoring, routed, rows_of, with_params
from zeronorm.learned.settings import C_VALUES, Setting, check_form, check_splits, settings_of
from zeronorm.model_selection import RULES, check_rule, scorer_of


@with_parameters
class LearnedMachine(KernelMachine):
    """Base of SparseSVC and SparseSVR, which document the parameters."""

    n_terms: Any = field(default="auto", kw_only=False)
    C: Any = "cv"
    gamma: Any = "cv"
    metric: Any = "auto"
    linear: Any = "auto"
    max_features: int | None = None
    vectors: str = "free"
    rule: str = "loss"
    scoring: Any = None
    cv: Any = 5
    max_iter: int = 200
    n_init: int = 2
    n_jobs: int | None = None
    device: str | None = None  # type: ignore[misc]
    verbose: int = 0

    _learns_by_blocks: ClassVar[bool] = True

    #: What ``fit`` was given for the splitter and for the scorer.
    _routed: ClassVar[Any] = ({}, {})

    #: Costs to choose from.
    _C_values: ClassVar[Sequence[float]] = C_VALUES

    #: Rows, sizes and steps of the choice.
    _effort: ClassVar[Effort] = Effort()
    #: Where nothing is to choose: whether features may go that matter little.
    _may_drop_features: ClassVar[bool] = True

    @abstractmethod
    def _answers(self, training: Any) -> Callable[..., Any]:
        """Return what makes an estimator of held-out values (``scoring.py``)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Any:
        """Choose, and fit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Class labels, two or more classes; numbers to predict of a regressor.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weight of each row; it multiplies C. Without metadata routing it goes to
            the scorer too, if there is one.
        **params : dict
            ``groups``, one for each row, for a splitter that takes them (``cv``). With
            ``sklearn.set_config(enable_metadata_routing=True)``, whatever the splitter and the
            scorer have asked for.

        Returns
        -------
        self
        """
        self._check_parameters()
        self.__dict__["_routed"] = routed(self, "fit", sample_weight=sample_weight, **params)
        try:
            return super().fit(X, y, sample_weight)
        finally:
            for name in ("_routed", "_splits", "_scoring"):
                self.__dict__.pop(name, None)

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """Return the score on these rows: of ``scoring``; else the accuracy, or R².

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The truth.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        **params : dict
            What else the scorer has asked for, with metadata routing enabled.

        Returns
        -------
        float
            The score.
        """
        scorer = scorer_of(self.scoring)
        _, own = routed(self, "score", sample_weight=sample_weight, **params)
        if scorer is None:
            return super().score(X, y, sample_weight)
        return scorer(self, X, y, **own)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what ``fit`` and ``score`` pass on to the splitter and to the scorer."""
        to_scorer = MethodMapping().add(caller="fit", callee="score")
        to_scorer = to_scorer.add(caller="score", callee="score")
        to_splitter = MethodMapping().add(caller="fit", callee="split")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=to_splitter)
            .add(scorer=scorer_of(self.scoring), method_mapping=to_scorer)
        )

    @abstractmethod
    def _losses(self) -> Sequence[RowLoss]:
        """Losses to choose from."""

    @abstractmethod
    def _criterion(self, training: TrainingRows) -> Criterion:
        """Return what models are compared by."""

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what input fits."""
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_device(self.device)
        check_integer("n_terms", self.n_terms, least=1, words=("auto",))
        check_choice("C", self.C, ("cv",))
        check_learnable(self.kernel)
        check_choice("gamma", self.gamma, ("cv", "scale", "auto"))
        check_rule(self.rule, ("loss", *RULES))
        check_form(self.kernel, self.metric, self.linear, self.max_features)
        check_word("vectors", self.vectors, *VECTORS)
        check_splits(self.cv)
        scorer_of(self.scoring)
        check_integer("n_init", self.n_init, least=1)
        check_integer("verbose", self.verbose, least=0)

    def _multi_class(self) -> str:
        """Which outputs several classes have; of numbers one for each target."""
        return "ovr"

    def _choose_outputs(self, setting: Setting) -> None:
        """Set the parameters that say what the outputs of a setting are."""

    def _unit_cost(self) -> float:
        return 1.0  # the settings multiply it

    def _chooses_terms(self) -> bool:
        return is_auto(self.n_terms)

    def _first_gamma(self) -> str:
        return "scale"  # of which the widths are multiples

    def _training_rows(self, X: Any, y: np.ndarray, sample_weight: Any) -> Any:
        training = super()._training_rows(X, y, sample_weight)
        if training.classes is not None:
            _shrink(training)
        training.ends_on_rows = self.vectors == "rows"
        if self.vectors == "inside":
            training.box = feature_ranges(training.data)
        self._prepare_choice(training, y)
        if not self._chooses_terms():
            check_terms(self.n_terms, len(training.rows))
        return training

    def _prepare_choice(self, training: TrainingRows, y: np.ndarray) -> None:
        """Cut splitter and scorer to the rows that count."""
        n_rows, scorer = len(y), scorer_of(self.scoring)
        split, score = (rows_of(params, n_rows, training.rows) for params in self._routed)
        self._splits, self._scoring = with_params(self.cv, split), None
        if scorer is not None:
            truth = y[training.rows]
            truth = truth[:, 0] if truth.ndim == 2 and truth.shape[1] == 1 else truth
            self._scoring = Scoring(scorer, self._answers(training), training.data, truth, score)

    def _learn(self, training: TrainingRows) -> Learned:
        random = check_random_state(self.random_state)
        with progress_bar(type(self).__name__, enabled=self.verbose > 0) as update:
            choice = self._choose(training, random, update)
            update(0.8, f"fitting {choice.size} terms")
            learned = fit_setting(
                training,
                choice.setting,
                choice.size,
                random,
                n_init=self.n_init,
                max_iter=self.max_iter,
                tol=self.tol,
                starts=choice.starts,
                max_features=self.max_features,
                may_drop_features=choice.may_drop_features,
                finished=choice.finished,
            )
            learned.doubt, learned.is_judged = choice.doubt, bool(choice.path)
            learned.held_out = choice.held_out
            self._choice = choice
            return learned

    def _choose(self, training: TrainingRows, random: np.random.RandomState, update: Any) -> Choice:
        """Choose among the settings by cross-validation, where there is a choice."""
        settings = settings_of(
            training,
            C=self.C,
            gamma=self.gamma,
            metric=self.metric if self.max_features is None else True,
            linear=self.linear,
            chooses_terms=self._chooses_terms(),
            losses=self._losses(),
            C_values=self._C_values,
            multi_class=self._multi_class(),
        )
        check_cost(max(setting.C for setting in settings) * training.cost)
        size = None if self._chooses_terms() else self.n_terms
        needs_batches = self._effort.holdout.needs_batches
        if size is not None and len(settings) == 1 and not needs_batches(training, size):
            n_linear = training.targets.shape[1] if settings[0].linear else 0
            kernel_terms, may_drop = max(0, size - n_linear), self._may_drop_features
            return Choice(settings[0], kernel_terms, total=size, may_drop_features=may_drop)
        is_open = size is None or len(settings) > 1
        search = Search(
            training,
            random,
            criterion=self._criterion(training),
            scoring=self._scoring if is_open else None,
            n_jobs=self.n_jobs,
            max_steps=BATCH_STEPS * self.max_iter,
            max_features=self.max_features,
            update=update,
            effort=self._effort,
        )
        choice = search.choose(settings, size, self._splits if is_open else 2, self.rule)
        if not is_open:
            return replace(choice, path={}, calibration=None)  # nothing was chosen
        return choice

    def _store_learned(self, learned: Learned) -> None:
        super()._store_learned(learned)
        self.path_ = self._choice.path
        self.C_, self.gamma_ = self._choice.setting.C, self.expansion_.kernel.gamma
        self.n_features_used_ = n_features_used(self.expansion_)
        self._store_choice(self.__dict__.pop("_choice"))

    def _store_choice(self, choice: Choice) -> None:
        """Set the fitted attributes of what else was chosen."""

    def _with_choices(self, learned: Learned) -> Any:
        setting = self._choice.setting
        again = copy.copy(self)
        again.n_terms, again.C = max(1, self._choice.total), setting.C
        # A width that was learned is learned again; one that was given stays.
        again.gamma = "cv" if setting.widths == 1 else setting.kernel.gamma
        again.metric, again.linear = setting.widths > 1, setting.linear
        again._choose_outputs(setting)
        again.n_init, again.verbose = 1, 0
        again._may_drop_features = self._choice.may_drop_features  # type: ignore[misc]
        return again


def _shrink(training: TrainingRows) -> None:
    """Keep class numbers and signs in small integers: with many short rows they take most."""
    training.codes = training.codes.astype(
        np.min_scalar_type(-2 * len(np.bincount(training.codes)))
    )
    training.targets = training.targets.astype(np.int8)
