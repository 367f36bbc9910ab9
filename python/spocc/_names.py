"""Names and labels as people read them: escaped, and shortened without becoming ambiguous."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from spocc._native import NONE_OF_THESE, printable

__all__ = ["short", "shorten", "title"]


def short(name: object, most: int = 40) -> str:
    """A name with hidden characters escaped, and the middle of a long one replaced by an ellipsis.

    Examples
    --------
    >>> short("a-provider-with-a-name/a-model-with-a-name-v2", 20)
    'a-provide…-a-name-v2'
    """
    text = printable(str(name))
    head, tail = most // 2 - 1, most // 2
    # An ellipsis in place of one or two letters would save nothing.
    return text if len(text) <= most + 2 else f"{text[:head]}…{text[-tail:]}"


def shorten(names: Iterable[object], most: int = 40) -> list[str]:
    """Names that stay distinct: each is shortened as far as no other has the same text.

    Long names that differ only in the middle have their position, from 1, at the end.

    Examples
    --------
    >>> shorten([f"organisation/a-model-of-size-{size}-instruct" for size in (7, 70)], 20)
    ['organisat…7-instruct', 'organisat…0-instruct']
    >>> shorten([f"{30 * 'a'}{letter}{30 * 'z'}" for letter in "xy"], 10)
    ['aaaa…zzzzz #1', 'aaaa…zzzzz #2']
    """
    given = [str(name) for name in names]
    # Labels of several types may have the same text, and are then shown alike.
    whole = {name: position for position, name in reversed(list(enumerate(given, 1)))}
    for length in (most, 3 * most // 2, 2 * most):
        shown = {name: short(name, length) for name in whole}
        if len(set(shown.values())) == len(whole):
            return [shown[name] for name in given]
    shown = {name: short(name, most) for name in whole}
    n_equal = Counter(shown.values())
    return [shown[name] if n_equal[shown[name]] == 1 else f"{shown[name]} #{whole[name]}" for name in given]


def title(label: object) -> str:
    """A class as text; None is any answer that is not given on a row."""
    return NONE_OF_THESE if label is None else str(label)
