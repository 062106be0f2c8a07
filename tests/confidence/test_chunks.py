"""Chunks of questions of the small world: which are right, what they overlap with, whose scores they bear."""

from collections.abc import Sequence

import pytest

from evidencegym.confidence.base import EvaluateTask, Evaluator
from evidencegym.confidence.chunks import (
    calibration_records,
    evaluated_chunks,
    retrieved_chunks,
    search_chunks,
)
from evidencegym.confidence.rouge import rouge_l
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Question, Record
from tests.small_world import passages, records, retriever


class LengthEvaluator(Evaluator):
    """Scores by the length of the text, two tasks at a time."""

    max_batch = 2

    @property
    def fingerprint(self) -> str:
        return "length"

    def score(self, tasks: Sequence[EvaluateTask]) -> list[tuple[float, ...]]:
        if len(tasks) > 2:
            raise ValueError("more than max_batch")
        return [tuple(len(text.text) / 200 for text in task.texts) for task in tasks]


def test_only_questions_with_answer_and_support_are_calibrated_on() -> None:
    assert calibration_records(records()) == records()[:-1]
    with pytest.raises(ConfigError, match="calibrate conformal confidence on questions without gold"):
        calibration_records([*records(), Record(Question.of("Who knows?"))])


@pytest.mark.parametrize("number", [0, 1])
def test_chunks_of_a_question(number: int) -> None:
    """Support is matched by title for the first question, by id for the second."""
    record = records()[number]
    assert record.gold
    [hits] = search_chunks([record], retriever(), 6)
    [chunks] = retrieved_chunks([record], [hits])
    titles = [hit.passage.title for hit in hits]
    assert chunks.scores == tuple(hit.score for hit in hits)
    assert chunks.right == tuple(title in record.gold.support_titles for title in titles)
    assert any(chunks.right) and not all(chunks.right)
    assert chunks.overlaps == tuple(rouge_l(passages()[title].text, record.gold.answers[0]) for title in titles)
    assert chunks.uid == record.uid


def test_the_best_alias_counts() -> None:
    record = records()[2]
    [hits] = search_chunks([record], retriever(), 12)
    [chunks] = retrieved_chunks([record], [hits])
    best = max(range(len(hits)), key=lambda place: chunks.overlaps[place])
    text = hits[best].passage.text
    assert chunks.overlaps[best] == max(rouge_l(text, "Ostra"), rouge_l(text, "the Ostra")) > 0


def test_a_chunk_is_correct_by_document_and_overlap() -> None:
    [chunks] = retrieved_chunks(records()[:1], search_chunks(records()[:1], retriever(), 6))
    assert chunks.correct(0.0) == chunks.right
    assert not any(chunks.correct(1.1))


def test_scores_of_an_evaluator() -> None:
    listed = records()[:5]
    found = search_chunks(listed, retriever(), 4)
    chunks = evaluated_chunks(listed, found, LengthEvaluator())
    assert [own.scores for own in chunks] == [tuple(len(h.passage.text) / 200 for h in hits) for hits in found]
    assert [own.right for own in chunks] == [own.right for own in retrieved_chunks(listed, found)]
