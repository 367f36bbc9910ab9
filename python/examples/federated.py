"""Three hospitals that may not share rows train one model: they share counts, and counts add up.

The model made of the sum is that of the pooled rows, byte for byte. Everything is made up from a seed.
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
    """What every reader says of the scans of a hospital, and what was found in the end."""
    truth = rng.choice(FINDINGS, n_rows, p=shares)
    said = {
        name: np.where(rng.random(n_rows) < skill, truth, rng.choice(FINDINGS, n_rows))
        for name, skill in READERS.items()
    }
    return said, truth


def main() -> None:
    """Counts at every site, sums what was sent, and compares with the model of all rows."""
    rng = np.random.default_rng(3)
    rows = {name: scans(rng, *size) for name, size in HOSPITALS.items()}

    sent: list[bytes] = []
    for name, (said, truth) in rows.items():
        tally = spocc.Evidence(said, truth).to_bytes()  # no ids, no order, no rows: patterns and how often
        print(f"{name:<6} {len(truth):>4} scans stay, {len(tally):>5} bytes of counts leave")
        sent.append(tally)

    together = spocc.fit(sum(spocc.Evidence.from_bytes(tally) for tally in sent))
    pooled_said = {name: np.concatenate([said[name] for said, _ in rows.values()]) for name in READERS}
    pooled = spocc.fit(pooled_said, np.concatenate([truth for _, truth in rows.values()]))
    print(f"\n{together}")
    same = together.to_bytes() == pooled.to_bytes()
    print(f"the model of all rows in one place has {'the same' if same else 'OTHER'} bytes")

    said, truth = scans(rng, 5000, [0.3, 0.2, 0.5])
    print("\nright on 5000 new scans")
    for name, tally in zip(rows, sent, strict=True):
        alone = spocc.fit(spocc.Evidence.from_bytes(tally))
        print(f"  {name + ' alone':<12} {np.mean(alone.predict(said) == truth):.1%}")
    print(f"  {'together':<12} {np.mean(together.predict(said) == truth):.1%}")


if __name__ == "__main__":
    main()
