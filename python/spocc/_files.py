"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

__all__ = ["FilePath", "write"]

FilePath = str | os.PathLike[str]


def write(path: FilePath, data: bytes) -> None:
    """Writes a file beside its place and moves it there: what was there stays until all is written."""
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
            # Who saved knows of no other file.
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise
