"""The task behind ``gymnasium.make`` without arguments: a small synthetic world and the packaged reader."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..actions.engine import Engine
from ..actions.operation_set import GATE
from ..actions.rules import Rules
from ..confidence.packaged import PACKAGED
from ..data.errors import ConfigError
from ..data.records import Record
from ..generation.extractive import ExtractiveGenerator
from ..retrieval.external_settings import HALF, ExternalSettings
from .build import build_external, build_retriever, build_rules, load_judge, load_records
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
    rules = arguments.get("rules")
    gated = isinstance(rules, Rules) and GATE in rules.operations.names
    records, engine = gated_task() if gated else default_task()
    return {**arguments, "records": records, "engine": engine}


def with_gate(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with rules that hold the corrective gate, where none are given."""
    return {"rules": build_rules(_gated_settings()), **arguments}


@lru_cache(maxsize=1)
def default_task() -> tuple[list[Record], Engine]:
    """Return the train questions of the default synthetic world, and an engine over its passages."""
    settings = TaskSettings()
    return load_records(settings, "train"), Engine(build_retriever(settings), ExtractiveGenerator.default())


@lru_cache(maxsize=1)
def gated_task() -> tuple[list[Record], Engine]:
    """Return the same questions, and an engine over half of the passages; the other half lies outside."""
    settings = _gated_settings()
    retriever = build_retriever(settings)
    judge = load_judge(settings.evaluator, retriever, Path())
    reader, external = ExtractiveGenerator.default(), build_external(settings)
    return load_records(settings, "train"), Engine(retriever, reader, evaluator=judge, external=external)


def _gated_settings() -> TaskSettings:
    return TaskSettings(operations="with_gate", evaluator=PACKAGED, external=ExternalSettings(HALF))
