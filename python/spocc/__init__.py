"""Combines the predicted labels of many black-box classifiers into one decision per row.

`fit` learns from predictions and known true labels which classifiers are accurate and which depend on each
other. The `Model` decides new rows, quantifies and explains its decisions, and audits the classifiers.
`Evidence` holds the counts that every method learns from; counts of separate rows add up exactly.

Examples
--------
>>> import spocc
>>> predictions = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
>>> model = spocc.fit(predictions, ["cat", "dog", "cat", "dog"], method="adaspocc")
>>> model.predict(predictions)
array(['cat', 'dog', 'cat', 'dog'], dtype='<U3')
"""

from spocc._accuracy import HeldOutAccuracy
from spocc._comparison import Comparison, MethodResult, Recommendation, compare
from spocc._evidence import Evidence
from spocc._fit import audit, fit, load, load_evidence, load_model
from spocc._model import Model
from spocc._native import METHODS, VERSION, SpoccError
from spocc._reports import Audit, ClassifierAudit, Contribution, Decisions, Explanation
from spocc._warnings import ColumnWarning, RowWarning, SlimWarning

__version__ = VERSION

__all__ = [
    "METHODS",
    "Audit",
    "ClassifierAudit",
    "ColumnWarning",
    "Comparison",
    "Contribution",
    "Decisions",
    "Evidence",
    "Explanation",
    "HeldOutAccuracy",
    "MethodResult",
    "Model",
    "Recommendation",
    "RowWarning",
    "SlimWarning",
    "SpoccError",
    "__version__",
    "audit",
    "compare",
    "fit",
    "load",
    "load_evidence",
    "load_model",
]
