"""A panel of language models judges which of two answers is better; people judged a few hundred pairs too.

Of the nine voices, two are distilled from a third, one is told to do the opposite, one likes whatever is
long, and one prefers what it reads first, so that it is asked twice, the second time with the answers
swapped. Everything is made up from a seed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import spocc

Labels = NDArray[np.object_]
VERDICTS = np.array(["A", "B", "tie"], dtype=object)


def ask(rng: np.random.Generator, n_pairs: int) -> tuple[dict[str, Labels], Labels]:
    """What every judge says of so many pairs, and what people say."""
    truth = rng.choice(VERDICTS, n_pairs, p=[0.42, 0.42, 0.16])
    longer = rng.choice(VERDICTS[:2], n_pairs)

    def mostly(share: float, what: Labels) -> Labels:
        """Says `what` on that share of the pairs, else anything."""
        return np.where(rng.random(n_pairs) < share, what, rng.choice(VERDICTS, n_pairs))

    quick = mostly(0.55, truth)
    opposite = np.select([truth == "A", truth == "B"], ["B", "A"], "tie").astype(object)
    # It reads one answer first, and on three pairs of ten that is all that counts.
    hasty = rng.random(n_pairs) < 0.3
    careful = mostly(0.7, truth)
    shy = mostly(0.85, truth)
    shy[rng.random(n_pairs) < 0.7] = None
    said = {
        "large": mostly(0.65, truth),
        "quick": quick,
        "quick-mini": mostly(0.95, quick),
        "quick-nano": mostly(0.92, quick),
        "hostile": mostly(0.8, opposite),
        "wordy": mostly(0.9, longer),
        "first": np.where(hasty, "A", careful),
        "first-swapped": np.where(hasty, "B", careful),
        "shy": np.where(rng.random(n_pairs) < 0.7, np.array(None), mostly(0.85, truth)),
    }
    return said, truth


def main() -> None:
    """Audits the panel, combines it, and looks at one decision."""
    rng = np.random.default_rng(7)
    gold, truth = ask(rng, 400)
    new, hidden = ask(rng, 5000)

    model = spocc.fit(gold, truth, calibrate="cross")
    print(str(model.audit()).split("\nwho depends")[0])

    print("right on 5000 other pairs")
    best = max(model.audit().classifiers, key=lambda judge: judge.accuracy * judge.coverage).name
    print(f"  {best + ' alone':<13} {np.mean(new[best] == hidden):.1%}")
    for method in ("majority", "dawid-skene", "ladder"):
        decided = spocc.fit(gold, truth, method=method).predict(new)
        print(f"  {method:<13} {np.mean(decided == hidden):.1%}")

    sets = model.predict_set(new, coverage=0.98)
    held = sets[hidden[:, None] == model.classes]
    one = sets.sum(axis=1) == 1
    print(f"\nsets meant to hold what people say on 98 % of the pairs do so on {held.mean():.1%};")
    print(f"{one.mean():.1%} hold one verdict alone, and people need to see only the rest")

    split = new["first"] != new["first-swapped"]
    row = int(np.flatnonzero(split & ~one)[0])
    print(f"\npair {row} is of that rest; people would say {hidden[row]}\n")
    print(model.explain(new, row))


if __name__ == "__main__":
    main()
