"""One colour per meaning, the same in plots and in HTML.

The colours are those of Okabe and Ito, which people with colour vision deficiencies distinguish, and all are
visible on white and on black.
"""

from __future__ import annotations

__all__ = ["BLUE", "GREEN", "GREY", "OURS", "VERDICTS", "VERMILION", "of_method", "of_verdict"]

BLUE, SKY, GREEN = "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILION, PURPLE, GREY = "#E69F00", "#D55E00", "#CC79A7", "#8C8C8C"

VERDICTS = {
    "useful": BLUE,
    "copy-of": PURPLE,
    "adversary": VERMILION,
    "guesser": ORANGE,
    "unproven": SKY,
    "constant": GREY,
    "no-predictions": GREY,
}
"""The colour of each verdict of an audit."""

OURS = frozenset({"ladder", "spocc", "adaspocc"})
"""The methods of this project and of the paper; all others are rivals."""


def of_verdict(verdict: str) -> str:
    """The colour of a verdict."""
    return VERDICTS.get(verdict, GREY)


def of_method(method: str) -> str | None:
    """The colour of a method; None, the colour of the text, for rivals."""
    return GREEN if method in OURS else None
