"""Scoring answers to PopQA and ARC: both forms of predictions, accuracy by relation, and faults."""

import json
from pathlib import Path
from typing import Any

import pytest

from evidencegym.cli import main
from evidencegym.data.errors import ConfigError, DataError
from evidencegym.eval.score import Scores, format_scores, score, to_json
from evidencegym.eval.type_accuracy import accuracy_by_type

RELATIONS = ["genre", "author", "genre", "genre"]
GOLD = [
    {"id": number, "question": "Who?", "prop": relation, "possible_answers": ["novel", "Bo Ek"]}
    for number, relation in enumerate(RELATIONS)
]
ANSWERS = {"0": "a Novel", "1": "by Bo Ek", "2": "poem", "9": "novel"}


def write(folder: Path, name: str, value: object) -> Path:
    file = folder / name
    rows = value if isinstance(value, list) else [value]
    file.write_text(value if isinstance(value, str) else "\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def scored(folder: Path, predictions: object) -> Scores:
    return score("popqa", write(folder, "gold.jsonl", GOLD), write(folder, "predictions.json", predictions))


@pytest.mark.parametrize("key", ["answer", "predicted_answer"])
def test_both_forms_of_predictions_give_the_same_scores(tmp_path: Path, key: str) -> None:
    scores = scored(tmp_path, ANSWERS)
    assert scores == scored(tmp_path, [{"id": int(number), key: text, "x": 1} for number, text in ANSWERS.items()])
    assert scores.metrics == {"accuracy": 0.5, "match": 0.25}
    assert (scores.missing, scores.extra) == ({"answer": ("3",)}, ("9",))
    assert scores.warnings()[0] == "missing answer 3"


def test_accuracy_by_relation_has_intervals(tmp_path: Path) -> None:
    rows = scored(tmp_path, ANSWERS).types
    assert [(row.type, row.questions) for row in rows] == [("author", 1), ("genre", 3), ("all", 4)]
    assert rows[1].accuracy == pytest.approx(1 / 3)
    assert (rows[1].low, rows[1].high) == pytest.approx((0.0615, 0.7923), abs=1e-4)  # Wilson for 1 of 3
    assert rows[0].high == 1.0 and 0.2 < rows[0].low < 0.21


def test_the_table_and_the_json_show_the_relations(tmp_path: Path) -> None:
    scores = scored(tmp_path, ANSWERS)
    table = format_scores(scores)
    assert "accuracy  0.5\n" in table and "author" in table and "[0.061, 0.792]" in table
    found = json.loads(to_json(scores))
    assert found["accuracy"] == 0.5
    assert found["accuracy_by_type"]["author"]["questions"] == 1


def test_questions_of_one_type_have_one_row() -> None:
    assert [row.type for row in accuracy_by_type(["", ""], [1, 0])] == ["all"]
    assert accuracy_by_type(["a", "a"], [0, 0])[0].low == 0.0


def test_a_single_line_is_a_line_and_not_an_object_by_id(tmp_path: Path) -> None:
    assert scored(tmp_path, {"id": "0", "answer": "novel"}).metrics["accuracy"] == 0.25


def test_arc_reads_labels_and_texts(tmp_path: Path) -> None:
    choices = {"text": ["ice", "fire"], "label": ["A", "B"]}
    gold = [{"id": f"q{n}", "question": "Which is hot?", "choices": choices, "answerKey": "B"} for n in range(4)]
    answers = {"q0": "B", "q1": "fire", "q2": "A", "q3": "the hot one"}
    files = write(tmp_path, "gold.jsonl", gold), write(tmp_path, "p.json", answers)
    scores = score("arc", *files)
    assert scores.metrics == {"accuracy": 0.5, "read": 0.75}
    assert [row.type for row in scores.types] == ["all"]
    gold[1].pop("answerKey")
    with pytest.raises(DataError, match="expected 'answerKey' with every question, found none with 'q1'"):
        score("arc", write(tmp_path, "gold.jsonl", gold), files[1])


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ({"0": 3}, "the answer of '0' must be a string, found 3"),
        ('{"0": "a", "0": "b"}', "'0' stands twice"),
        ([{"id": "0", "answer": "a"}, {"id": 0, "answer": "b"}], "'0' is predicted twice"),
        ([{"id": "0", "answer": "a"}, {"id": "1"}], "record 2: 'answer' is missing"),
        ([{"id": "0", "answer": "a"}, {"answer": "b"}], "record 2: 'id' is missing"),
        ('{"0": ', "record 1: not valid JSON"),
        ("", "expected predictions, found none"),
    ],
)
def test_a_malformed_prediction_file_is_named(tmp_path: Path, predictions: Any, message: str) -> None:
    with pytest.raises(DataError, match=r"predictions\.json") as caught:
        scored(tmp_path, predictions)
    assert message in str(caught.value)


def test_an_id_that_stands_twice_in_the_gold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected each id once, found 5 questions and 4 ids"):
        score("popqa", write(tmp_path, "gold.jsonl", [*GOLD, GOLD[0]]), write(tmp_path, "p.json", ANSWERS))


def test_aliases_and_unknown_sets_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "p.json", ANSWERS)
    with pytest.raises(ConfigError, match="aliases"):
        score("popqa", file, file, file)
    with pytest.raises(ConfigError, match=r"squad.*musique, popqa, arc"):
        score("squad", file, file)


def test_the_command_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = write(tmp_path, "gold.jsonl", GOLD), write(tmp_path, "p.json", ANSWERS)
    assert main(["score", "--dataset", "popqa", "--gold", str(files[0]), "--predictions", str(files[1]), "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["match"] == 0.25
    assert "missing answer 3" in shown.err
