"""Three hospitals that may not share rows fit one model: they share counts, and counts add up.

The model of the sum equals the model of the pooled rows, byte for byte. The data is simulated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import spocc

Labels = NDArray[np.str_]
FINDINGS = np.array(["benign", "malignant", "normal"])
READERS = {"radiologist": 0.75, "model-x": 0.6, "model-y": 0.55, "trainee": 0.3}
HOSPITALS = {"north": (400, [0.2, 0.1, 0.7]), "south": (250, [0.3, 0.3, 0.4]), "west": (90, [0.3, 0.0, 0.7])}


def scans(rng: np.random.Generator, n_rows: int, shares: list[float]) -> tuple[dict[str, Labels], Labels]:
    """The predictions of every reader for the scans of a hospital, and the true findings."""
    truth = rng.choice(FINDINGS, n_rows, p=shares)
    predictions = {
        name: np.where(rng.random(n_rows) < skill, truth, rng.choice(FINDINGS, n_rows))
        for name, skill in READERS.items()
    }
    return predictions, truth


def main() -> None:
    """Counts at every site, merges the counts, and compares with the model of all rows."""
    rng = np.random.default_rng(3)
    rows = {name: scans(rng, *size) for name, size in HOSPITALS.items()}

    sent: list[bytes] = []
    for name, (predictions, truth) in rows.items():
        tally = spocc.Evidence(predictions, truth).to_bytes()  # patterns with their counts; no ids, no order
        print(f"{name:<6} {len(truth):>4} scans stay, {len(tally):>5} bytes of counts leave")
        sent.append(tally)

    together = spocc.fit(sum(spocc.Evidence.from_bytes(tally) for tally in sent))
    all_rows = {name: np.concatenate([columns[name] for columns, _ in rows.values()]) for name in READERS}
    pooled = spocc.fit(all_rows, np.concatenate([truth for _, truth in rows.values()]))
    print(f"\n{together}")
    same = together.to_bytes() == pooled.to_bytes()
    print(f"the model of all rows in one place has {'the same' if same else 'OTHER'} bytes")

    predictions, truth = scans(rng, 5000, [0.3, 0.2, 0.5])
    print("\naccuracy on 5000 new scans")
    for name, tally in zip(rows, sent, strict=True):
        alone = spocc.fit(spocc.Evidence.from_bytes(tally))
        print(f"  {name + ' alone':<12} {np.mean(alone.predict(predictions) == truth):.1%}")
    print(f"  {'together':<12} {np.mean(together.predict(predictions) == truth):.1%}")


if __name__ == "__main__":
    main()
