"""Every check that scikit-learn has for estimators; none is expected to fail."""

from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import spocc.sklearn
from spocc.sklearn import SpoccEnsemble

# Some checks warn of what they do on purpose.
pytestmark = pytest.mark.filterwarnings("ignore")

COMBINERS = [getattr(spocc.sklearn, name)() for name in spocc.sklearn.__all__ if name != "SpoccEnsemble"]


def members() -> list[tuple[str, Any]]:
    return [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(random_state=0))]


ENSEMBLES = [
    SpoccEnsemble(members()),
    SpoccEnsemble(members(), "spocc"),
    SpoccEnsemble(members(), cv=3),
]


@parametrize_with_checks(COMBINERS + ENSEMBLES)  # type: ignore[untyped-decorator]
def test_every_check_of_scikit_learn_passes(estimator: Any, check: Any) -> None:
    check(estimator)


def test_every_public_estimator_is_checked() -> None:
    checked = {type(estimator).__name__ for estimator in COMBINERS + ENSEMBLES}
    assert checked == set(spocc.sklearn.__all__)
