"""An ensemble that trains its classifiers, keeps evidence of how they answer, and combines them."""

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
from spocc._native import Combiner
from spocc.sklearn._combiner import LabelCombiner, ProbabilisticCombiner
from spocc.sklearn._labels import check_truth, distinct
from spocc.sklearn._methods import BY_METHOD

__all__ = ["SpoccEnsemble"]

Member = tuple[str, Any, Any]
Params = dict[str, dict[str, Any]]


def _has_probabilities(ensemble: SpoccEnsemble) -> bool:
    method = ensemble.method
    kind = BY_METHOD.get(method, object) if isinstance(method, str) else type(method)
    return issubclass(kind, ProbabilisticCombiner)


class SpoccEnsemble(ClassifierMixin, TransformerMixin, MetaEstimatorMixin, _BaseComposition):
    """Trains classifiers, watches them on rows they did not learn from, and combines what they say.

    Parameters
    ----------
    estimators
        Tuples of a name and a classifier, or of a name, a classifier and the columns of X that it sees (as
        ``ColumnTransformer`` selects them). ``"drop"`` in place of a classifier leaves it out.
    method
        How answers are combined: one of `spocc.METHODS`, or a combiner of `spocc.sklearn` with its settings.
    holdout
        Share (or number) of the rows that are kept from the classifiers, as evidence of how they answer. They
        are not trained again on all rows: the evidence speaks of the very classifiers that are used.
    cv
        Instead of a holdout, folds (a number or a splitter): every row is evidence, answered by classifiers
        trained without it, and those used are trained on all rows. Costlier, and better where rows are few.
    prefit
        Whether the classifiers are fitted already and are taken as they are; all rows are evidence. Give rows
        that they have not seen. Where scikit-learn makes clones, as searches and cross-validation do, wrap
        each in its ``FrozenEstimator``, or they forget what they learned.
    random_state
        Seed of the holdout. A fit is repeatable unless this is None.
    n_jobs
        How many classifiers are trained at once.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    estimators_, named_estimators_
        The fitted classifiers.
    combiner_
        The fitted combiner of their answers.
    model_
        The fitted `spocc.Model`, whose classifiers have the names of the estimators.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from spocc.sklearn import SpoccEnsemble
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> members = [("tree", tree), ("bayes", GaussianNB()), ("petal", GaussianNB(), [2])]
    >>> ensemble = SpoccEnsemble(members, cv=5).fit(X, y)
    >>> ensemble.predict(X[::50])
    array([0, 1, 2])
    >>> ensemble.model_.classifiers
    ['tree', 'bayes', 'petal']
    """

    combiner_: LabelCombiner

    def __init__(
        self,
        estimators: Sequence[tuple[Any, ...]],
        method: str | LabelCombiner = "ladder",
        *,
        holdout: float | int = 0.2,
        cv: Any = None,
        prefit: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.method = method
        self.holdout = holdout
        self.cv = cv
        self.prefit = prefit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Trains the classifiers and learns how to combine them.

        Weights go to the evidence and to those classifiers that take them. Other parameters are routed to the
        classifiers if scikit-learn's metadata routing is enabled.
        """
        members, combiner = self._members(X), self._combiner()
        validate_data(self, X, y, skip_check_array=True)
        X, y, sample_weight = indexable(X, y, sample_weight)
        y, _ = check_truth(self, y, len(y))
        self.classes_ = distinct(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
        params = self._routed(members, sample_weight, fit_params)
        held = np.arange(len(y))
        if self.prefit:
            fitted = [estimator for _, estimator, _ in members]
            said = _said(fitted, members, X)
        elif self.cv is not None:
            splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
            said = self._out_of_fold(members, X, y, params, splits)
            fitted = self._train(members, X, y, params)
        else:
            rows, held = self._split(y)
            fitted = self._train(members, _safe_indexing(X, rows), y[rows], _of_rows(params, X, rows))
            said = _said(fitted, members, _safe_indexing(X, held))
        names = [name for name, _, _ in members]
        weights = None if sample_weight is None else sample_weight[held]
        self.combiner_ = combiner._learn(said, y[held], weights, names=names, classes=self.classes_)
        self.estimators_ = fitted
        self.named_estimators_ = Bunch(**dict(zip(names, fitted, strict=True)))
        self._fitted_members = members
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """What every classifier says: a column each."""
        return self._ask(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the classifiers, which are the columns of `transform`."""
        check_is_fitted(self)
        return np.array(list(self.named_estimators_), dtype=object)

    def predict(self, X: Any) -> NDArray[Any]:
        """The decided class of every row."""
        said = self._ask(X)
        return self.combiner_.predict(said)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of what speaks for every class; of two classes, how far the second one leads."""
        said = self._ask(X)
        return self.combiner_.decision_function(said)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class, where the method has one."""
        said, combiner = self._ask(X), self.combiner_
        assert isinstance(combiner, ProbabilisticCombiner)
        return combiner.predict_proba(said)

    def audit(self) -> spocc.Audit:
        """Who of the classifiers is worth listening to, who guesses, copies or lies."""
        return self.model_.audit()

    @property
    def model_(self) -> spocc.Model:
        """The fitted model of the combiner."""
        check_is_fitted(self)
        return self.combiner_.model_

    @property
    def named_estimators(self) -> Bunch:
        """The classifiers by name, as they were given."""
        return Bunch(**dict(self._pairs))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Own parameters, the classifiers by name, and theirs as ``name__parameter``."""
        params: dict[str, Any] = self._get_params("_pairs", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Sets own parameters, classifiers by name (or ``"drop"``), and theirs as ``name__parameter``."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        self._set_params("_pairs", **params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Weights are taken here; everything goes to the `fit` of the classifiers that ask for it."""
        router = MetadataRouter(owner=self).add_self_request(self)
        for name, estimator in self._pairs:
            if hasattr(estimator, "fit"):
                mapping = MethodMapping().add(caller="fit", callee="fit")
                router.add(**{name: estimator}, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # What is no estimator, `fit` will refuse.
        inputs = [get_tags(estimator).input_tags for _, estimator in self._pairs if hasattr(estimator, "fit")]
        tags.input_tags.sparse = all(taken.sparse for taken in inputs)
        tags.input_tags.allow_nan = all(taken.allow_nan for taken in inputs)
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _pairs(self) -> list[tuple[str, Any]]:
        """Names and classifiers without columns: the form in which scikit-learn looks for parameters."""
        try:
            return [(member[0], member[1]) for member in self.estimators]
        except (TypeError, IndexError):
            # What is wrong with them `fit` will say.
            return []

    @_pairs.setter
    def _pairs(self, pairs: list[tuple[str, Any]]) -> None:
        self.estimators = [(*pair, *member[2:]) for pair, member in zip(pairs, self.estimators, strict=True)]

    def _members(self, X: Any) -> list[Member]:
        """Name, classifier and columns of those that are not dropped."""
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
            if self.prefit:
                check_is_fitted(estimator)
            chosen = columns[0] if columns else None
            members.append((name, estimator, chosen(X) if callable(chosen) else chosen))
        if not members:
            raise ValueError("All estimators are dropped. At least one is required to be an estimator.")
        return members

    def _combiner(self) -> LabelCombiner:
        if self.prefit and self.cv is not None:
            raise ValueError("cv and prefit: expected one of them, found both")
        if isinstance(self.method, LabelCombiner):
            combiner: LabelCombiner = clone(self.method)
            return combiner
        if not isinstance(self.method, str):
            found = type(self.method).__name__
            raise ValueError(f"method: expected a word or a combiner of spocc.sklearn, found {found}")
        # Refuses an unknown word as every face does.
        return BY_METHOD[Combiner(self.method).method]()

    def _routed(self, members: list[Member], sample_weight: Any, fit_params: dict[str, Any]) -> Params:
        """The parameters of `fit` that each classifier gets."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if self.prefit and not fit_params:
            return {}
        if _routing_enabled():
            routed = process_routing(self, "fit", **fit_params, **weights)
            return {name: routed[name].fit for name, _, _ in members}
        _raise_for_params(fit_params, self, "fit")
        takes = {name: has_fit_parameter(estimator, "sample_weight") for name, estimator, _ in members}
        return {name: weights if taken else {} for name, taken in takes.items()}

    def _split(self, y: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows to train on and rows to keep, with every class in both as far as there are rows for that."""
        share = self.holdout
        if not ((isinstance(share, Integral) and share >= 1) or (isinstance(share, Real) and 0 < share < 1)):
            expected = "a share between 0 and 1 or a number of rows from 1"
            raise ValueError(f"holdout: expected {expected}, found {share!r}")
        rows = np.arange(len(y))
        split = partial(train_test_split, rows, test_size=self.holdout, random_state=self.random_state)
        try:
            trained, held = split(stratify=y)
        except ValueError:
            trained, held = split()
        return trained, held

    def _train(self, members: list[Member], X: Any, y: NDArray[Any], params: Params) -> list[Any]:
        fitted: list[Any] = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit)(clone(estimator), _select(X, columns), y, params[name])
            for name, estimator, columns in members
        )
        return fitted

    def _out_of_fold(
        self, members: list[Member], X: Any, y: NDArray[Any], params: Params, splits: list[Any]
    ) -> NDArray[Any]:
        """What each classifier says of every row when it is trained without it."""
        return _beside(
            [
                cross_val_predict(
                    estimator, _select(X, columns), y, cv=splits, n_jobs=self.n_jobs, params=params[name]
                )
                for name, estimator, columns in members
            ]
        )

    def _ask(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        # What is not a table, such as a list of documents, is for the classifiers to judge.
        is_table = len(getattr(X, "shape", (0, 0))) == 2
        validate_data(self, X, reset=False, skip_check_array=True, ensure_2d=is_table)
        return _said(self.estimators_, self._fitted_members, X)


def _fit(estimator: Any, X: Any, y: NDArray[Any], params: dict[str, Any]) -> Any:
    return estimator.fit(X, y, **params)


def _said(fitted: list[Any], members: list[Member], X: Any) -> NDArray[Any]:
    """What fitted classifiers say of these rows, a column each."""
    pairs = zip(fitted, members, strict=True)
    return _beside([estimator.predict(_select(X, columns)) for estimator, (_, _, columns) in pairs])


def _beside(answers: list[Any]) -> NDArray[Any]:
    """Columns of a table; of texts and numbers each stays what it is: numpy would make texts of all."""
    columns = [np.asarray(said) for said in answers]
    is_text = {column.dtype.kind not in "biuf" for column in columns}
    return np.column_stack([column.astype(object) for column in columns] if len(is_text) > 1 else columns)


def _select(X: Any, columns: Any) -> Any:
    return X if columns is None else _safe_indexing(X, columns, axis=1)


def _of_rows(params: Params, X: Any, rows: NDArray[np.intp]) -> Params:
    return {name: _check_method_params(X, given, indices=rows) for name, given in params.items()}
