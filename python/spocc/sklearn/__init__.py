"""scikit-learn estimators: one per method, and an ensemble that trains the classifiers it combines.

X of the estimator of a method is the (n, K) matrix of the predictions of K classifiers, as for `spocc.fit`.
`SpoccEnsemble` replaces ``VotingClassifier`` and ``StackingClassifier``: it trains the classifiers too.

Examples
--------
>>> from spocc.sklearn import AdaSpoccClassifier
>>> X = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
>>> combiner = AdaSpoccClassifier().fit(X, ["cat", "dog", "cat", "dog"])
>>> combiner.predict([["cat", None, "dog"]])
array(['cat'], dtype='<U3')
"""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("spocc.sklearn needs scikit-learn 1.6: pip install 'spocc[sklearn]'") from error

from spocc.sklearn._ensemble import SpoccEnsemble
from spocc.sklearn._methods import (
    AdaSpoccClassifier,
    BayesClassifier,
    DawidSkeneClassifier,
    ExpVoteClassifier,
    LadderClassifier,
    MajorityClassifier,
    NaiveBayesClassifier,
    OneCoinClassifier,
    OneHotStackingClassifier,
    SelectionClassifier,
    SpoccClassifier,
    WeightedVoteClassifier,
)

__all__ = [
    "AdaSpoccClassifier",
    "BayesClassifier",
    "DawidSkeneClassifier",
    "ExpVoteClassifier",
    "LadderClassifier",
    "MajorityClassifier",
    "NaiveBayesClassifier",
    "OneCoinClassifier",
    "OneHotStackingClassifier",
    "SelectionClassifier",
    "SpoccClassifier",
    "SpoccEnsemble",
    "WeightedVoteClassifier",
]
