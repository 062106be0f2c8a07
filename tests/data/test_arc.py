"""ARC's files in both forms, and which choice a prediction names."""

import json
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data import arc
from evidencegym.data.arc import Choice
from evidencegym.data.arc_scores import arc_scores, chosen
from evidencegym.data.errors import DataError
from evidencegym.data.task_formats import read_task

TEXTS = ["copper", "a rubber band", "wood", "Glass."]
OFFICIAL = {
    "id": "Q1",
    "question": {
        "stem": "Which conducts best?",
        "choices": [{"text": text, "label": label} for text, label in zip(TEXTS, "ABCD")],
    },
    "answerKey": "A",
}
HUB = {
    "id": "Q1",
    "question": "Which conducts best?",
    "choices": {"text": TEXTS, "label": list("ABCD")},
    "answerKey": "A",
}
LETTERS = tuple(map(Choice, "ABCD", TEXTS))
DIGITS = tuple(map(Choice, "1234", ["3", "4", "1", "2"]))


def lines(folder: Path, rows: list[Any]) -> Path:
    file = folder / "arc.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_both_forms_give_the_same_question(tmp_path: Path) -> None:
    official, hub = arc.read_choices(lines(tmp_path, [OFFICIAL, HUB]))
    assert official == hub
    assert official.choices == LETTERS
    record = official.record()
    assert record.question.text.splitlines() == ["Which conducts best?", *map(": ".join, zip("ABCD", TEXTS))]
    assert record.gold and record.gold.answers == ("copper",)


def test_a_file_without_keys_has_questions_without_answers(tmp_path: Path) -> None:
    silent = {key: value for key, value in HUB.items() if key != "answerKey"}
    ctxs = [{"title": "Copper", "text": "Copper conducts."}]
    [record] = read_task("arc", lines(tmp_path, [{**silent, "ctxs": ctxs}]))
    assert record.gold and record.gold.answers == ()
    assert [passage.title for passage in record.context] == ["Copper"]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"answerKey": "E"}, "'answerKey' must be one of A, B, C, D, found 'E'"),
        ({"answerKey": 1}, "'answerKey' must be a string, found 1"),
        ({"choices": {"text": TEXTS, "label": list("ABC")}}, "found 3 labels, 4 texts"),
        ({"choices": {"text": TEXTS, "label": list("ABCA")}}, "at least two entries under different labels"),
        ({"choices": {"text": TEXTS[:1], "label": ["A"]}}, "at least two entries"),
        ({"choices": {"text": TEXTS}}, "'choices' 'label' is missing"),
        ({"question": {"stem": " ", "choices": []}}, "'stem' is empty"),
        ({"question": {"stem": "Which?", "choices": [{"text": "x"}]}}, "'choices'[0] 'label' is missing"),
        ({"question": ["Which?"]}, "'question' must be a string"),
    ],
)
def test_a_faulty_line_is_named(tmp_path: Path, broken: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=r"arc\.jsonl, record 2: ") as caught:
        arc.read_choices(lines(tmp_path, [HUB, {**HUB, **broken}]))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("prediction", "label"),
    [
        ("B", "B"),
        (" (b) ", "B"),
        ("C.", "C"),
        ("D:", "D"),
        ("B) a rubber band", "B"),
        ("B: A Rubber  band.", "B"),
        ("a rubber band", "B"),
        ("glass", "D"),
        ("Copper.", "A"),
        ("B: copper", None),
        ("B copper", None),
        ("A rubber", None),
        ("The answer is B", None),
        ("A, B", None),
        ("AB", None),
        ("E", None),
        ("2", None),
        ("rubber", None),
        ("", None),
        (".", None),
    ],
)
def test_a_prediction_names_a_choice_by_label_or_by_its_full_text(prediction: str, label: str | None) -> None:
    assert chosen(prediction, LETTERS) == label


@pytest.mark.parametrize(("prediction", "label"), [("2", "2"), ("B", "2"), ("4) 2", "4"), ("5", None), ("E", None)])
def test_where_labels_are_digits_they_come_before_texts_and_letters_stand_for_places(
    prediction: str, label: str | None
) -> None:
    assert chosen(prediction, DIGITS) == label


def test_two_choices_of_one_text_cannot_be_told_apart_by_it() -> None:
    twins = (Choice("A", "red"), Choice("B", "Red."), Choice("C", "blue"))
    assert chosen("red", twins) is None
    assert chosen("B. red", twins) == "B"


def test_what_names_no_choice_is_wrong_and_counted() -> None:
    assert arc_scores("A", LETTERS, "A") == {"accuracy": 1.0, "read": 1.0}
    assert arc_scores("B", LETTERS, "A") == {"accuracy": 0.0, "read": 1.0}
    assert arc_scores("perhaps A", LETTERS, "A") == arc_scores(None, LETTERS, "A") == {"accuracy": 0.0, "read": 0.0}
