"""An ensemble that trains classifiers, counts their held-out predictions, and combines them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, TransformerMixin, clone, is_classifier
from sklearn.model_selection import check_cv, cross_val_predict, train_test_split
from sklearn.utils import Bunch, _safe_indexing, get_tags, indexable
from sklearn.utils._user_interface import _print_elapsed_time
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import _BaseComposition, available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import (
    _check_method_params,
    _check_sample_weight,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

import spocc
from spocc._native import DEFAULT_METHOD
from spocc._settings import Method, combiner
from spocc.sklearn._base import LabelCombiner
from spocc.sklearn._methods import BY_METHOD
from spocc.sklearn._validation import check_truth, distinct

try:
    from sklearn.utils._repr_html.estimator import _VisualBlock
except ImportError:  # scikit-learn 1.6
    from sklearn.utils._estimator_html_repr import _VisualBlock

__all__ = ["SpoccEnsemble"]

Member = tuple[str, Any, Any]
Params = dict[str, dict[str, Any]]


def _has_probabilities(ensemble: SpoccEnsemble) -> bool:
    method = ensemble.method
    return hasattr(BY_METHOD.get(method, object)() if isinstance(method, str) else method, "predict_proba")


class SpoccEnsemble(ClassifierMixin, TransformerMixin, MetaEstimatorMixin, _BaseComposition):
    """Trains classifiers and combines their predictions by a model fitted to held-out predictions.

    Parameters
    ----------
    estimators
        Tuples of a name and a classifier, or of a name, a classifier and the columns of X that it uses (as
        ``ColumnTransformer`` selects them). ``"drop"`` in place of a classifier removes it.
    method
        The method that combines predictions: one of `spocc.METHODS`, or an estimator of `spocc.sklearn`.
    cv
        Cross-validation: a number of folds, a splitter or an iterable of splits. Out-of-fold predictions on
        every row are the evidence, and the classifiers are then trained on all rows. ``"prefit"`` is the same
        as ``prefit=True``.
    holdout
        Share (or number) of the rows that are held out from training and counted as evidence, in place of
        ``cv``. The classifiers are trained once and not again on all rows: faster, and less accurate.
    prefit
        Whether the classifiers are already fitted; all rows are then evidence and must be new to them.
        Wrap each classifier in scikit-learn's ``FrozenEstimator`` where the ensemble is cloned, as in
        searches and cross-validation: a clone is not fitted.
    random_state
        Seed of the holdout split. A fit is repeatable unless this is None.
    n_jobs
        Number of classifiers that are trained in parallel; the fit does not depend on it.
    verbose
        Whether to print which classifier is being trained, and how long it took.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    estimators_, named_estimators_
        The fitted classifiers.
    combiner_
        The fitted estimator that combines their predictions.
    model_
        The fitted `spocc.Model`, whose classifiers have the names of the estimators.
    audit_
        The `spocc.Audit` of the classifiers: accuracy, influence, copies, adversaries.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from spocc.sklearn import SpoccEnsemble
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> members = [("tree", tree), ("bayes", GaussianNB()), ("petal", GaussianNB(), [2])]
    >>> ensemble = SpoccEnsemble(members).fit(X, y)
    >>> ensemble.predict(X[::50])
    array([0, 1, 2])
    >>> ensemble.model_.classifiers
    ['tree', 'bayes', 'petal']
    """

    combiner_: LabelCombiner

    def __init__(
        self,
        estimators: Sequence[tuple[Any, ...]],
        method: Method | LabelCombiner = DEFAULT_METHOD,
        *,
        cv: Any = 5,
        holdout: float | int | None = None,
        prefit: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.estimators = estimators
        self.method = method
        self.cv = cv
        self.holdout = holdout
        self.prefit = prefit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Trains the classifiers and fits the model that combines them.

        Weights are used in the evidence and by the classifiers that support them, ``groups`` by the splitter
        of ``cv``. With scikit-learn's metadata routing, all parameters go where they are requested.
        """
        members, estimator = self._members(X), self._estimator()
        validate_data(self, X, y, skip_check_array=True)
        X, y, sample_weight = indexable(X, y, sample_weight)
        y, _ = check_truth(self, y, len(y))
        self.classes_ = distinct(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
        params, split_params = self._routed(members, sample_weight, fit_params)
        evidence_rows = np.arange(len(y))
        if self._is_prefit:
            fitted = [member for _, member, _ in members]
            predictions = _predict(fitted, members, X)
        elif self.holdout is None:
            splits = list(check_cv(self.cv, y, classifier=True).split(X, y, **split_params))
            predictions = self._out_of_fold(members, X, y, params, splits)
            fitted = self._train(members, X, y, params)
        else:
            rows, evidence_rows = self._split(y)
            fitted = self._train(members, _safe_indexing(X, rows), y[rows], _of_rows(params, X, rows))
            predictions = _predict(fitted, members, _safe_indexing(X, evidence_rows))
        names = [name for name, _, _ in members]
        weights = None if sample_weight is None else sample_weight[evidence_rows]
        self.combiner_ = estimator._learn(
            predictions, y[evidence_rows], weights, names=names, classes=self.classes_
        )
        self.estimators_ = fitted
        self.named_estimators_ = Bunch(**dict(zip(names, fitted, strict=True)))
        self._fitted_members = members
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """The predictions of the classifiers, in a column each."""
        return self._predictions(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the classifiers, which are the columns of `transform`."""
        check_is_fitted(self)
        return np.array(list(self.named_estimators_), dtype=object)

    def predict(self, X: Any) -> NDArray[Any]:
        """The decided class of every row."""
        predictions = self._predictions(X)
        return self.combiner_.predict(predictions)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the probability or possibility of every class; of two classes, the difference."""
        predictions = self._predictions(X)
        return self.combiner_.decision_function(predictions)

    def predict_possibility(self, X: Any) -> NDArray[np.float64]:
        """The possibility of every class (columns) in every row: 1 if no prediction contradicts it."""
        predictions = self._predictions(X)
        return self.combiner_.predict_possibility(predictions)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class (columns) in every row, for methods with probabilities."""
        predictions = self._predictions(X)
        probabilities: NDArray[np.float64] = self.combiner_.predict_proba(predictions)
        return probabilities

    def predict_set(self, X: Any, coverage: float = 0.95) -> NDArray[np.bool_]:
        """The conformal prediction set of every row, as a mask of classes (columns).

        Needs a ``method`` that is an estimator with ``calibrate``.
        """
        predictions = self._predictions(X)
        return self.combiner_.predict_set(predictions, coverage)

    def explain(self, X: Any, row: int = 0) -> spocc.Explanation:
        """The contribution of every classifier to the decision on one row, counted from 0."""
        predictions = self._predictions(X)
        return self.combiner_.explain(predictions, row)

    @property
    def audit_(self) -> spocc.Audit:
        """The accuracy and the influence of every classifier, and which of them are copies or adversaries."""
        check_is_fitted(self)
        return self.combiner_.audit_

    @property
    def model_(self) -> spocc.Model:
        """The fitted model of the combiner."""
        check_is_fitted(self)
        return self.combiner_.model_

    @property
    def named_estimators(self) -> Bunch:
        """The unfitted classifiers by name."""
        return Bunch(**dict(self._pairs))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, the classifiers by name, and their parameters as ``name__parameter``."""
        params: dict[str, Any] = self._get_params("_pairs", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Sets parameters, classifiers by name (or ``"drop"``), and parameters as ``name__parameter``."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        self._set_params("_pairs", **params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Routes metadata to the `fit` of the classifiers and the `split` of ``cv`` that request it."""
        router = MetadataRouter(owner=self).add_self_request(self)
        if not self._is_prefit and self.holdout is None:
            mapping = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=check_cv(self.cv, classifier=True), method_mapping=mapping)
        for name, estimator in self._pairs:
            if hasattr(estimator, "fit"):
                mapping = MethodMapping().add(caller="fit", callee="fit")
                router.add(**{name: estimator}, method_mapping=mapping)
        return router

    def _sk_visual_block_(self) -> Any:
        """The classifiers side by side in the HTML diagram of scikit-learn."""
        names = [name for name, _ in self._pairs]
        return _VisualBlock("parallel", [estimator for _, estimator in self._pairs], names=names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # `fit` refuses entries that are no estimators.
        inputs = [get_tags(estimator).input_tags for _, estimator in self._pairs if hasattr(estimator, "fit")]
        tags.input_tags.sparse = all(taken.sparse for taken in inputs)
        tags.input_tags.allow_nan = all(taken.allow_nan for taken in inputs)
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _pairs(self) -> list[tuple[str, Any]]:
        """Names and classifiers without columns, in the form that scikit-learn expects."""
        try:
            return [(member[0], member[1]) for member in self.estimators]
        except (TypeError, IndexError):
            # `fit` reports what is wrong with them.
            return []

    @_pairs.setter
    def _pairs(self, pairs: list[tuple[str, Any]]) -> None:
        self.estimators = [(*pair, *member[2:]) for pair, member in zip(pairs, self.estimators, strict=True)]

    def _members(self, X: Any) -> list[Member]:
        """Name, classifier and columns of the classifiers that are not dropped."""
        pairs = self._pairs
        if (
            not pairs
            or not all(isinstance(name, str) for name, _ in pairs)
            or max(map(len, self.estimators)) > 3
        ):
            raise ValueError(
                "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of"
                " (string, estimator) or (string, estimator, columns) tuples."
            )
        self._validate_names([name for name, _ in pairs])
        members = []
        for name, estimator, *columns in self.estimators:
            if isinstance(estimator, str) and estimator == "drop":
                continue
            if isinstance(estimator, str):
                raise ValueError(
                    f"The estimator {name!r} should be a classifier or 'drop', got {estimator!r}."
                )
            if not hasattr(estimator, "fit") or not is_classifier(estimator):
                raise ValueError(f"The estimator {type(estimator).__name__} should be a classifier.")
            if self._is_prefit:
                check_is_fitted(estimator)
            selected = columns[0] if columns else None
            members.append((name, estimator, selected(X) if callable(selected) else selected))
        if not members:
            raise ValueError("All estimators are dropped. At least one is required to be an estimator.")
        return members

    def _estimator(self) -> LabelCombiner:
        if self._is_prefit and self.holdout is not None:
            raise ValueError("holdout: expected None with fitted classifiers, whose rows are all evidence")
        if isinstance(self.method, LabelCombiner):
            estimator: LabelCombiner = clone(self.method)
            return estimator
        if not isinstance(self.method, str):
            found = type(self.method).__name__
            raise TypeError(f"method: expected a name or an estimator of spocc.sklearn, found {found}")
        # The engine refuses an unknown name.
        return BY_METHOD[combiner(self.method).method]()

    @property
    def _is_prefit(self) -> bool:
        if isinstance(self.cv, str) and self.cv != "prefit":
            raise ValueError(f"cv: expected folds, a splitter or 'prefit', found {self.cv!r}")
        return bool(self.prefit) or isinstance(self.cv, str)

    def _routed(
        self, members: list[Member], sample_weight: Any, fit_params: dict[str, Any]
    ) -> tuple[Params, dict[str, Any]]:
        """The parameters of `fit` for each classifier, and those of the splitter."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        has_folds = not self._is_prefit and self.holdout is None
        if "groups" in fit_params and not has_folds:
            raise ValueError("groups: expected a cross-validation that splits by them (cv), found none")
        if self._is_prefit and not fit_params:
            return {}, {}
        if _routing_enabled():
            routed = process_routing(self, "fit", **fit_params, **weights)
            of_members = {name: routed[name].fit for name, _, _ in members}
            return of_members, routed.splitter.split if has_folds else {}
        groups = {name: fit_params.pop(name) for name in ["groups"] if name in fit_params}
        _raise_for_params(fit_params, self, "fit")
        supported = {name: has_fit_parameter(estimator, "sample_weight") for name, estimator, _ in members}
        return {name: weights if is_supported else {} for name, is_supported in supported.items()}, groups

    def _split(self, y: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Training rows and held-out rows, stratified by class if there are enough rows."""
        share = self.holdout
        if not ((isinstance(share, Integral) and share >= 1) or (isinstance(share, Real) and 0 < share < 1)):
            expected = "a share between 0 and 1 or a number of rows from 1"
            raise ValueError(f"holdout: expected {expected}, found {share!r}")
        rows = np.arange(len(y))
        split = partial(train_test_split, rows, test_size=self.holdout, random_state=self.random_state)
        try:
            training, held_out = split(stratify=y)
        except ValueError:
            training, held_out = split()
        return training, held_out

    def _train(self, members: list[Member], X: Any, y: NDArray[Any], params: Params) -> list[Any]:
        message = "({} of {}) Training {}"
        fitted: list[Any] = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit)(
                clone(estimator),
                _select(X, columns),
                y,
                params[name],
                message.format(at + 1, len(members), name) if self.verbose else None,
            )
            for at, (name, estimator, columns) in enumerate(members)
        )
        return fitted

    def _out_of_fold(
        self, members: list[Member], X: Any, y: NDArray[Any], params: Params, splits: list[Any]
    ) -> NDArray[Any]:
        """The out-of-fold predictions of each classifier."""
        return _columns(
            [
                cross_val_predict(
                    estimator, _select(X, columns), y, cv=splits, n_jobs=self.n_jobs, params=params[name]
                )
                for name, estimator, columns in members
            ]
        )

    def _predictions(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        # Input that is not a table, such as a list of documents, is checked by the classifiers.
        is_table = len(getattr(X, "shape", (0, 0))) == 2
        validate_data(self, X, reset=False, skip_check_array=True, ensure_2d=is_table)
        return _predict(self.estimators_, self._fitted_members, X)


def _fit(estimator: Any, X: Any, y: NDArray[Any], params: dict[str, Any], message: str | None) -> Any:
    with _print_elapsed_time("SpoccEnsemble", message):
        return estimator.fit(X, y, **params)


def _predict(fitted: list[Any], members: list[Member], X: Any) -> NDArray[Any]:
    """The predictions of fitted classifiers, in a column each."""
    pairs = zip(fitted, members, strict=True)
    return _columns([estimator.predict(_select(X, columns)) for estimator, (_, _, columns) in pairs])


def _columns(predictions: list[Any]) -> NDArray[Any]:
    """A table of columns, of objects if there are texts and numbers: numpy would convert all to texts."""
    columns = [np.asarray(labels) for labels in predictions]
    is_text = {column.dtype.kind not in "biuf" for column in columns}
    return np.column_stack([column.astype(object) for column in columns] if len(is_text) > 1 else columns)


def _select(X: Any, columns: Any) -> Any:
    return X if columns is None else _safe_indexing(X, columns, axis=1)


def _of_rows(params: Params, X: Any, rows: NDArray[np.intp]) -> Params:
    return {name: _check_method_params(X, given, indices=rows) for name, given in params.items()}
