"""Evidence: counts that add up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spocc import _native, _tables
from spocc._files import FilePath, write
from spocc._native import SpoccError
from spocc._progress import Progress, bar
from spocc._reports import Audit, html, shown

__all__ = ["Evidence"]


class Evidence:
    """Counts of how a panel answered rows whose truth is known: all that any method learns from.

    Parameters
    ----------
    answers
        What every classifier said: a 2-d array, a list of rows, a dict of columns, a data frame of pandas or
        polars, a table of Arrow or anything that speaks its PyCapsule interface. None, NaN and their kin are
        silence.
    truth
        One label per row, missing where it is not known; None if nobody knows any.
    names
        Names of the classifiers: of the columns of an array in their order (default: x0, x1, ..); of a table
        that has names, which columns to take (default: all).
    classes
        Exactly the classes that may be decided, in the order in which ties are resolved, and as they come
        back; by default the truths and what else the rows show to be classes. Labels then come back in the
        kind of the truth: as texts if the truth holds texts, as integers if it holds integers, however the
        classifiers write them.
    weights
        A weight per row.
    counts
        How often each row occurred, where equal rows were grouped before.
    level
        How much to keep: ``"tally"`` (everything), ``"pairs"`` or ``"marginals"``.
    unlabelled
        Whether rows without truth are counted too, for the methods that learn from them.
    memory
        Bytes that any one table may need.
    progress
        Whether to show a bar (where tqdm is installed), or a function of stage, done and total.

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
    """

    __slots__ = ("_engine",)
    _engine: _native.Evidence

    def __init__(
        self,
        answers: object,
        truth: object = None,
        *,
        names: Iterable[object] | None = None,
        classes: object = None,
        weights: object = None,
        counts: object = None,
        level: str = "tally",
        unlabelled: bool = False,
        memory: int | None = None,
        progress: bool | Progress = False,
    ) -> None:
        chosen = _tables.strings("names", names)
        with bar(progress) as callback:
            self._engine = _native.Evidence.count(
                _tables.table(answers, chosen),
                chosen,
                None if truth is None else _tables.column("truth", truth),
                classes=None if classes is None else _tables.column("classes", classes),
                weights=_tables.numbers("weights", weights, np.float64),
                counts=_tables.numbers("counts", counts, np.uint64),
                level=level,
                unlabelled=unlabelled,
                memory=None if memory is None else _tables.whole("memory", memory),
                progress=callback,
            )

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
        level: str = "tally",
        unlabelled: bool = False,
        memory: int | None = None,
        progress: bool | Progress = False,
    ) -> Evidence:
        """Counts a table with a row per answer: which item, who, what.

        The truth is by item: a dict, or a series of pandas with the items as its index. Items without truth
        are left out unless ``unlabelled`` asks for them.

        Examples
        --------
        >>> import spocc
        >>> items, who, said = [1, 1, 2], ["ann", "bob", "ann"], ["cat", "dog", "dog"]
        >>> spocc.Evidence.from_long(items, who, said, {1: "cat", 2: "dog"})
        Evidence(2 classifiers, 2 rows, 2 classes: cat, dog; tally of 2 patterns)
        """
        with bar(progress) as callback:
            native = _native.Evidence.count_long(
                _tables.column("items", items),
                _tables.column("classifiers", classifiers),
                _tables.column("labels", labels),
                *_tables.gold(truth),
                names=_tables.strings("names", names),
                classes=None if classes is None else _tables.column("classes", classes),
                level=level,
                unlabelled=unlabelled,
                memory=None if memory is None else _tables.whole("memory", memory),
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
        """The classes in the kind of the truth, in the order in which ties are resolved."""
        return _tables.labels(self._engine.classes)

    @property
    def labels(self) -> NDArray[Any]:
        """The classes, then other answers, which are never decided."""
        return _tables.labels(self._engine.labels)

    @property
    def n_rows(self) -> float:
        """Number of rows whose truth is known, or the sum of their weights."""
        return self._engine.n_rows

    @property
    def n_unlabelled(self) -> float:
        """Number of rows counted without their truth, or the sum of their weights."""
        return self._engine.n_unlabelled

    @property
    def level(self) -> str:
        """How much it holds: tally, pairs or marginals."""
        return self._engine.level

    def confusion(self, classifier: str | int) -> NDArray[np.float64]:
        """How often a classifier predicted each label (columns) when each class (rows) was true.

        As ``sklearn.metrics.confusion_matrix``; rows are `classes`, columns are `labels`, which may be more.
        """
        names = self.classifiers
        k = names.index(classifier) if isinstance(classifier, str) and classifier in names else classifier
        if isinstance(k, str) or not 0 <= k < len(names):
            known = ", ".join(names[:8])
            raise SpoccError(f"classifier {classifier!r}: expected one of {known}, found no such")
        return np.ascontiguousarray(self._engine.confusion(k).T)

    def select(self, names: Iterable[object]) -> Evidence:
        """The evidence about these classifiers only, in this order."""
        return Evidence._of(self._engine.select(_tables.strings("names", names) or []))

    def reduce(self, level: str) -> Evidence:
        """The same rows with less detail."""
        return Evidence._of(self._engine.reduce(level))

    def audit(self) -> Audit:
        """Who is worth listening to, who guesses, copies, lies or keeps silent."""
        return Audit(*self._engine.audit())

    def to_bytes(self) -> bytes:
        """The bytes of a tally file, which every face of spocc reads: the same rows, the same bytes."""
        return self._engine.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> Evidence:
        """Reads the bytes of a tally file."""
        return Evidence._of(_native.Evidence.from_bytes(data))

    def save(self, path: FilePath) -> None:
        """Writes a tally file."""
        write(path, self.to_bytes())

    def __add__(self, other: Evidence) -> Evidence:
        if not isinstance(other, Evidence):
            return NotImplemented
        return Evidence._of(self._engine.merge(other._engine))

    def __radd__(self, other: object) -> Evidence:
        # What `sum` begins with.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evidence):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Callable[[bytes], Evidence], tuple[bytes]]:
        return Evidence.from_bytes, (self.to_bytes(),)

    def _rows(self) -> str:
        rows = f"{self.n_rows:g} rows"
        return f"{rows} and {self.n_unlabelled:g} without truth" if self.n_unlabelled > 0 else rows

    def _held(self) -> str:
        n_patterns = self._engine.n_patterns
        return self.level if n_patterns is None else f"tally of {n_patterns} patterns"

    def __repr__(self) -> str:
        classes = [str(label) for label in self._engine.classes]
        some = ", ".join(classes[:6]) + (", .." if len(classes) > 6 else "")
        n = len(self.classifiers)
        return f"Evidence({n} classifiers, {self._rows()}, {len(classes)} classes: {some}; {self._held()})"

    def _repr_html_(self) -> str:
        rows = [
            ["classifiers", shown(self.classifiers)],
            ["rows", self._rows()],
            ["classes", shown(self._engine.classes)],
            ["level", self._held()],
        ]
        return html("Evidence", [], rows)
