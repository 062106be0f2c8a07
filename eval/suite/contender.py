"""A contender: a method under a protocol, and everything that its results depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from ...actions.engine import Engine
from ...data.records import Record, content_hash
from ...envs.build import build_rules, rules_of
from ...envs.rollout import Policy
from ...envs.settings import TaskSettings
from ..runner import Method


@dataclass(frozen=True)
class Contender:
    """A method under a protocol.

    Attributes:
        protocol: folder of its results.
        name: file of its results.
        settings: the task as it is for this method.
        policy: chooses; None for the oracle planner.
        noted: all that can change a choice of the policy.
        engine: executes its requests.
        records: the questions.
    """

    protocol: str
    name: str
    settings: TaskSettings
    policy: Policy | None
    noted: Mapping[str, Any]
    engine: Engine
    records: Sequence[Record]

    @property
    def key(self) -> str:
        """Protocol and name."""
        return f"{self.protocol}/{self.name}"

    @property
    def method(self) -> Method:
        """What the runner runs."""
        return Method(self.name, build_rules(self.settings), self.policy)

    @cached_property
    def made_from(self) -> dict[str, Any]:
        """Everything that the results depend on, for the manifest."""
        operations = build_rules(self.settings).operations
        return {
            "policy": dict(self.noted),
            "operations": list(operations.names),
            "rules": rules_of(self.settings),
            "caps": asdict(self.settings.caps),
            "engine": self.engine.fingerprint,
            "questions": content_hash(*(record.uid for record in self.records)),
            "n_questions": len(self.records),
        }
