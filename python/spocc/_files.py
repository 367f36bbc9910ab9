"""Atomic writes: a file appears complete or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

__all__ = ["FilePath", "write"]

FilePath = str | os.PathLike[str]


def write(path: FilePath, data: bytes) -> None:
    """Writes a temporary file and moves it to its path: an old file stays until the new one is complete."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            # The error names the path that the caller gave, not the temporary file.
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise
