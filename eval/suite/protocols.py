"""The protocols of the benchmark, as changes to a task's settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ...actions.operation_set import PRESETS
from ...envs.settings import TaskSettings
from ..protocols import NO_RETRIEVALS

FREE = "free"
EQUAL = "equal"
EQUAL_WITH_CHECKS = "equal_with_checks"
EQUAL_6 = "equal_6"


def without(settings: TaskSettings, operations: Iterable[str]) -> TaskSettings:
    """Return the settings with further operations disabled, as far as the set holds them."""
    held = PRESETS[settings.operations] if isinstance(settings.operations, str) else settings.operations
    disabled = {*settings.disabled, *(name for name in operations if name in held)}
    return replace(settings, disabled=sorted(disabled))


def _equal(settings: TaskSettings) -> TaskSettings:
    after = replace(settings, compress_in_control=False)
    return without(after, NO_RETRIEVALS)


def _equal_with_checks(settings: TaskSettings) -> TaskSettings:
    caps = settings.caps
    most = caps.steps * caps.documents_per_retrieval
    longer = replace(caps, steps=2 * caps.steps, documents=min(most, caps.documents or most))
    return without(replace(settings, compress_in_control=False, caps=longer), ["stop_answer"])


def _equal_6(settings: TaskSettings) -> TaskSettings:
    return _equal(replace(settings, caps=replace(settings.caps, documents=6)))


PROTOCOLS: dict[str, Callable[[TaskSettings], TaskSettings]] = {
    FREE: lambda settings: settings,
    EQUAL: _equal,
    EQUAL_WITH_CHECKS: _equal_with_checks,
    EQUAL_6: _equal_6,
}
"""Name -> what it changes.

``free``: nothing, every method stops when it wants. ``equal``: ``stop_answer``, ``sufficiency_check`` and
``corrective_gate`` are disabled, so that every step is a retrieval and all methods may hold as many documents (12 under
the paper's caps).
``equal_with_checks``: only ``stop_answer`` is disabled, the steps are doubled and the documents capped at the same
number, so that methods that probe may. ``equal_6``: like ``equal``, with six documents.
"""
TITLES = {
    FREE: "free stopping",
    EQUAL: "equal documents",
    EQUAL_WITH_CHECKS: "equal documents, probes allowed",
    EQUAL_6: "six documents",
}


def may_stop(protocol: str) -> bool:
    """Whether methods may stop when they want."""
    return protocol == FREE
