"""Warnings about the columns and rows that were counted, as the command prints them."""

from __future__ import annotations

import warnings

from spocc import _native

__all__ = ["ColumnWarning", "RowWarning", "SlimWarning", "warn_of_columns", "warn_of_rows", "warn_of_slim"]


class ColumnWarning(UserWarning):
    """A column that is counted as a classifier looks like an id, a group or the truth itself."""


class RowWarning(UserWarning):
    """Labelled rows are too few, of some classes to learn from or of all to evaluate on, or repeat ids."""


class SlimWarning(UserWarning):
    """A slim model decides some rows differently than the model that it was made from."""


def warn_of_columns(evidence: _native.Evidence) -> None:
    """Warns the caller of a public function of columns that do not look like classifiers."""
    for line in evidence.column_warnings():
        warnings.warn(line, ColumnWarning, stacklevel=3)


def warn_of_rows(*lines: str | None) -> None:
    """Warns the caller of a public function of what the rows lack."""
    for line in lines:
        if line is not None:
            warnings.warn(line, RowWarning, stacklevel=3)


def warn_of_slim(n_changed: float, min_count: int) -> None:
    """Warns the caller of a public function of rows that a slim model decides differently."""
    line = (
        f"slim: {n_changed:.0f} rows of the fit are decided differently without counts of fewer than "
        f"{min_count} rows"
    )
    warnings.warn(line, SlimWarning, stacklevel=3)
