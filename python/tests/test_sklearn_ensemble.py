"""The ensemble: trains classifiers, keeps evidence of how they answer, combines them."""

import pickle
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_selector
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import spocc
from spocc.sklearn import AdaSpoccClassifier, LadderClassifier, SpoccClassifier, SpoccEnsemble

WORDS = np.array(["low", "mid", "high"])


class FirstFeature(ClassifierMixin, BaseEstimator):
    """Predicts the class in the first column, or the next one, and records its number of training rows."""

    def __init__(self, is_wrong: bool = False) -> None:
        self.is_wrong = is_wrong

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_, self.rows_ = np.unique(y), len(y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        predictions = np.asarray(X)[:, 0].astype(int) + self.is_wrong
        decided: NDArray[Any] = self.classes_[predictions % len(self.classes_)]
        return decided


def features(n: int = 400) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = make_classification(n, n_informative=4, n_classes=3, random_state=0)
    return X, y


def members() -> list[tuple[str, Any]]:
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    return [("line", LogisticRegression(max_iter=1000)), ("tree", tree), ("bayes", GaussianNB())]


def test_held_out_rows_are_the_evidence() -> None:
    X, y = features()
    ensemble = SpoccEnsemble([("one", FirstFeature()), ("two", FirstFeature())], holdout=0.25).fit(X, y)
    assert [member.rows_ for member in ensemble.estimators_] == [300, 300]
    assert ensemble.combiner_.evidence_.n_rows == 100
    assert ensemble.model_.classifiers == ["one", "two"]


def test_folds_make_every_row_evidence_and_train_on_all() -> None:
    X, y = features()
    for cv in (4, KFold(3, shuffle=True, random_state=1)):
        ensemble = SpoccEnsemble([("one", FirstFeature())], cv=cv).fit(X, y)
        assert ensemble.estimators_[0].rows_ == 400
        assert ensemble.combiner_.evidence_.n_rows == 400


def test_prefit_classifiers_are_used_unchanged() -> None:
    X, y = features()
    fitted = [(name, member.fit(X[:200], WORDS[y[:200]])) for name, member in members()]
    ensemble = SpoccEnsemble(fitted, "naive-bayes", prefit=True).fit(X[200:], WORDS[y[200:]])
    assert ensemble.estimators_[1] is fitted[1][1]
    predictions = np.column_stack([member.predict(X[200:]) for _, member in fitted])
    expected = spocc.fit(
        predictions, WORDS[y[200:]], "naive-bayes", names=[name for name, _ in fitted], classes=np.sort(WORDS)
    )
    assert ensemble.model_ == expected
    with pytest.raises(NotFittedError):
        SpoccEnsemble(members(), prefit=True).fit(X, y)


def test_wrong_classifiers_and_copies_do_not_outvote_an_accurate_one() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = np.where(rng.random((600, 2)) < 0.9, y[:, None], rng.integers(0, 3, (600, 2)))
    panel = [
        ("accurate", FirstFeature(), [0]),
        ("wrong", FirstFeature(is_wrong=True), [1]),
        ("copy", FirstFeature(is_wrong=True), [1]),
    ]
    ensemble = SpoccEnsemble(panel, holdout=0.5).fit(X, y)
    assert ensemble.score(X, y) > 0.9
    assert SpoccEnsemble(panel, "majority", holdout=0.5).fit(X, y).score(X, y) < 0.1
    assert "adversary" in repr(ensemble.audit_)


@pytest.mark.parametrize("names", [np.arange(3), WORDS, WORDS.astype(object), np.array([1.0, 2.0, 4.0])])
def test_classes_are_those_of_y(names: NDArray[Any]) -> None:
    X, y = features()
    ensemble = SpoccEnsemble(members()).fit(X, names[y])
    assert ensemble.classes_.dtype == names.dtype
    np.testing.assert_array_equal(ensemble.classes_, np.unique(names))
    decided = ensemble.predict(X)
    assert decided.dtype == names.dtype
    assert (decided == names[y]).mean() > 0.7
    np.testing.assert_array_equal(ensemble.classes_[ensemble.predict_proba(X).argmax(axis=1)], decided)
    np.testing.assert_array_equal(ensemble.classes_[ensemble.decision_function(X).argmax(axis=1)], decided)


class LabelsOfType(FirstFeature):
    """Predicts labels of a given type."""

    def __init__(self, kind: type = str) -> None:
        self.kind = kind

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(X)[:, 0].astype(self.kind)


@pytest.mark.parametrize("kinds", [(bool, int, float), (str, bool)])
def test_a_class_is_one_label_in_any_type(kinds: tuple[type, ...]) -> None:
    X = np.array([[True], [False]] * 10)
    panel = [(kind.__name__, LabelsOfType(kind).fit(X, X[:, 0])) for kind in kinds]
    ensemble = SpoccEnsemble(panel, "majority", prefit=True).fit(X, X[:, 0])
    assert ensemble.model_.evidence is not None
    assert ensemble.model_.evidence.labels.tolist() == [False, True]
    assert ensemble.predict(X).tolist() == X[:, 0].tolist()


def test_a_number_and_its_text_are_one_label() -> None:
    X = np.array([[0], [1], [2]] * 10)
    panel = [(kind.__name__, LabelsOfType(kind).fit(X, X[:, 0])) for kind in (str, int, float)]
    ensemble = SpoccEnsemble(panel, "majority", prefit=True).fit(X, X[:, 0])
    assert ensemble.model_.evidence is not None
    assert ensemble.model_.evidence.labels.tolist() == [0, 1, 2]


def test_sparse_features_are_decided_like_dense_ones() -> None:
    X, y = features()
    panel = [("line", LogisticRegression(max_iter=1000)), ("near", KNeighborsClassifier())]
    dense = SpoccEnsemble(panel).fit(X, y)
    for form in (sparse.csr_matrix, sparse.coo_array):
        np.testing.assert_array_equal(
            SpoccEnsemble(panel).fit(form(X), y).predict(sparse.csr_array(X)), dense.predict(X)
        )


def test_every_classifier_may_use_its_own_columns() -> None:
    X, y = features()
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    panel = [
        ("two", GaussianNB(), ["f0", "f1"]),
        ("all", GaussianNB()),
        ("chosen", GaussianNB(), make_column_selector("f1.")),
    ]
    ensemble = SpoccEnsemble(panel).fit(frame, y)
    assert [member.n_features_in_ for member in ensemble.estimators_] == [2, 20, 10]
    assert list(ensemble.feature_names_in_) == list(frame.columns)
    assert ensemble.predict(frame).shape == (400,)
    numbers = SpoccEnsemble([("two", GaussianNB(), [0, 1]), ("last", GaussianNB(), slice(-3, None))]).fit(
        X, y
    )
    assert [member.n_features_in_ for member in numbers.estimators_] == [2, 3]
    with pytest.raises(ValueError, match="feature names should match"):
        ensemble.predict(frame[frame.columns[::-1]])


def test_documents_go_to_classifiers_that_read_them() -> None:
    texts = ["good film", "bad film", "good play", "bad play"] * 10
    y = ["yes", "no"] * 20
    reader = make_pipeline(CountVectorizer(), MultinomialNB())
    ensemble = SpoccEnsemble([("one", reader), ("two", clone(reader))]).fit(texts, y)
    assert list(ensemble.predict(["good", "bad"])) == ["yes", "no"]


def test_transform_gives_predictions_by_the_names_of_the_classifiers() -> None:
    X, y = features()
    ensemble = SpoccEnsemble(members()).fit(X, WORDS[y])
    predictions = ensemble.transform(X)
    np.testing.assert_array_equal(predictions[:, 1], ensemble.named_estimators_.tree.predict(X))
    frame = ensemble.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == ["line", "tree", "bayes"]
    moved: Any = ensemble.transform(pd.DataFrame(X[:3], ["b", "c", "a"]))
    assert moved.index.tolist() == ["b", "c", "a"]
    np.testing.assert_array_equal(ensemble.predict(X), ensemble.combiner_.predict(predictions))


def test_parameters_are_reached_by_name() -> None:
    X, y = features()
    panel = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(), [0, 1])]
    ensemble = SpoccEnsemble(panel, SpoccClassifier())
    assert ensemble.get_params()["tree__max_depth"] is None
    ensemble.set_params(tree__max_depth=2, method__exponent="inf", line="drop", holdout=0.3)
    assert ensemble.fit(X, y).model_.classifiers == ["tree"]
    assert (ensemble.estimators_[0].max_depth, ensemble.estimators_[0].n_features_in_) == (2, 2)
    assert ensemble.model_.fitted != SpoccEnsemble(panel[1:], "spocc", holdout=0.3).fit(X, y).model_.fitted
    assert ensemble.set_params(estimators=panel[:1]).fit(X, y).model_.classifiers == ["line"]
    assert ensemble.named_estimators.line is panel[0][1]


