"""ARC's accuracy: is the choice that a prediction names the right one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

from .arc import Choice

_LABELLED = re.compile(r"[(\[]?(?P<label>\w)(?P<end>[)\].:]*)\s*(?P<rest>.*)", re.DOTALL)


def chosen(prediction: str, choices: Sequence[Choice]) -> str | None:
    """Return the label of the choice that a prediction names, None where it names none.

    It names a choice by nothing but its label, which may be bracketed or followed by ``.`` or ``:``; by label, such a
    sign, and the choice's full text; or by the full text alone, if no other choice has it. Case, white space and a
    final full stop do not count. Where the labels are digits, letters stand for the places too, as CRAG's prompt shows
    them. A label comes before a text. "I think it is B", or two choices at once, name none.
    """
    labelled = _LABELLED.fullmatch(prediction.strip())
    label = _labels(choices).get(labelled["label"].upper()) if labelled else None
    if labelled and label is not None:
        rest = _plain(labelled["rest"])
        own = next(_plain(choice.text) for choice in choices if choice.label == label)
        if not rest or (labelled["end"] and rest == own):
            return label
    said = _plain(prediction)
    same = [choice.label for choice in choices if said and _plain(choice.text) == said]
    return same[0] if len(same) == 1 else None


def arc_scores(prediction: str | None, choices: Sequence[Choice], key: str) -> dict[str, float]:
    """Return ``accuracy`` and ``read`` of one question, each 0 or 1; a missing prediction (None) scores 0.

    ``read`` says whether the prediction names a choice at all, see :func:`chosen`; one that names none is wrong.
    """
    named = None if prediction is None else chosen(prediction, choices)
    return {"accuracy": float(named == key), "read": float(named is not None)}


def _labels(choices: Sequence[Choice]) -> dict[str, str]:
    """Return the label for each sign that stands for one."""
    own = {choice.label.upper(): choice.label for choice in choices}
    if all(label.isdecimal() for label in own):
        own |= {letter: choice.label for letter, choice in zip(ascii_uppercase, choices)}
    return own


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".").rstrip()
