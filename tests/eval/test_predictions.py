"""Our predictions in the official formats: what is written is what is scored."""

import json
from pathlib import Path

import pytest

from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Gold, Passage, Question, Record
from evidencegym.eval.predictions import Prediction, official_predictions, question_scores
from evidencegym.eval.score import score

ANNA, ROME = Passage.of("Anna", ["Anna sings.", "She is from Rome."]), Passage.of("Rome", ["A city."])
AWAY = Passage.of("Away", ["Of another question."])
CONTEXT = (ROME, ANNA, ROME)
QUESTION = Question.of("Where is Anna from?")


def record(**gold: object) -> Record:
    return Record(QUESTION, Gold("q1", ("Rome",), **gold), CONTEXT)  # type: ignore[arg-type]


def predicted(answer: str, *support: tuple[str, int], of: Record) -> Prediction:
    return Prediction(of, answer, support, held=(ANNA, AWAY))


@pytest.mark.parametrize("dataset", ["hotpotqa", "2wikimultihopqa"])
def test_facts_name_titles_of_context_and_held_passages(dataset: str) -> None:
    prediction = predicted("Rome", (ANNA.id, 1), (AWAY.id, 0), (ANNA.id, 1), of=record())
    written = json.loads(official_predictions(dataset, [prediction]))
    assert written["answer"] == {"q1": "Rome"}
    assert written["sp"] == {"q1": [["Anna", 1], ["Away", 0]]}
    assert ("evidence" in written) == (dataset == "2wikimultihopqa")


def test_musique_positions_are_those_of_the_context_the_first_of_equal_ones() -> None:
    prediction = predicted("Rome", (ROME.id, 0), (AWAY.id, 0), (ANNA.id, 0), (ANNA.id, 1), of=record())
    lines = official_predictions("musique", [prediction, Prediction(record(), "", answerable=False)]).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "q1", "predicted_answer": "Rome", "predicted_support_idxs": [0, 1], "predicted_answerable": True},
        {"id": "q1", "predicted_answer": "", "predicted_support_idxs": [], "predicted_answerable": False},
    ]


@pytest.mark.parametrize("dataset", ["hotpotqa", "2wikimultihopqa"])
def test_metrics_of_a_question_equal_those_of_the_file_that_is_written(tmp_path: Path, dataset: str) -> None:
    facts = (("Anna", 1), ("Rome", 0))
    prediction = predicted("in Rome", (ANNA.id, 1), (AWAY.id, 0), of=record(supporting_facts=facts))
    gold_row = {"_id": "q1", "answer": "Rome", "supporting_facts": facts}
    gold, file = tmp_path / "gold.json", tmp_path / "predictions.json"
    gold.write_text(json.dumps([gold_row | ({"evidences": []} if dataset == "2wikimultihopqa" else {})]))
    file.write_text(official_predictions(dataset, [prediction]))
    metrics = question_scores(dataset, prediction)
    assert metrics == score(dataset, gold, file).metrics
    assert metrics["f1"] == pytest.approx(2 / 3)
    assert metrics["sp_f1"] == 0.5


def test_metrics_of_a_musique_question_equal_those_of_the_file_that_is_written(tmp_path: Path) -> None:
    asked = Record(QUESTION, Gold("q1", ("Rome",), support_ids=(ANNA.id, ROME.id), match_support_by="id"), (ROME, ANNA))
    prediction = predicted("old Rome", (ANNA.id, 0), (AWAY.id, 0), of=asked)
    paragraphs = [{"idx": i, "is_supporting": True} for i in range(2)]
    gold, file = tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl"
    gold.write_text(json.dumps({"id": "q1", "answer": "Rome", "answer_aliases": [], "paragraphs": paragraphs}))
    file.write_text(official_predictions("musique", [prediction]))
    metrics = question_scores("musique", prediction)
    assert metrics == score("musique", gold, file).metrics
    assert metrics["support_f1"] == pytest.approx(2 / 3)


def test_a_question_without_gold_has_no_metrics() -> None:
    assert question_scores("hotpotqa", Prediction(Record(QUESTION), "Rome")) == {}


def test_support_that_is_not_held_is_refused() -> None:
    with pytest.raises(ValueError, match="not held"):
        official_predictions("hotpotqa", [Prediction(record(), "Rome", (("0" * 16, 0),))])


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ConfigError, match="squad"):
        official_predictions("squad", [])
