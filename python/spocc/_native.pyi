"""The native module: it converts and calls, and holds no arithmetic."""

from collections.abc import Callable
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from spocc._files import FilePath
from spocc._settings import Level, Method, Missing, Normalise, Ties

__all__ = [
    "DEFAULT_FOLDS",
    "DEFAULT_METHOD",
    "DEFAULT_MISSING",
    "DEFAULT_REPEATS",
    "DEFAULT_TIES",
    "METHODS",
    "NONE_OF_THESE",
    "VERSION",
    "Combiner",
    "CompareSettings",
    "Evidence",
    "Model",
    "OpenModel",
    "Options",
    "SpoccError",
    "columns",
    "printable",
    "read",
    "repeated_ids",
    "write",
]

DEFAULT_FOLDS: Final[int]
DEFAULT_METHOD: Final[Method]
DEFAULT_MISSING: Final[Missing]
DEFAULT_REPEATS: Final[int]
DEFAULT_TIES: Final[Ties]
METHODS: Final[tuple[Method, ...]]
NONE_OF_THESE: Final[str]
VERSION: Final[str]

_Progress = Callable[[str, int, int], object]
_Further = tuple[NDArray[np.float64], NDArray[np.uint32], NDArray[np.bool_], NDArray[np.bool_]]

class SpoccError(ValueError): ...

def columns(table: object) -> list[tuple[str, Any]]: ...
def printable(text: str) -> str: ...
def read(data: bytes) -> Evidence | Model: ...
def repeated_ids(ids: list[object], truth: object | None) -> str | None: ...
def write(path: FilePath, data: bytes) -> None: ...

@final
class Combiner:
    def __new__(
        cls,
        method: str,
        *,
        tuning: str | None = None,
        inputs: str | None = None,
        exponent: float | str | None = None,
        strength: float | str | None = None,
    ) -> Combiner: ...
    @property
    def method(self) -> Method: ...
    @property
    def has_probabilities(self) -> bool: ...
    @property
    def uses_unlabelled(self) -> bool: ...
    def counting(self, has_truth: bool, unlabelled: bool | None, needs_tally: bool) -> tuple[Level, bool]: ...

@final
class Options:
    def __new__(
        cls,
        *,
        missing: str,
        ties: str,
        seed: int,
        class_weight: object | None,
        weights: NDArray[np.float64] | None,
        calibrate: str | None,
        per_class: bool,
        evaluate: bool,
    ) -> Options: ...

@final
class Evidence:
    @staticmethod
    def count(
        cells: object,
        names: list[str] | None,
        truth: object | None,
        *,
        classes: object | None,
        weights: NDArray[np.float64] | None,
        counts: NDArray[np.uint64] | None,
        level: str,
        unlabelled: bool,
        open: bool,
        normalise: str,
        memory: int | None,
        progress: _Progress | None,
    ) -> Evidence: ...
    @staticmethod
    def count_long(
        items: object,
        classifiers: object,
        labels: object,
        known: object,
        truth: object,
        *,
        names: list[str] | None,
        classes: object | None,
        level: str,
        unlabelled: bool,
        open: bool,
        normalise: str,
        memory: int | None,
        progress: _Progress | None,
    ) -> Evidence: ...
    @staticmethod
    def from_bytes(data: bytes) -> Evidence: ...
    def to_bytes(self) -> bytes: ...
    def merge(self, other: Evidence, *, memory: int | None = None) -> Evidence: ...
    def select(self, names: list[str]) -> Evidence: ...
    def labelled(self) -> Evidence: ...
    def reduce(self, level: str) -> Evidence: ...
    @property
    def classifiers(self) -> list[str]: ...
    @property
    def classes(self) -> list[Any]: ...
    @property
    def labels(self) -> list[Any]: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def normalise(self) -> Normalise | None: ...
    @property
    def answerable_share(self) -> float | None: ...
    @property
    def n_rows(self) -> float: ...
    @property
    def n_unlabelled(self) -> float: ...
    @property
    def n_patterns(self) -> int | None: ...
    @property
    def level(self) -> Level: ...
    def confusion(self, k: int) -> NDArray[np.float64]: ...
    def column_warnings(self) -> list[str]: ...
    def row_shortages(self) -> list[str]: ...
    def audit(self) -> tuple[str, str]: ...

@final
class Model:
    @staticmethod
    def fit(
        combiner: Combiner,
        evidence: Evidence,
        options: Options,
        *,
        memory: int | None,
        progress: _Progress | None,
    ) -> Model: ...
    @staticmethod
    def from_bytes(data: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    @property
    def method(self) -> Method: ...
    @property
    def classifiers(self) -> list[str]: ...
    @property
    def classes(self) -> list[Any]: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def normalise(self) -> Normalise | None: ...
    @property
    def missing(self) -> Missing: ...
    @property
    def missing_is_answer(self) -> list[bool]: ...
    @property
    def has_probabilities(self) -> bool: ...
    @property
    def calibration(self) -> str | None: ...
    @property
    def held_out_accuracy(self) -> tuple[str, str] | None: ...
    @property
    def row_parts(self) -> list[str]: ...
    @property
    def min_count(self) -> int | None: ...
    @property
    def no_accuracy_reason(self) -> str | None: ...
    @property
    def fitted(self) -> str: ...
    @property
    def evidence(self) -> Evidence | None: ...
    def slim(self, min_count: int) -> tuple[Model, float | None]: ...
    def without_evidence(self) -> Model: ...
    def append(self, evidence: Evidence) -> Model: ...
    def predict_ids(self, cells: object, strict: bool) -> NDArray[np.uint16]: ...
    def decide(self, cells: object, strict: bool) -> tuple[NDArray[np.uint16], _Further]: ...
    def possibility(self, cells: object, strict: bool) -> NDArray[np.float64]: ...
    def probability(self, cells: object, strict: bool) -> NDArray[np.float64]: ...
    def predict_set(
        self, cells: object, strict: bool, coverage: float, seed: int, ids: list[object]
    ) -> NDArray[np.bool_]: ...
    def explain(self, cells: object, row: int) -> tuple[str, str, list[Any]]: ...
    def audit(self) -> tuple[str, str]: ...

@final
class OpenModel:
    def __new__(cls, model: Model) -> OpenModel: ...
    def predict(self, cells: object, strict: bool) -> list[Any]: ...
    def decide(self, cells: object, strict: bool) -> tuple[list[Any], _Further]: ...
    def possibility(self, cells: object, strict: bool) -> list[list[tuple[Any, float]]]: ...
    def probability(self, cells: object, strict: bool) -> list[list[tuple[Any, float]]]: ...
    def predict_set(
        self, cells: object, strict: bool, coverage: float, seed: int, ids: list[object]
    ) -> list[list[Any]]: ...
    def explain(self, cells: object, row: int) -> tuple[str, str, list[Any], list[Any]]: ...

@final
class CompareSettings:
    def __new__(
        cls,
        options: Options,
        *,
        methods: list[str] | None,
        folds: int,
        repeats: int,
        seed: int,
        curve: bool,
    ) -> CompareSettings: ...
    @property
    def uses_unlabelled(self) -> bool: ...
    def compare(
        self,
        evidence: Evidence,
        test: Evidence | None,
        *,
        memory: int | None,
        progress: _Progress | None,
    ) -> tuple[str, str]: ...
