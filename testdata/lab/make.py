"""Writes learners.json: small inputs and what scikit-learn makes of them.

Run `python make.py` beside this file, with scikit-learn 1.9; see ../README.md.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier


def blobs(draws, n_rows):
    """Four overlapping blobs in a chequerboard, and their classes."""
    centres = np.array([[-1.5, -1.5], [1.5, 1.5], [-1.5, 1.5], [1.5, -1.5]])
    blob = np.arange(n_rows) % 4
    return (centres[blob] + draws.normal(size=(n_rows, 2))).round(3), blob // 2


def logistic(rows, classes, strength):
    model = LogisticRegression(C=strength, solver="newton-cholesky", tol=1e-10, max_iter=10000)
    model.fit(rows, classes)
    scores = model.decision_function(rows)
    if scores.ndim == 1:
        losses = np.logaddexp(0, np.where(classes == model.classes_[1], -scores, scores))
    else:
        target = scores[np.arange(len(rows)), np.searchsorted(model.classes_, classes)]
        losses = np.logaddexp.reduce(scores, axis=1) - target
    intercept = model.intercept_
    # A constant added to all outputs of a softmax changes nothing: the centred one is what is compared.
    if len(intercept) > 1:
        intercept = intercept - intercept.mean()
    return {
        "rows": rows.tolist(),
        "classes": classes.tolist(),
        "strength": strength,
        "weights": model.coef_.T.tolist(),
        "intercepts": intercept.tolist(),
        "objective": 0.5 * (model.coef_**2).sum() + strength * losses.sum(),
    }


def unscaled(draws):
    """Three of five classes; features of very different sizes, far from zero, one nearly the sum of others."""
    centres = np.array([[0, 0, 0, 0], [1, 0.5, 0, -1], [0.3, -1, 1, 0.5]])
    position = draws.integers(3, size=150)
    rows = centres[position] + draws.normal(size=(150, 4))
    rows[:, 3] = rows[:, :3].sum(axis=1) + 0.05 * rows[:, 3]
    rows = rows * [100, 1, 0.01, 30] + [1000, -5, 1, 0]
    return rows.round(4), np.array([0, 2, 4])[position]


def nodes(tree, at=0):
    """Nodes in preorder: [feature, threshold], or [class] for a leaf."""
    if tree.children_left[at] < 0:
        return [[int(tree.value[at][0].argmax())]]
    here = [int(tree.feature[at]), float(tree.threshold[at])]
    return [here, *nodes(tree, tree.children_left[at]), *nodes(tree, tree.children_right[at])]


def tree(draws, max_depth):
    # Sixty-fourths, because scikit-learn rounds features to 32 bits.
    rows = (draws.normal(size=(200, 3)) * 64).round() / 64
    classes = ((rows[:, 0] > 0.2).astype(int) + (rows[:, 1] * rows[:, 2] > 0) + draws.integers(2, size=200)) % 3
    points = (draws.normal(size=(150, 3)) * 64).round() / 64
    models = [DecisionTreeClassifier(max_depth=max_depth, random_state=seed) for seed in range(30)]
    found = [nodes(model.fit(rows, classes).tree_) for model in models]
    assert all(other == found[0] for other in found), "a tie that scikit-learn breaks at random"
    return {
        "max_depth": max_depth,
        "rows": rows.tolist(),
        "classes": classes.tolist(),
        "nodes": found[0],
        "points": points.tolist(),
        "answers": models[0].predict(points).tolist(),
    }


def svm(draws):
    rows, classes = blobs(draws, 120)
    points = draws.uniform(-4, 4, size=(150, 2)).round(3)
    model = SVC(gamma=2.0, C=1.0, tol=1e-9).fit(rows, classes)
    return {
        "gamma": 2.0,
        "strength": 1.0,
        "rows": rows.tolist(),
        "classes": classes.tolist(),
        "points": points.tolist(),
        "decisions": model.decision_function(points).round(9).tolist(),
        "answers": model.predict(points).tolist(),
    }


def neighbours(draws):
    rows = draws.normal(size=(120, 3)).round(3)
    classes = draws.integers(3, size=120)
    points = draws.normal(size=(150, 3)).round(3)
    model = KNeighborsClassifier(n_neighbors=5).fit(rows, classes)
    distances = model.kneighbors(points, n_neighbors=6)[0]
    assert (distances[:, 5] > distances[:, 4]).all(), "a tie that scikit-learn leaves to chance"
    return {
        "k": 5,
        "rows": rows.tolist(),
        "classes": classes.tolist(),
        "points": points.tolist(),
        "answers": model.predict(points).tolist(),
    }


def principal(draws):
    rows = (draws.normal(size=(80, 6)) @ draws.normal(size=(6, 6)) + 20).round(3)
    component = PCA(n_components=1, svd_solver="full").fit(rows).components_[0]
    component *= np.sign(component[np.abs(component).argmax()])
    return {"rows": rows.tolist(), "component": component.tolist()}


def main():
    draws = np.random.default_rng(20201)
    two = blobs(draws, 100)
    cases = {
        "logistic": [
            logistic(*unscaled(draws), strength=1.0),
            logistic(*unscaled(draws), strength=30.0),
            logistic(two[0] * [1000, 0.1], (two[0][:, 0] + draws.normal(size=100) > 0).astype(int), strength=1.0),
        ],
        "tree": [tree(draws, max_depth=2), tree(draws, max_depth=4)],
        "svm": svm(draws),
        "neighbours": neighbours(draws),
        "principal": principal(draws),
    }
    Path(__file__).with_name("learners.json").write_text(json.dumps(cases) + "\n")


if __name__ == "__main__":
    main()
