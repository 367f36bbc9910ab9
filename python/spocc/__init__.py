"""Turns the answers of many black-box classifiers into one trustworthy answer.

`Evidence` counts how a panel answered rows whose truth is known; `fit` makes a `Model` of it, which decides
new rows, says how sure it is, explains itself and audits its panel.

Examples
--------
>>> import spocc
>>> said = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
>>> model = spocc.fit(said, ["cat", "dog", "cat", "dog"], method="adaspocc")
>>> model.predict(said)
array(['cat', 'dog', 'cat', 'dog'], dtype='<U3')
"""

from spocc._evidence import Evidence
from spocc._fit import ColumnWarning, audit, fit, load
from spocc._model import Model
from spocc._native import METHODS, VERSION, SpoccError
from spocc._reports import Audit, ClassifierAudit, Decisions, Explanation, Voice

__version__ = VERSION

__all__ = [
    "METHODS",
    "Audit",
    "ClassifierAudit",
    "ColumnWarning",
    "Decisions",
    "Evidence",
    "Explanation",
    "Model",
    "SpoccError",
    "Voice",
    "__version__",
    "audit",
    "fit",
    "load",
]