def test_it_works_where_scikit_learn_puts_it() -> None:
    X, y = features()
    pipeline = make_pipeline(StandardScaler(), SpoccEnsemble(members(), n_jobs=2))
    assert cross_val_score(pipeline, X, WORDS[y], cv=3).mean() > 0.6
    grid = {"method": ["ladder", "majority"], "cv": [2, 3], "tree__max_depth": [2, 4]}
    search = GridSearchCV(SpoccEnsemble(members()), grid, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 8
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    copied = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copied.predict(X), search.predict(X))


def test_predict_proba_exists_exactly_for_methods_with_probabilities() -> None:
    for method in spocc.METHODS:
        has = hasattr(SpoccEnsemble(members(), method), "predict_proba")
        assert has == spocc.fit([[0, 1], [1, 0]], [0, 1], method).has_probabilities
    assert not hasattr(SpoccEnsemble(members(), SpoccClassifier()), "predict_proba")


@pytest.mark.parametrize("how", [{"holdout": 0.5}, {"cv": 3}])
def test_weights_go_to_the_evidence_and_to_classifiers_that_support_them(how: dict[str, Any]) -> None:
    X, y = features()
    weights = np.where(y == 0, 50.0, 1.0)
    panel = [("line", LogisticRegression(max_iter=1000)), ("near", KNeighborsClassifier())]
    plain, weighed = (
        SpoccEnsemble(panel, **how).fit(X, y),
        SpoccEnsemble(panel, **how).fit(X, y, sample_weight=weights),
    )
    assert weighed.combiner_.evidence_.n_rows > 10 * plain.combiner_.evidence_.n_rows
    predictions = [(ensemble.transform(X) == 0).mean(axis=0) for ensemble in (plain, weighed)]
    assert predictions[1][0] > predictions[0][0] + 0.1
    assert predictions[1][1] == predictions[0][1]


def test_other_parameters_are_routed_to_classifiers_that_request_them() -> None:
    X, y = features()
    weights = np.where(y == 0, 50.0, 1.0)
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        SpoccEnsemble(members()).fit(X, y, colour=y)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = LogisticRegression(max_iter=1000).set_fit_request(sample_weight=True)
        missing_is_answer = GaussianNB().set_fit_request(sample_weight=False)
        ensemble = SpoccEnsemble([("asks", asks), ("missing_is_answer", missing_is_answer)]).fit(
            X, y, sample_weight=weights
        )
    predictions = (ensemble.transform(X) == 0).mean(axis=0)
    assert predictions[0] > predictions[1] + 0.1


def test_weights_of_fitted_classifiers_need_no_routing_to_them() -> None:
    X, y = features()
    panel = [(name, member.fit(X, y)) for name, member in members()]
    with sklearn.config_context(enable_metadata_routing=True):
        ensemble = SpoccEnsemble(panel, prefit=True).fit(X, y, sample_weight=np.full(len(y), 2.0))
    assert ensemble.combiner_.evidence_.n_rows == 2 * len(y)


def test_a_class_of_one_row_does_not_stop_the_split() -> None:
    X, y = features()
    y[0] = 3
    ensemble = SpoccEnsemble(members(), holdout=0.2).fit(X, y)
    assert list(ensemble.classes_) == [0, 1, 2, 3]
    assert set(ensemble.predict(X)) <= {0, 1, 2, 3}


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "none": ([], {}, "'estimators' should be a non-empty list"),
    "no tuples": ([GaussianNB()], {}, "'estimators' should be a non-empty list"),
    "one name twice": ([("a", GaussianNB()), ("a", GaussianNB())], {}, "Names provided are not unique"),
    "a name of ours": ([("cv", GaussianNB())], {}, "Estimator names conflict with constructor arguments"),
    "all dropped": ([("a", "drop")], {}, "All estimators are dropped"),
    "no classifier": ([("a", StandardScaler())], {}, "The estimator StandardScaler should be a classifier"),
    "nothing": ([("a", None)], {}, "The estimator NoneType should be a classifier"),
    "an unknown method": ([("a", GaussianNB())], {"method": "guess"}, "method: expected one of ladder"),
    "no method": ([("a", GaussianNB())], {"method": GaussianNB()}, "method: expected a name or an estimator"),
    "a holdout of what is fitted": (
        [("a", GaussianNB())],
        {"holdout": 0.2, "prefit": True},
        "holdout: expected None with fitted classifiers",
    ),
    "an unknown word for folds": (
        [("a", GaussianNB())],
        {"cv": "five"},
        "cv: expected folds, .* found 'five'",
    ),
    "a holdout of all": ([("a", GaussianNB())], {"holdout": 1.5}, "holdout: expected a share .*, found 1.5"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_settings_are_refused_in_one_clear_line(case: str) -> None:
    panel, settings, message = BAD[case]
    X, y = features()
    if settings.get("prefit"):
        panel = [(name, clone(member).fit(X, y)) for name, member in panel]
    with pytest.raises(TypeError if case == "no method" else ValueError, match=message):
        SpoccEnsemble(panel, **settings).fit(X, y)


def test_an_unfitted_ensemble_raises() -> None:
    X, _ = features()
    for ask in ("predict", "predict_proba", "decision_function", "transform"):
        with pytest.raises(NotFittedError, match="instance is not fitted yet"):
            getattr(SpoccEnsemble(members()), ask)(X)
    for ask in ("explain", "predict_set"):
        with pytest.raises(NotFittedError):
            getattr(SpoccEnsemble(members()), ask)(X)
    with pytest.raises(NotFittedError):
        _ = SpoccEnsemble(members()).audit_


def test_frozen_classifiers_stay_fitted_in_cross_validation() -> None:
    X, y = features()
    frozen = [(name, FrozenEstimator(estimator.fit(X[:200], y[:200]))) for name, estimator in members()]
    assert cross_val_score(SpoccEnsemble(frozen, prefit=True), X[200:], y[200:], cv=3).min() > 0.6


def test_a_word_in_place_of_a_classifier_is_refused() -> None:
    with pytest.raises(ValueError, match="'a' should be a classifier or 'drop', got 'dropp'"):
        SpoccEnsemble([("a", "dropp"), *members()]).fit(*features())


def test_no_rows_are_refused_as_elsewhere_in_scikit_learn() -> None:
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) .* required by SpoccEnsemble"):
        SpoccEnsemble(members()).fit(np.zeros((0, 2)), np.zeros(0, dtype=int))


