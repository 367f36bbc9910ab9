"""Progress of long calls: a callback, or a tqdm bar if tqdm is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Progress", "bar"]

Progress = Callable[[str, int, int], object]
"""Called with the stage, the units done and the total number of units."""


@contextmanager
def bar(progress: bool | Progress) -> Iterator[Progress | None]:
    """A callback for (stage, done, total): the given one, that of a tqdm bar, or None."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    shown: Any = tqdm(leave=False)

    def show(stage: str, done: int, total: int) -> None:
        shown.set_description_str(stage, refresh=False)
        shown.total = total
        shown.n = done
        shown.refresh()

    try:
        yield show
    finally:
        shown.close()
