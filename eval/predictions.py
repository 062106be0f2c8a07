"""Our answers in the official prediction formats, and their official metrics question by question."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..data.errors import ConfigError
from ..data.hotpotqa_scores import Fact
from ..data.official_scores import official_scores, unknown_dataset
from ..data.records import Passage, Record


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a system answered to a question.

    Attributes:
        record: the question with its context; only its id and its context are written.
        answer: the answer's text.
        support: (passage id, sentence index) pairs that support it, of passages held or of the context.
        held: the passages that the system held; on a pooled corpus they may stand in no context.
        answerable: whether the system holds the question to be answerable.
    """

    record: Record
    answer: str
    support: tuple[tuple[str, int], ...] = ()
    held: tuple[Passage, ...] = ()
    answerable: bool = True

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The support as distinct (title, sentence index) pairs, in order.

        Raises:
            ValueError: if the support names a passage that is neither held nor of the context.
        """
        titles = {passage.id: passage.title for passage in (*self.record.context, *self.held)}
        strangers = [passage_id for passage_id, _ in self.support if passage_id not in titles]
        if strangers:
            raise ValueError(f"support of {self.record.id!r} names passage {strangers[0]}, which is not held")
        return tuple(dict.fromkeys((titles[passage_id], sentence) for passage_id, sentence in self.support))

    @property
    def support_positions(self) -> tuple[int, ...]:
        """The places in the context of the supporting passages, ascending; MuSiQue calls them paragraph indices.

        Passages of other contexts have no place, so they are left out. Where a context holds a passage twice, its
        first place counts.
        """
        places: dict[str, int] = {}
        for place, passage in enumerate(self.record.context):
            places.setdefault(passage.id, place)
        return tuple(sorted({places[passage_id] for passage_id, _ in self.support if passage_id in places}))


def official_predictions(dataset: str, predictions: Iterable[Prediction]) -> str:
    """Return the text of a prediction file in the official format of the data set, ending in a line break.

    HotpotQA and 2WikiMultiHopQA: one JSON object. 2WikiMultiHopQA's evidence triples are empty, since no operation
    writes any; its joint metrics are then 0. MuSiQue: JSON lines, in the order given.

    Raises:
        ConfigError: if the data set has no official format.
        ValueError: if a support names a passage that is neither held nor of the context.
    """
    rows = list(predictions)
    if dataset == "musique":
        return "".join(json.dumps(_paragraph_line(row), ensure_ascii=False) + "\n" for row in rows)
    if dataset not in ("hotpotqa", "2wikimultihopqa"):
        raise ConfigError(unknown_dataset(dataset))
    parts = _fact_parts(rows)
    if dataset == "2wikimultihopqa":
        parts["evidence"] = {row.record.id: [] for row in rows}
    return json.dumps(parts, ensure_ascii=False) + "\n"


def _fact_parts(rows: Sequence[Prediction]) -> dict[str, dict[str, Any]]:
    return {"answer": {row.record.id: row.answer for row in rows}, "sp": {row.record.id: row.facts for row in rows}}


def _paragraph_line(row: Prediction) -> dict[str, Any]:
    return {
        "id": row.record.id,
        "predicted_answer": row.answer,
        "predicted_support_idxs": row.support_positions,
        "predicted_answerable": row.answerable,
    }


def question_scores(dataset: str, prediction: Prediction) -> dict[str, float]:
    """Return the official metrics of one prediction: what the official script gives for the file that we write.

    Empty for a question without gold, and for an unanswerable one (which MuSiQue-Full scores in pairs).

    Raises:
        ConfigError: if the data set has no official metrics.
        ValueError: if the support names a passage that is neither held nor of the context.
    """
    record = prediction.record
    if record.gold is None:
        return {}
    support_ids = [record.context[place].id for place in prediction.support_positions]
    return official_scores(dataset, record.gold, prediction.answer, prediction.facts, support_ids)