class Recorder(FirstFeature):
    """Records the rows of each training set by their last feature."""

    seen: ClassVar[list[set[float]]] = []

    def fit(self, X: Any, y: Any) -> Self:
        Recorder.seen.append(set(np.asarray(X)[:, -1].tolist()))
        return super().fit(X, y)


@pytest.mark.parametrize("routing", [False, True])
def test_groups_reach_the_splitter(routing: bool) -> None:
    X, y = features(120)
    groups = np.arange(120) % 6
    X[:, -1] = groups
    with sklearn.config_context(enable_metadata_routing=routing):
        Recorder.seen.clear()
        ensemble = SpoccEnsemble([("one", Recorder())], cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert [len(rows) for rows in Recorder.seen] == [4, 4, 4, 6]
    assert ensemble.combiner_.evidence_.n_rows == 120
    for settings in ({"holdout": 0.2}, {"cv": "prefit"}):
        fitted = [("one", FirstFeature().fit(X, y))]
        with (
            sklearn.config_context(enable_metadata_routing=routing),
            pytest.raises(ValueError, match="groups: expected a cross-validation that splits by them"),
        ):
            SpoccEnsemble(fitted, **settings).fit(X, y, groups=groups)


def test_prefit_is_a_word_of_cv_too() -> None:
    X, y = features()
    fitted = [(name, member.fit(X[:200], y[:200])) for name, member in members()]
    word, flag = SpoccEnsemble(fitted, cv="prefit"), SpoccEnsemble(fitted, prefit=True)
    assert word.fit(X[200:], y[200:]).model_ == flag.fit(X[200:], y[200:]).model_


def test_the_number_of_jobs_changes_nothing() -> None:
    X, y = features()
    ways: list[dict[str, Any]] = [{}, {"holdout": 0.3}]
    for how in ways:
        one, two = (SpoccEnsemble(members(), n_jobs=jobs, **how).fit(X, y) for jobs in (1, 2))
        assert one.model_ == two.model_
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_seed_repeats_a_fit() -> None:
    X, y = features()
    fit = [SpoccEnsemble(members(), holdout=0.3, random_state=seed).fit(X, y).model_ for seed in (1, 1, 2)]
    assert fit[0] == fit[1] != fit[2]
    states = [np.random.RandomState(1) for _ in range(2)]
    fit = [SpoccEnsemble(members(), holdout=0.3, random_state=state).fit(X, y).model_ for state in states]
    assert fit[0] == fit[1]


def test_verbose_says_which_classifier_is_trained(capsys: pytest.CaptureFixture[str]) -> None:
    SpoccEnsemble(members()).fit(*features())
    assert capsys.readouterr().out == ""
    SpoccEnsemble(members(), verbose=True).fit(*features())
    lines = capsys.readouterr().out.splitlines()
    parts = ["(1 of 3) Training line", "(2 of 3) Training tree", "(3 of 3) Training bayes"]
    assert all(part in line for part, line in zip(parts, lines, strict=True))


def test_decisions_are_explained_and_have_sets() -> None:
    X, y = features()
    ensemble = SpoccEnsemble(members(), LadderClassifier(calibrate="cross")).fit(X, WORDS[y])
    explained = ensemble.explain(X, row=7)
    assert {part.classifier for part in explained.contributions} == {"line", "tree", "bayes"}
    assert explained == ensemble.combiner_.explain(ensemble.transform(X), 7)
    sets = ensemble.predict_set(X, 0.9)
    assert sets.shape == (400, 3)
    assert sets[np.arange(400), np.searchsorted(ensemble.classes_, WORDS[y])].mean() > 0.85
    with pytest.raises(spocc.SpoccError, match="calibrat"):
        SpoccEnsemble(members()).fit(X, y).predict_set(X)


def test_the_diagram_shows_the_classifiers() -> None:
    diagram = SpoccEnsemble(members())._repr_html_()
    for part in ("SpoccEnsemble", "sk-parallel", "line", "LogisticRegression", "tree", "GaussianNB"):
        assert part in diagram, part


def test_a_misspelt_method_is_a_type_error_for_mypy() -> None:
    # mypy runs with warn_unused_ignores: without an error there, these comments would be errors.
    with pytest.raises(spocc.SpoccError, match="method: expected one of ladder"):
        SpoccEnsemble(members(), "laddr").fit(*features())  # type: ignore[arg-type]
    with pytest.raises(spocc.SpoccError, match="tuning"):
        AdaSpoccClassifier(tuning="loo").fit([[0], [1]], [0, 1])  # type: ignore[arg-type]
