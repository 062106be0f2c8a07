"""Question sets without official train and dev files: what they are called and how their files are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import arc, popqa
from .errors import ConfigError
from .records import Record

TASK_FORMATS: dict[str, Callable[[Path], list[Record]]] = {popqa.NAME: popqa.read, arc.NAME: arc.read}


def read_task(name: str, file: Path) -> list[Record]:
    """Read a file of questions in one of the formats that CRAG works on.

    Raises:
        ConfigError: if there is no such format.
        DataError: if the file cannot be read, holds no question, or one is malformed; the message gives file and line.
    """
    if name not in TASK_FORMATS:
        raise ConfigError(f"unknown task format {name!r}: expected one of {', '.join(TASK_FORMATS)}")
    return TASK_FORMATS[name](file)
