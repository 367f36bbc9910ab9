"""Paths of files."""

from __future__ import annotations

import os

__all__ = ["FilePath"]

FilePath = str | os.PathLike[str]
