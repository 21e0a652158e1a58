"""What users rely on: parameters with their defaults, fitted attributes and methods, as in 0.1.

A change here is a change of the public interface, and belongs into the CHANGELOG.
"""

import inspect
import warnings

import pytest
from sklearn.base import BaseEstimator
from sklearn.svm import SVC, SVR, OneClassSVM

import zeronorm
from tests.data import moons
from zeronorm.kernels import Kernel

#: Parameters (the first without names), fitted attributes, methods of its own.
ESTIMATORS = {
    "AROMClassifier": (
        (
            "n_features_to_select=None, norm='l2', *, C=1.0, cv=5, degree=2, kernel='linear', "
            "max_iter=100, multi_class='ovr', n_jobs=None, slack_norm='auto', tol=0.0001"
        ),
        ("classes_ coef_ history_ intercept_ n_features_in_ n_iter_ n_terms_ polynomial_ support_"),
        "decision_function explain fit predict score set_fit_request set_score_request",
    ),
    "AROMSelector": (
        (
            "n_features_to_select=None, norm='l2', *, C=1.0, cv=5, max_iter=100, "
            "multi_class='ovr', n_jobs=None, slack_norm='auto', task='auto', tol=0.0001"
        ),
        "classes_ history_ n_features_ n_features_in_ n_iter_ ranking_ scaling_ support_",
        (
            "fit fit_transform get_feature_names_out get_support inverse_transform set_output "
            "transform"
        ),
    ),
    "CorrelationSelector": (
        "n_features_to_select=None, *, C=1.0, cv=5, n_jobs=None",
        "classes_ history_ n_features_ n_features_in_ n_iter_ ranking_ scaling_ support_",
        (
            "fit fit_transform get_feature_names_out get_support inverse_transform set_output "
            "transform"
        ),
    ),
    "CrossEntropySVC": (
        (
            "*, C=1.0, adaptive=False, candidates='auto', class_weight=None, coef0=0.0, degree=3, "
            "elite_share=0.03, gamma='scale', kernel='rbf', max_iter=100, n_jobs=None, "
            "patience=3, polish=True, random_state=None, sample_size='auto', signs='label', "
            "smoothing=0.7, tol=0.0001, verbose=0"
        ),
        (
            "classes_ dual_coef_ expansion_ history_ intercept_ n_candidates_ n_features_in_ "
            "n_iter_ n_terms_ objective_ support_ support_vectors_"
        ),
        "decision_function fit predict score set_fit_request set_score_request",
    ),
    "FSVSelector": (
        "n_features_to_select=None, *, C=1.0, alpha=5.0, cv=5, max_iter=50, n_jobs=None",
        "classes_ history_ n_features_ n_features_in_ n_iter_ ranking_ scaling_ support_",
        (
            "fit fit_transform get_feature_names_out get_support inverse_transform set_output "
            "transform"
        ),
    ),
    "IRWLSClassifier": (
        (
            "lam=1.0, *, candidates='auto', class_weight=None, coef0=0.0, criterion='loo', "
            "degree=3, delta=0.0001, gamma='scale', kernel='rbf', max_iter=100, "
            "random_state=None, tol=0.0001"
        ),
        (
            "classes_ dual_coef_ expansion_ gcv_path_ history_ intercept_ lam_ n_features_in_ "
            "n_iter_ n_terms_ objective_ support_ support_vectors_"
        ),
        "decision_function fit predict score set_fit_request set_score_request",
    ),
    "LinearProgrammingSVC": (
        (
            "*, C=1.0, candidates='auto', class_weight=None, coef0=0.0, degree=3, gamma='scale', "
            "kernel='rbf', random_state=None, tol=0.0001"
        ),
        (
            "classes_ dual_coef_ expansion_ history_ intercept_ n_features_in_ n_iter_ n_terms_ "
            "objective_ support_ support_vectors_"
        ),
        "decision_function fit predict score set_fit_request set_score_request",
    ),
    "OneClassReducer": (
        (
            "estimator=None, *, device=None, max_error=None, max_iter=200, method='reduced_set', "
            "n_jobs=None, n_terms=None, random_state=None, tol=0.0001"
        ),
        (
            "changed_ dual_coef_ estimator_ expansion_ history_ intercept_ n_features_in_ n_iter_ "
            "n_terms_ offset_ support_vectors_"
        ),
        "decision_function fit fit_predict predict score_samples",
    ),
    "OneNormSVC": (
        (
            "*, C=1.0, candidates='auto', class_weight=None, coef0=0.0, degree=3, gamma='scale', "
            "kernel='rbf', random_state=None, tol=0.0001"
        ),
        (
            "classes_ dual_coef_ expansion_ history_ intercept_ n_features_in_ n_iter_ n_terms_ "
            "objective_ support_ support_vectors_"
        ),
        "decision_function fit predict score set_fit_request set_score_request",
    ),
    "R2W2Selector": (
        "n_features_to_select=None, *, C=1.0, cv=5, max_iter=100, n_jobs=None, tol=0.0001",
        "classes_ history_ n_features_ n_features_in_ n_iter_ ranking_ scaling_ support_",
        (
            "fit fit_transform get_feature_names_out get_support inverse_transform set_output "
            "transform"
        ),
    ),
    "ReducedSVC": (
        (
            "n_terms=10, modified=True, *, C=1.0, class_weight=None, coef0=0.0, degree=3, "
            "gamma='scale', kernel='rbf', random_state=None, tol=0.0001"
        ),
        (
            "classes_ dual_coef_ expansion_ history_ intercept_ n_features_in_ n_iter_ n_terms_ "
            "objective_ support_ support_vectors_"
        ),
        "decision_function fit predict score set_fit_request set_score_request",
    ),
    "RelevanceVectorClassifier": (
        (
            "*, candidates='auto', class_weight=None, coef0=0.0, degree=3, gamma='scale', "
            "kernel='rbf', max_iter=500, random_state=None, tol=0.001"
        ),
        (
            "classes_ dual_coef_ expansion_ history_ intercept_ intercept_precision_ "
            "log_marginal_likelihood_ n_features_in_ n_iter_ n_terms_ objective_ prior_precision_ "
            "support_ support_vectors_"
        ),
        (
            "decision_function fit predict predict_log_proba predict_proba score set_fit_request "
            "set_score_request"
        ),
    ),
    "RelevanceVectorRegressor": (
        (
            "*, candidates='auto', coef0=0.0, degree=3, gamma='scale', kernel='rbf', max_iter=500, "
            "noise_variance='auto', random_state=None, tol=0.001"
        ),
        (
            "dual_coef_ expansion_ history_ intercept_ intercept_precision_ "
            "log_marginal_likelihood_ n_features_in_ n_iter_ n_terms_ noise_variance_ objective_ "
            "prior_precision_ support_ support_vectors_"
        ),
        "fit predict score set_fit_request set_predict_request set_score_request",
    ),
    "SVCReducer": (
        (
            "estimator=None, *, device=None, max_error=None, max_iter=200, method='reduced_set', "
            "n_jobs=None, n_terms=None, random_state=None, tol=0.0001"
        ),
        (
            "changed_ classes_ decision_rule_ dual_coef_ estimator_ expansion_ history_ "
            "intercept_ n_features_in_ n_iter_ n_terms_ support_vectors_"
        ),
        "decision_function fit predict score set_fit_request set_score_request",
    ),
    "SVRReducer": (
        (
            "estimator=None, *, device=None, max_error=None, max_iter=200, method='reduced_set', "
            "n_jobs=None, n_terms=None, random_state=None, tol=0.0001"
        ),
        (
            "changed_ dual_coef_ estimator_ expansion_ history_ intercept_ n_features_in_ n_iter_ "
            "n_terms_ support_vectors_"
        ),
        "fit predict score",
    ),
    "SparseKernelDensity": (
        (
            "*, C=2.0, bandwidth='cv', candidates='auto', max_iter=200, random_state=None, "
            "tol=0.0001"
        ),
        (
            "bandwidth_ history_ n_features_in_ n_iter_ n_terms_ objective_ support_ "
            "support_vectors_ weights_"
        ),
        "fit sample score score_samples set_fit_request",
    ),
    "SparseKernelFisher": (
        (
            "n_terms=10, *, C=10.0, class_weight=None, coef0=0.0, degree=3, gamma='scale', "
            "kernel='rbf', max_iter=200, random_state=None, tol=0.0001"
        ),
        (
            "classes_ dual_coef_ expansion_ explained_variance_ratio_ history_ intercept_ "
            "n_features_in_ n_iter_ n_terms_ objective_ scalings_ support_vectors_ xbar_"
        ),
        (
            "decision_function fit fit_transform get_feature_names_out predict score set_output "
            "transform"
        ),
    ),
    "SparseKernelPCA": (
        (
            "n_components=2, n_terms='auto', *, coef0=0.0, degree=3, gamma='scale', kernel='rbf', "
            "max_iter=200, random_state=None, tol=0.0001"
        ),
        (
            "dual_coef_ eigenvalues_ error_ expansion_ history_ intercept_ n_features_in_ n_iter_ "
            "n_terms_ objective_ support_vectors_"
        ),
        "fit fit_transform get_feature_names_out inverse_transform set_output transform",
    ),
    "SparseLargeMarginClassifier": (
        (
            "n_terms=10, *, C=1.0, class_weight=None, coef0=0.0, degree=3, gamma='scale', "
            "init='greedy', kernel='rbf', learn_gamma=False, max_iter=50, n_init=1, "
            "random_state=None, tol=0.0001"
        ),
        (
            "classes_ dual_coef_ expansion_ history_ intercept_ metric_ n_features_in_ n_iter_ "
            "n_terms_ objective_ support_vectors_"
        ),
        "decision_function fit predict score set_fit_request set_score_request",
    ),
    "SparseOneClassSVM": (
        (
            "nu=0.5, n_terms='auto', *, coef0=0.0, degree=3, gamma='scale', kernel='rbf', "
            "max_iter=200, random_state=None, tol=0.0001"
        ),
        (
            "dual_coef_ expansion_ history_ intercept_ n_features_in_ n_iter_ n_terms_ objective_ "
            "offset_ support_vectors_"
        ),
        "decision_function fit fit_predict predict score_samples",
    ),
    "SparseProbitClassifier": (
        (
            "*, candidates='auto', class_weight=None, coef0=0.0, degree=3, gamma='scale', "
            "kernel='rbf', max_iter=100, random_state=None, tol=0.0001"
        ),
        (
            "classes_ dual_coef_ expansion_ history_ intercept_ n_features_in_ n_iter_ n_terms_ "
            "objective_ support_ support_vectors_"
        ),
        (
            "decision_function fit predict predict_log_proba predict_proba score set_fit_request "
            "set_score_request"
        ),
    ),
    "SparseSVC": (
        (
            "n_terms='auto', *, C='cv', class_weight=None, coef0=0.0, cv=5, degree=3, device=None, "
            "gamma='cv', kernel='rbf', linear='auto', max_features=None, max_iter=200, "
            "metric='auto', multi_class='auto', n_init=2, n_jobs=None, random_state=None, "
            "rule='loss', scoring=None, tol=0.0001, vectors='free', verbose=0"
        ),
        (
            "C_ calibration_ classes_ dual_coef_ expansion_ gamma_ history_ intercept_ "
            "multi_class_ n_features_in_ n_features_used_ n_iter_ n_terms_ objective_ path_ "
            "support_vectors_"
        ),
        "decision_function fit predict score set_fit_request set_score_request",
    ),
    "SparseSVR": (
        (
            "n_terms='auto', *, C='cv', coef0=0.0, cv=5, degree=3, device=None, epsilon='cv', "
            "extrapolation=0.1, gamma='cv', kernel='rbf', linear='auto', "
            "loss='epsilon_insensitive', max_features=None, max_iter=200, metric='auto', n_init=2, "
            "n_jobs=None, random_state=None, rule='loss', scoring=None, tol=0.0001, "
            "vectors='free', verbose=0"
        ),
        (
            "C_ dual_coef_ epsilon_ expansion_ gamma_ history_ intercept_ limits_ n_features_in_ "
            "n_features_used_ n_iter_ n_terms_ objective_ path_ residuals_ support_vectors_"
        ),
        "fit predict score set_fit_request set_predict_request set_score_request",
    ),
    "SparsityControlledSVC": (
        (
            "*, C=1.0, candidates='auto', class_weight=None, coef0=0.0, degree=3, gamma='scale', "
            "kernel='rbf', lam=1.0, max_iter=2000, random_state=None, tol=0.0001"
        ),
        (
            "classes_ dual_coef_ expansion_ history_ intercept_ n_features_in_ n_iter_ n_terms_ "
            "objective_ support_ support_vectors_"
        ),
        "decision_function fit predict score set_fit_request set_score_request",
    ),
    "ZeroNormQuantizer": (
        "radius=None, n_vectors=None, *, max_iter=50, n_init=10, random_state=None",
        (
            "cluster_centers_ cluster_centers_indices_ labels_ lower_bound_ n_features_in_ "
            "n_iter_ radius_"
        ),
        "fit fit_predict fit_transform get_feature_names_out predict set_output transform",
    ),
    "ZeroNormSVC": (
        (
            "variant='A', p=0.0, *, C=1.0, candidates='auto', class_weight=None, coef0=0.0, "
            "degree=3, gamma='scale', kernel='rbf', max_iter=50, random_state=None, "
            "rkhs_weight=0.0, tol=0.0001"
        ),
        (
            "classes_ dual_coef_ expansion_ history_ intercept_ n_features_in_ n_iter_ n_terms_ "
            "objective_ support_ support_vectors_"
        ),
        "decision_function fit predict score set_fit_request set_score_request",
    ),
    "ZeroNormSVR": (
        (
            "variant='A', p=0.0, *, C=1.0, candidates='auto', coef0=0.0, degree=3, epsilon=0.1, "
            "gamma='scale', kernel='rbf', max_iter=50, random_state=None, tol=0.0001"
        ),
        (
            "dual_coef_ expansion_ history_ intercept_ n_features_in_ n_iter_ n_terms_ objective_ "
            "support_ support_vectors_"
        ),
        "fit predict score set_fit_request set_score_request",
    ),
}

#: Settings that make a fit quick, or show an attribute that is not always there.
LIGHT = {
    "CrossEntropySVC": {"sample_size": 20, "max_iter": 3},
    "OneClassReducer": {"estimator": OneClassSVM(), "n_terms": 3},
    "SVCReducer": {"estimator": SVC(), "n_terms": 3},
    "SVRReducer": {"estimator": SVR(), "n_terms": 3},
    "SparseLargeMarginClassifier": {"learn_gamma": "metric"},
    "SparseSVC": {"C": [1.0, 10.0], "cv": 2, "max_iter": 5, "n_init": 1},
    "SparseSVR": {"C": [1.0, 10.0], "cv": 2, "max_iter": 5, "n_init": 1},
}


def signature_of(estimator):
    parameters = inspect.signature(estimator).parameters.values()
    first = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    named = sorted((p for p in parameters if p not in first), key=lambda p: p.name)
    words = [f"{p.name}={p.default!r}" for p in first] + ["*"] * bool(named)
    return ", ".join(words + [f"{p.name}={p.default!r}" for p in named])


def test_every_estimator_is_listed():
    found = {
        name
        for name in zeronorm.__all__
        if isinstance(thing := getattr(zeronorm, name), type) and issubclass(thing, BaseEstimator)
    }
    assert found == ESTIMATORS.keys()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_attributes_and_methods_are_what_they_were(name):
    parameters, attributes, methods = ESTIMATORS[name]
    estimator = getattr(zeronorm, name)
    assert signature_of(estimator) == parameters
    inherited = dir(BaseEstimator)
    own = [m for m in dir(estimator) if not m.startswith("_") and m not in inherited]
    assert {m for m in own if callable(getattr(estimator, m))} >= set(methods.split())
    model = estimator(**LIGHT.get(name, {}))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*moons(60))
    fitted = {a for a in vars(model) if a.endswith("_") and not a.startswith("_")}
    assert fitted >= set(attributes.split())


