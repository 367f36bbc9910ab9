"""Evidence: mergeable counts of predictions and true labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spocc import _html, _input, _native, _open
from spocc._files import FilePath
from spocc._native import SpoccError, printable
from spocc._progress import Progress, bar
from spocc._reports import Audit, first
from spocc._rows import Names, Rows
from spocc._settings import Level, Normalise
from spocc._warnings import warn_of_rows

__all__ = ["Evidence", "refuse_beside_evidence"]


class Evidence:
    """Counts of the predictions of a panel on labelled and unlabelled rows: all that a method learns from.

    Evidence of separate rows adds up exactly, in any order: ``a + b`` is the evidence of the rows of both.

    Parameters
    ----------
    predictions
        A column per classifier: a 2-d array, a list of rows, a dict of columns, a data frame of pandas or
        polars, an Arrow table, or any object with the Arrow PyCapsule interface. None, NaN and masked cells
        are missing predictions.
    truth
        One label per row, missing where it is not known; None if no truth is known. A text is the name of a
        column of ``predictions``, which is then no classifier. A pandas Series is aligned to the index of
        ``predictions``, which must have the same labels, if these are a data frame of pandas or a dict of
        Series. Anything else is in the order of the rows.
    names
        Names of the classifiers: for an array, of its columns in order (default: x0, x1, ..); for a table
        with column names, the columns to use (default: all that have no other use).
    ignore
        The name of a column that is no classifier, or several names.
    id
        The name of the column that identifies the rows, or of several that do together. They are no
        classifiers, and rows with the same id are warned of.
    classes
        The classes that may be decided, in the order in which ties are resolved. By default the true labels,
        and predicted labels unless the rows show that they are no classes. Decisions have the type of these
        labels, or of the truth, however the classifiers write them.
    weights
        A weight per row: the name of a column or values, as for ``truth``.
    counts
        How often each row occurs, if equal rows are already grouped, likewise.
    level
        The detail to keep: ``"tally"`` (all), ``"pairs"`` or ``"marginals"``.
    unlabelled
        Whether rows without truth are counted in a tally too, for the methods that use them. Of more than
        65 536 distinct patterns of such rows a sample is kept, chosen by hash.
    open
        Whether the answers are open: any texts or numbers, also with a fraction, instead of labels of fixed
        classes. The candidates of a row are then the distinct answers given on it, and only their agreement
        is counted. There are no ``classes``, and ``level`` is ``"tally"``.
    normalise
        Which open answers are the same: equal ones (``"none"``), equal numbers such as ``"$1,000"`` and
        1000.0 (``"number"``), or texts that differ at most in case, blanks, and marks at their ends
        (``"text"``, as texts that are no numbers are compared by ``"number"``).
    memory
        Bytes that any one table may need.
    progress
        True for a progress bar (needs tqdm), or a function of stage, done and total.

    Warns
    -----
    RowWarning
        For rows that repeat the ``id`` of another row. All of them are counted.

    Examples
    --------
    >>> import spocc
    >>> monday = spocc.Evidence([["cat", "dog"], ["dog", "dog"]], ["cat", "dog"], names=["ann", "bob"])
    >>> tuesday = spocc.Evidence([["cat", None]], ["cat"], names=["ann", "bob"])
    >>> monday + tuesday
    Evidence(2 classifiers, 3 rows, 2 classes: cat, dog; tally of 3 patterns)
    >>> (monday + tuesday).confusion("ann")
    array([[2., 0.],
           [0., 1.]])
    >>> answers = {"ann": ["$1,000", "12.5", "no"], "bob": [1000.0, 13, None]}
    >>> evidence = spocc.Evidence(answers, ["1000", "12.5", "yes"], open=True, normalise="number")
    >>> evidence
    Evidence(2 classifiers, 3 rows, open answers (normalise: number); tally of 3 patterns)
    >>> round(evidence.answerable_share, 2)  # nobody answers yes
    0.67
    >>> table = {"item": [7, 8], "ann": ["cat", "dog"], "bob": ["dog", "dog"], "gold": ["cat", "dog"]}
    >>> spocc.Evidence(table, "gold", id="item").classifiers
    ['ann', 'bob']
    """

    __slots__ = ("_engine",)
    _engine: _native.Evidence

    def __init__(
        self,
        predictions: object,
        truth: object = None,
        *,
        names: Iterable[object] | None = None,
        ignore: Names | None = None,
        id: Names | None = None,
        classes: object = None,
        weights: object = None,
        counts: object = None,
        level: Level = "tally",
        unlabelled: bool = True,
        open: bool = False,
        normalise: Normalise = "none",
        memory: int | None = None,
        progress: bool | Progress = False,
    ) -> None:
        rows = Rows(predictions, names, ignore, id)
        with bar(progress) as callback:
            self._engine, repeated_ids = rows.count(
                truth,
                classes=classes,
                weights=weights,
                counts=counts,
                level=level,
                unlabelled=unlabelled,
                open=open,
                normalise=normalise,
                memory=memory,
                progress=callback,
            )
        warn_of_rows(repeated_ids)

    @classmethod
    def from_long(
        cls,
        items: object,
        classifiers: object,
        labels: object,
        truth: object = None,
        *,
        names: Iterable[object] | None = None,
        classes: object = None,
        level: Level = "tally",
        unlabelled: bool = True,
        open: bool = False,
        normalise: Normalise = "none",
        memory: int | None = None,
        progress: bool | Progress = False,
    ) -> Evidence:
        """Counts a table with one row per prediction: item, classifier and label.

        The truth is given by item: a dict, or a pandas Series indexed by item. Items without truth are
        unlabelled rows. Labels may be ``open`` answers.

        Examples
        --------
        >>> import spocc
        >>> items, workers, labels = [1, 1, 2], ["ann", "bob", "ann"], ["cat", "dog", "dog"]
        >>> spocc.Evidence.from_long(items, workers, labels, {1: "cat", 2: "dog"})
        Evidence(2 classifiers, 2 rows, 2 classes: cat, dog; tally of 2 patterns)
        """
        with bar(progress) as callback:
            native = _native.Evidence.count_long(
                _input.column("items", items),
                _input.column("classifiers", classifiers),
                _input.column("labels", labels),
                *_input.truth_by_item(truth),
                names=_input.strings("names", names),
                classes=None if classes is None else _input.column("classes", classes),
                level=level,
                unlabelled=unlabelled,
                open=open,
                normalise=normalise,
                memory=None if memory is None else _input.whole("memory", memory),
                progress=callback,
            )
        return cls._of(native)

    @classmethod
    def _of(cls, native: _native.Evidence) -> Evidence:
        evidence = cls.__new__(cls)
        evidence._engine = native
        return evidence

    @property
    def classifiers(self) -> list[str]:
        """Names of the classifiers."""
        return self._engine.classifiers

    @property
    def classes(self) -> NDArray[Any]:
        """The classes in the order in which ties are resolved; open answers have none."""
        return _input.labels(self._engine.classes)

    @property
    def labels(self) -> NDArray[Any]:
        """The classes, then the other predicted labels, which are never decided; open answers have none."""
        return _input.labels(self._engine.labels)

    @property
    def is_open(self) -> bool:
        """Whether the answers are open: any texts or numbers instead of labels of fixed classes."""
        return self._engine.is_open

    @property
    def normalise(self) -> Normalise | None:
        """Which open answers are the same: none, number or text; None for labels of classes."""
        return self._engine.normalise

    @property
    def answerable_share(self) -> float | None:
        """Share of the labelled rows on which some classifier gives the true answer.

        No decision is correct on the other rows. None if no row is labelled, and for labels of classes.
        """
        return self._engine.answerable_share

    @property
    def n_rows(self) -> float:
        """Number of labelled rows, or the sum of their weights."""
        return self._engine.n_rows

    @property
    def n_unlabelled(self) -> float:
        """Number of rows without truth that were counted, or the sum of their weights."""
        return self._engine.n_unlabelled

    @property
    def level(self) -> Level:
        """The level of detail: tally, pairs or marginals."""
        return self._engine.level

    def confusion(self, classifier: str | int) -> NDArray[np.float64]:
        """How often a classifier predicted each label (columns) when each class (rows) was true.

        As ``sklearn.metrics.confusion_matrix``, except that the columns are `labels`, which include labels
        that are no classes. Open answers have no such table.
        """
        names = self.classifiers
        k = names.index(classifier) if isinstance(classifier, str) and classifier in names else classifier
        if isinstance(k, str) or not 0 <= k < len(names):
            known = printable(", ".join(names[:8]))
            raise SpoccError(f"classifier {classifier!r}: expected one of {known}, found no such")
        return np.ascontiguousarray(self._engine.confusion(k).T)

    def select(self, names: Iterable[object]) -> Evidence:
        """The evidence of these classifiers only, in this order."""
        return Evidence._of(self._engine.select(_input.strings("names", names) or []))

    def _labelled(self) -> Evidence:
        """The evidence of the labelled rows only."""
        return Evidence._of(self._engine.labelled())

    def reduce(self, level: Level) -> Evidence:
        """The same rows at a lower level of detail."""
        return Evidence._of(self._engine.reduce(level))

    def audit(self) -> Audit:
        """The accuracy of every classifier, and which of them are copies, guessers or adversaries."""
        return Audit(*self._engine.audit())

    def to_bytes(self) -> bytes:
        """The bytes of an evidence file, which the command reads too; equal evidence has equal bytes."""
        return self._engine.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> Evidence:
        """Reads the bytes of an evidence file."""
        return Evidence._of(_native.Evidence.from_bytes(data))

    def save(self, path: FilePath) -> None:
        """Writes an evidence file, as the command does: it is replaced as a whole or not at all.

        An old file keeps its mode. The target of a link is replaced. Pipes and devices are written to.
        """
        _native.write(path, self.to_bytes())

    def __add__(self, other: Evidence) -> Evidence:
        if not isinstance(other, Evidence):
            return NotImplemented
        return Evidence._of(self._engine.merge(other._engine))

    def __radd__(self, other: object) -> Evidence:
        # The start value of `sum`.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evidence):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    # A state, and no `__reduce__`, so that skops can load what it has dumped.
    def __getstate__(self) -> dict[str, bytes]:
        return {"file": self.to_bytes()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        self._engine = _native.Evidence.from_bytes(state["file"])

    def _rows(self) -> str:
        if self.n_unlabelled > 0:
            return f"{self.n_rows:.16g} labelled and {self.n_unlabelled:.16g} unlabelled rows"
        return f"{self.n_rows:g} rows"

    def _detail(self) -> str:
        n_patterns = self._engine.n_patterns
        return self.level if n_patterns is None else f"tally of {n_patterns} patterns"

    def _labels(self) -> str:
        if self.is_open:
            return _open.described(self.normalise)
        classes = [str(label) for label in self._engine.classes]
        return f"{len(classes)} classes: {first(classes, 6)}"

    def __repr__(self) -> str:
        n = len(self.classifiers)
        return f"Evidence({n} classifiers, {self._rows()}, {self._labels()}; {self._detail()})"

    def _repr_html_(self) -> str:
        entries = {
            "classifiers": _html.names(self.classifiers),
            "rows": self._rows(),
            "classes": self._labels() if self.is_open else _html.names(self._engine.classes),
            "level": self._detail(),
        }
        return _html.page(_html.text("Evidence", "head"), _html.entries(entries))


def refuse_beside_evidence(open: bool, normalise: Normalise, **given: object) -> None:
    """Refuses keywords that describe a table where evidence is given instead of one."""
    given |= {"open": open or None, "normalise": None if normalise == "none" else normalise}
    for name, value in given.items():
        if value is not None:
            raise SpoccError(f"{name}: expected none beside evidence, which holds its own, found one")
