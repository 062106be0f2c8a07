"""``stop_answer``: end the acquisition of evidence."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from .operation import Operation, Request
from .state import EvidenceState


class StopAnswer(Operation):
    """End acquisition; the episode then compresses and answers.

    Args:
        closed_book: allow stopping before there is evidence.
    """

    name = "stop_answer"

    def __init__(self, closed_book: bool = False) -> None:
        self.closed_book = closed_book

    def valid(self, state: EvidenceState) -> bool:
        """There is evidence (or ``closed_book``); the operation set adds: or nothing else is valid."""
        return self.closed_book or bool(state.held)

    def run(self, state: EvidenceState) -> Generator[Request, Any, EvidenceState]:
        """End the episode."""
        yield from ()
        return state.changed(end="stop")
