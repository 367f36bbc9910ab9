"""Language models judge which of two answers is better; the verdict of people is known for some pairs.

Of the nine judges, two are distilled from a third, one is adversarial, one prefers the longer answer, one has
a missing verdict on most pairs, and one prefers the answer it reads first, so that it is asked twice, the
second time with the answers swapped. The data is simulated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import spocc

Labels = NDArray[np.object_]
VERDICTS = np.array(["A", "B", "tie"], dtype=object)


def ask(rng: np.random.Generator, n_pairs: int) -> tuple[dict[str, Labels], Labels]:
    """The verdict of every judge on a number of pairs, and that of people."""
    truth = rng.choice(VERDICTS, n_pairs, p=[0.42, 0.42, 0.16])
    longer = rng.choice(VERDICTS[:2], n_pairs)

    def mostly(share: float, verdicts: Labels) -> Labels:
        """These verdicts on that share of the pairs, else random ones."""
        return np.where(rng.random(n_pairs) < share, verdicts, rng.choice(VERDICTS, n_pairs))

    quick = mostly(0.55, truth)
    opposite = np.select([truth == "A", truth == "B"], ["B", "A"], "tie").astype(object)
    # On 30 % of the pairs, the answer that is read first is preferred.
    is_biased = rng.random(n_pairs) < 0.3
    careful = mostly(0.7, truth)
    verdicts = {
        "large": mostly(0.65, truth),
        "quick": quick,
        "quick-mini": mostly(0.95, quick),
        "quick-nano": mostly(0.92, quick),
        "hostile": mostly(0.8, opposite),
        "wordy": mostly(0.9, longer),
        "first": np.where(is_biased, "A", careful),
        "first-swapped": np.where(is_biased, "B", careful),
        "selective": np.where(rng.random(n_pairs) < 0.7, np.array(None), mostly(0.85, truth)),
    }
    return verdicts, truth


def main() -> None:
    """Audits the judges, combines them, and explains one decision."""
    rng = np.random.default_rng(7)
    gold, truth = ask(rng, 400)
    new, hidden = ask(rng, 5000)

    model = spocc.fit(gold, truth, calibrate="cross")
    print(str(model.audit()).split("\ndependence")[0])

    print("accuracy on 5000 new pairs")
    best = max(model.audit().classifiers, key=lambda judge: judge.accuracy * judge.coverage).name
    print(f"  {best + ' alone':<13} {np.mean(new[best] == hidden):.1%}")
    for method in ("majority", "dawid-skene", "ladder"):
        decided = spocc.fit(gold, truth, method=method).predict(new)
        print(f"  {method:<13} {np.mean(decided == hidden):.1%}")

    sets = model.predict_set(new, coverage=0.98)
    covered = sets[hidden[:, None] == model.classes]
    single = sets.sum(axis=1) == 1
    print(f"\nconformal sets at a coverage of 98 % contain the truth on {covered.mean():.1%} of the pairs;")
    print(f"{single.mean():.1%} contain one verdict, so that people need to review only the others")

    differs = new["first"] != new["first-swapped"]
    row = int(np.flatnonzero(differs & ~single)[0])
    print(f"\npair {row}, one of the others; the truth is {hidden[row]}\n")
    print(model.explain(new, row))


if __name__ == "__main__":
    main()
