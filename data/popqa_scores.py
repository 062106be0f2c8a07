"""PopQA's accuracy: does an accepted answer occur in what was predicted."""

from __future__ import annotations

from collections.abc import Sequence

from .answer_scores import normalise_answer


def popqa_scores(prediction: str | None, answers: Sequence[str]) -> dict[str, float]:
    """Return ``accuracy`` and ``match`` of one question, each 0 or 1; a missing prediction (None) scores 0.

    ``accuracy``: an answer occurs in the prediction, whole words next to each other, after both were normalised
    (:func:`normalise_answer`: case, punctuation and articles do not count). ``match`` is what CRAG reports, by the
    function of that name in Self-RAG's ``metrics.py``: an answer is part of the prediction letter by letter, so that
    "art" is found in "party", and "Politician" not in "politician".

    An answer that normalises to nothing is never found by ``accuracy``.
    """
    said = (prediction or "").strip()
    found = f" {normalise_answer(said)} "
    wanted = [normal for answer in answers if (normal := normalise_answer(answer))]
    return {
        "accuracy": float(any(f" {normal} " in found for normal in wanted)),
        "match": float(prediction is not None and any(answer in said for answer in answers)),
    }
