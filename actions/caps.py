"""The limits of an episode."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..data.errors import ConfigError


@dataclass(frozen=True)
class Caps:
    """Limits of an episode; the defaults are those of the paper's main runs (settings, 2607.06507).

    Attributes:
        steps: operations other than ``stop_answer``, at least 1.
        documents_per_retrieval: unseen passages that one retrieval adds, at least 1.
        context_documents: passages that the final context may hold, at least 1.
        retrievals: retrieval operations, at least 1; None for no separate cap.
        documents: passages held in all, at least 1; None for no such cap. Used to compare at equal documents.
        frontier: how deep ``retrieve_more`` may go in the question's own ranking, at least 1.

    Raises:
        ConfigError: if a limit is not a whole number of at least 1.
    """

    steps: int = 4
    documents_per_retrieval: int = 3
    context_documents: int = 12
    retrievals: int | None = None
    documents: int | None = None
    frontier: int = 100

    def __post_init__(self) -> None:
        optional = {"retrievals", "documents"}
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None and item.name in optional:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigError(f"caps.{item.name} must be a whole number of at least 1, found {value!r}")
