"""Replaces a VotingClassifier by a SpoccEnsemble of the same estimators, in one changed line.

Two panels classify handwritten digits: four different classifiers, and the same four together with six trees
that use only the middle of the picture and mostly agree with each other. In a vote the six trees prevail. The
ensemble measures accuracy and dependence on held-out rows.
"""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from spocc.sklearn import SpoccEnsemble

DIFFERENT: list[tuple[str, Any]] = [
    ("linear", LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2)),
    ("neighbours", KNeighborsClassifier(15)),
    ("bayes", GaussianNB(var_smoothing=1e-3)),
    ("tree", DecisionTreeClassifier(random_state=0)),
]
MIDDLE = ColumnTransformer([("middle", "passthrough", slice(24, 40))])
ALIKE: list[tuple[str, Any]] = [
    (f"small-{seed}", make_pipeline(MIDDLE, DecisionTreeClassifier(max_depth=5, random_state=seed)))
    for seed in range(6)
]


def rivals(estimators: list[tuple[str, Any]]) -> dict[str, Any]:
    """Ways to combine classifiers: the second and third use probabilities, the others labels."""
    final = LogisticRegression(max_iter=1000)
    return {
        "VotingClassifier(estimators)": VotingClassifier(estimators),
        "VotingClassifier(estimators, voting='soft')": VotingClassifier(estimators, voting="soft"),
        "StackingClassifier(estimators)": StackingClassifier(estimators, final),
        "SpoccEnsemble(estimators)": SpoccEnsemble(estimators),
        "SpoccEnsemble(estimators, holdout=0.2)": SpoccEnsemble(estimators, holdout=0.2),
    }


def main() -> None:
    """Trains all of them and prints their accuracy on test digits."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    print(f"accuracy on {len(y_test)} digits after training on {len(y_train)}\n")
    print(f"{'':<44} {'four different':>16} {'and six trees':>16}")
    panels = [rivals(DIFFERENT), rivals(DIFFERENT + ALIKE)]
    for name in panels[0]:
        scores = [panel[name].fit(X_train, y_train).score(X_test, y_test) for panel in panels]
        print(f"{name:<44} {scores[0]:>16.1%} {scores[1]:>16.1%}")
    print()
    print(str(panels[1]["SpoccEnsemble(estimators)"].audit_).split("\n\nrelabel")[0])


if __name__ == "__main__":
    main()
