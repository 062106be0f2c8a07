"""The task behind ``gymnasium.make`` without arguments: a small synthetic world and the packaged reader."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..actions.engine import Engine
from ..data.errors import ConfigError
from ..data.records import Record
from ..generation.extractive import ExtractiveGenerator
from .build import build_retriever, load_records
from .settings import TaskSettings


def with_default_task(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the environment, with ``records`` and ``engine`` filled in where both are missing.

    Raises:
        ConfigError: if only one of the two is given, since questions and corpus belong together.
    """
    given = [name for name in ("records", "engine") if arguments.get(name) is not None]
    if len(given) == 1:
        raise ConfigError(f"give records and engine together, or neither; found only {given[0]}")
    if given:
        return dict(arguments)
    records, engine = default_task()
    return {**arguments, "records": records, "engine": engine}


@lru_cache(maxsize=1)
def default_task() -> tuple[list[Record], Engine]:
    """Return the train questions of the default synthetic world, and an engine over its passages."""
    settings = TaskSettings()
    return load_records(settings, "train"), Engine(build_retriever(settings), ExtractiveGenerator.default())
