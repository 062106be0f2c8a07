"""Making a task short enough for a model: the evidence is cut, the instructions and the question never are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..data.records import Passage
from .tasks import AnswerTask


def fit_task(task: Any, fits: Callable[[Any], bool]) -> Any | None:
    """Return the task with as much of its evidence as fits.

    The evidence is in the order of its relevance, so the last passages go first (snippets, where only they are read).
    Where not even the first fits, the last of its sentences go.

    Args:
        task: any task of a generator.
        fits: whether a task is short enough; one with less evidence fits whenever one with more does.

    Returns:
        A task that fits; None where it is too long without any evidence.
    """
    if fits(task):
        return task
    name = "snippets" if isinstance(task, AnswerTask) and task.snippets else "passages"
    evidence = getattr(task, name)
    kept = _most(len(evidence) - 1, lambda n: fits(_with(task, name, evidence[:n])))
    if kept is None:
        return None
    if kept or name == "snippets" or not evidence:
        return _with(task, name, evidence[:kept])
    first = evidence[0]
    sentences = _most(len(first.sentences) - 1, lambda n: fits(replace(task, passages=(_cut(first, n),))))
    return replace(task, passages=(_cut(first, sentences),) if sentences else ())


def _with(task: Any, name: str, evidence: tuple[Any, ...]) -> Any:
    """Return the task with this evidence; where no snippet is left the passages go, too, or they would be read."""
    return replace(task, **{name: evidence}) if evidence else replace(task, **{name: (), "passages": ()})


def _cut(passage: Passage, sentences: int) -> Passage:
    """Return the beginning of a passage, under the id of the whole."""
    return Passage(passage.id, passage.title, passage.sentences[:sentences])


def _most(most: int, fits: Callable[[int], bool]) -> int | None:
    """Return the greatest number from 0 to ``most`` that fits, None if not even 0 does."""
    if not fits(0):
        return None
    low, high = 0, max(most, 0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