def test_the_expansion_and_its_kernel_are_what_they_were():
    found = str(inspect.signature(zeronorm.KernelExpansion)).replace("'", "")
    assert found == (
        "(vectors: Any, coef: Any, intercept: Any, kernel: Kernel, *, "
        "vote_classes: int | None = None, pair_scores: str = votes, linear: Any = None) -> None"
    )
    expansion = zeronorm.KernelExpansion([[0.0, 1.0]], [1.0], 0.0, Kernel("rbf"), linear=[1.0, 2.0])
    for name in (
        "vectors coef intercept kernel vote_classes linear n_terms n_outputs n_features n_products "
        "kernel_name decision_function outputs outputs_from scores kernel_values prune merge "
        "with_terms to_dict from_dict save load from_estimator from_svc"
    ).split():
        assert hasattr(expansion, name)
    names = ["name", "gamma", "degree", "coef0", "function", "metric"]
    assert list(inspect.signature(Kernel).parameters) == names
    for name in (
        "matrix prepare diagonal gradient derivatives log_width_gradient width_derivatives "
        "with_gamma with_metric to_dict from_dict from_params"
    ).split():
        assert hasattr(Kernel, name)


def test_exporters_are_what_they_were():
    from zeronorm import export

    signatures = {
        "register_with_skl2onnx": "",
        "to_c": (
            "model, path=None, *, name=None, precision='double', own_exp=False, arduino=False, "
            "X=None, y=None"
        ),
        "to_javascript": "model, path=None",
        "to_onnx": "model, path=None, *, dtype='float'",
        "to_sql": "model, path=None, *, table='data', dialect='standard', keep=()",
    }
    assert export.__all__ == sorted(signatures)
    for name, expected in signatures.items():
        parameters = inspect.signature(getattr(export, name)).parameters.values()
        kinds = {parameter.kind for parameter in parameters}
        shown = [str(p.replace(annotation=p.empty)) for p in parameters]
        if inspect.Parameter.KEYWORD_ONLY in kinds:
            shown.insert(2, "*")
        assert ", ".join(shown) == expected, name


def test_reports_are_what_they_were():
    from zeronorm import report

    signatures = {
        "describe": "model, X=None, feature_names=None",
        "explain": "model, row, X=None, feature_names=None",
        "make_report": (
            "model, X, y=None, *, title=None, feature_names=None, held_out=None, how=None, "
            "comparison=(), path=None"
        ),
        "write_html": "model, X, y, path, *, title=None, feature_names=None",
    }
    displays = {"ContributionsDisplay", "SparsityPathDisplay", "TermsDisplay"}
    assert set(report.__all__) == signatures.keys() | displays
    for name, expected in signatures.items():
        shown = inspect.signature(getattr(report, name), eval_str=False)
        plain = [p.replace(annotation=p.empty) for p in shown.parameters.values()]
        found = str(inspect.Signature(plain))
        assert found == f"({expected})", name
    for name in displays:
        assert {"from_estimator", "plot"} <= set(dir(getattr(report, name)))
    with pytest.raises(AttributeError, match="has no attribute 'pictures'"):
        report.pictures  # noqa: B018
