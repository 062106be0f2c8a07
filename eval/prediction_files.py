"""Reading predictions in the official formats, plain or gzip."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data import fields
from ..data.errors import DataError
from ..data.fields import Raw
from ..data.files import parse_items, read_text
from ..data.hotpotqa_scores import Fact
from ..data.musique_scores import MuSiQuePrediction
from ..data.twowiki_scores import Triple


@dataclass(frozen=True, slots=True)
class FactPredictions:
    """Predictions by question id, each part with the questions that it has."""

    answers: Mapping[str, str]
    facts: Mapping[str, tuple[Fact, ...]]
    evidences: Mapping[str, tuple[Triple, ...]]


@dataclass(frozen=True, slots=True)
class ParagraphPrediction:
    """MuSiQue's prediction for the question of this id; its support holds paragraph indices."""

    id: str
    prediction: MuSiQuePrediction


def read_fact_predictions(file: Path, with_evidence: bool) -> FactPredictions:
    """Read ``{"answer": {id: text}, "sp": {id: [[title, sentence index], ...]}}``, with evidence also ``"evidence"``.

    ``"evidence"`` is ``{id: [[subject, relation, object], ...]}``; a triple of another length is read, and matches
    nothing. Other keys are ignored.

    Raises:
        DataError: if the file cannot be read, is not such an object, lacks one of its keys, or a value does not fit.
    """
    try:
        raw = _object(read_text(file))
        answers = {key: fields.typed(text, str, f"'answer' of {key!r}") for key, text in _part(raw, "answer").items()}
        facts = {key: _facts(pairs, f"'sp' of {key!r}") for key, pairs in _part(raw, "sp").items()}
        evidence = _part(raw, "evidence").items() if with_evidence else ()
        return FactPredictions(
            answers, facts, {key: _triples(rows, f"'evidence' of {key!r}") for key, rows in evidence}
        )
    except DataError as error:
        raise error if error.file else DataError(str(error), file) from error


def _object(text: str) -> Raw:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f'expected one JSON object with the keys "answer" and "sp"; not valid JSON: {error}') from error
    return fields.typed(value, dict, "the file")


def _part(raw: Raw, key: str) -> dict[str, Any]:
    if key not in raw:
        raise DataError(
            f"expected the key {key!r}, found {fields.names(raw)}; write {{}} there if nothing is predicted"
        )
    return fields.typed(raw[key], dict, repr(key))


def _facts(value: object, where: str) -> tuple[Fact, ...]:
    pairs = fields.typed(value, list, where)
    return tuple(_fact(pair, f"{where}, entry {i},") for i, pair in enumerate(pairs))


def _fact(pair: object, where: str) -> Fact:
    if not isinstance(pair, list) or len(pair) != 2:
        raise DataError(f"{where} must be [title, sentence index], found {fields.shown(pair)}")
    return fields.typed(pair[0], str, f"{where} the title"), fields.typed(pair[1], int, f"{where} the index")


def _triples(value: object, where: str) -> tuple[Triple, ...]:
    rows = fields.typed(value, list, where)
    return tuple(fields.texts(row, f"{where}, entry {i}") for i, row in enumerate(rows))


def read_musique_predictions(file: Path, with_answerable: bool) -> list[ParagraphPrediction]:
    """Read JSON lines of ``id``, ``predicted_answer``, ``predicted_support_idxs`` and ``predicted_answerable``.

    Indices may be written as strings, and true and false as 1 and 0, as the official script allows. Other keys are
    ignored.

    Args:
        file: the predictions, plain or gzip.
        with_answerable: whether ``predicted_answerable`` is needed (MuSiQue-Full); if not, a line without it is read
            as answerable.

    Raises:
        DataError: if the file cannot be read, is empty, or a line lacks a field or holds one that does not fit.
    """
    return parse_items(file, lambda raw: _paragraph_prediction(raw, with_answerable))


def _paragraph_prediction(raw: Raw, with_answerable: bool) -> ParagraphPrediction:
    indices = fields.required(raw, "predicted_support_idxs", list)
    needs_verdict = with_answerable or "predicted_answerable" in raw
    prediction = MuSiQuePrediction(
        fields.required(raw, "predicted_answer", str),
        frozenset(_index(value, f"'predicted_support_idxs'[{i}]") for i, value in enumerate(indices)),
        _verdict(raw) if needs_verdict else True,
    )
    return ParagraphPrediction(fields.required(raw, "id", str), prediction)


def _index(value: object, where: str) -> int:
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    return fields.typed(value, int, where)


def _verdict(raw: Raw) -> bool:
    key = "predicted_answerable"
    return bool(raw[key]) if raw.get(key) in (0, 1) else fields.required(raw, key, bool)
