"""Estimators of scikit-learn: combiners of labels, and an ensemble that trains what they combine.

One class per method takes X, the (n, K) matrix of what K classifiers said, as `spocc.fit` does.
`SpoccEnsemble` stands in for ``VotingClassifier`` and ``StackingClassifier``: it trains the classifiers too.

Examples
--------
>>> from spocc.sklearn import AdaSpoccClassifier
>>> said = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
>>> panel = AdaSpoccClassifier().fit(said, ["cat", "dog", "cat", "dog"])
>>> panel.predict([["cat", None, "dog"]])
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
    "OneHotStackingClassifier",
    "SelectionClassifier",
    "SpoccClassifier",
    "SpoccEnsemble",
    "WeightedVoteClassifier",
]
