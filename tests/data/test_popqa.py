"""PopQA's files: the published table, JSON with its columns, and the form with passages; faults name file and line."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data import popqa
from evidencegym.data.errors import ConfigError, DataError
from evidencegym.data.popqa_scores import popqa_scores
from evidencegym.data.task_formats import read_task

ANNA = {
    "id": 41,
    "subj": "Anna Berg",
    "prop": "occupation",
    "obj": "politician",
    "subj_id": 1,
    "prop_id": 22,
    "obj_id": 2,
    "s_aliases": '["A. Berg"]',
    "o_aliases": "[]",
    "s_uri": "http://www.wikidata.org/entity/Q1",
    "o_uri": "http://www.wikidata.org/entity/Q2",
    "s_wiki_title": "Anna Berg (politician)",
    "o_wiki_title": "Politician",
    "s_pop": 142,
    "o_pop": 25692,
    "question": "What is Anna Berg's occupation?",
    "possible_answers": '["political leader", "politician", "\\"pol\\""]',
}
BOOK = {**ANNA, "id": 42, "prop": "author", "subj": 'The "Red" Book', "s_wiki_title": "", "obj": "Bo Ek"} | {
    "question": 'Who is the author of The "Red" Book?',
    "possible_answers": '["Bo Ek"]',
}
CTXS = [
    {
        "id": "7",
        "title": "Anna Berg (politician)",
        "text": "Anna Berg was born in 1920.\nShe led a party.",
        "score": 1.5,
    },
    {"id": "8", "title": "Anna Berg", "text": "Anna Berg is a village."},
]
LONGTAIL = {
    "id": 41,
    "question": ANNA["question"],
    "answers": ["politician", "pol"],
    "prop": "occupation",
    "s_wiki_title": "Anna Berg (politician)",
    "pop": 142,
    "ctxs": CTXS,
}


def table(folder: Path, rows: list[dict[str, Any]], delimiter: str = "\t") -> Path:
    file = folder / "popqa.tsv"
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, list(ANNA), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return file


def lines(folder: Path, rows: list[Any]) -> Path:
    file = folder / "popqa.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.mark.parametrize("delimiter", ["\t", ","])
def test_the_table_and_its_columns_as_json_give_the_same_records(tmp_path: Path, delimiter: str) -> None:
    found = popqa.read(table(tmp_path, [ANNA, BOOK], delimiter))
    assert found == popqa.read(lines(tmp_path, [ANNA, BOOK]))
    first, second = (record.gold for record in found)
    assert first and second
    assert (first.id, first.type, first.hops) == ("41", "occupation", 1)
    assert first.answers == ("politician", "political leader", '"pol"')
    assert first.support_titles == ("Anna Berg (politician)",)
    assert second.support_titles == ('The "Red" Book',)
    assert found[1].question.text == 'Who is the author of The "Red" Book?'


def test_a_packed_table_is_read(tmp_path: Path) -> None:
    packed = tmp_path / "popqa.tsv.gz"
    packed.write_bytes(gzip.compress(table(tmp_path, [ANNA]).read_bytes()))
    assert read_task("popqa", packed) == popqa.read(lines(tmp_path, [ANNA]))


def test_passages_of_the_subjects_title_are_the_supporting_ones(tmp_path: Path) -> None:
    [record] = popqa.read(lines(tmp_path, [LONGTAIL]))
    assert [passage.title for passage in record.context] == ["Anna Berg (politician)", "Anna Berg"]
    assert record.context[0].sentences == ("Anna Berg was born in 1920.", "She led a party.")
    assert record.gold and record.gold.support_ids == (record.context[0].id,)
    assert "politician" not in record.question.text


def test_a_faulty_row_of_the_table_is_named(tmp_path: Path) -> None:
    whole = table(tmp_path, [ANNA, BOOK]).read_text(encoding="utf-8")
    file = tmp_path / "broken.tsv"
    for text, message in [
        (whole.replace("\t25692\t", "\t", 1), "record 2: expected 17 cells as in the head line, found 16"),
        (whole.replace("possible_answers", "prop"), "record 1: the head line must name each column once"),
        (whole.replace("possible_answers", "aliases"), "record 2: 'possible_answers' or 'answers' is missing"),
        (whole.replace('"[""Bo Ek""]"', "Bo Ek"), "record 3: 'possible_answers' must be a JSON list of strings"),
        (whole.replace('"[""Bo Ek""]"', "[]"), "record 3: 'possible_answers' must hold at least one answer"),
        (whole.replace('"[""Bo Ek""]"', '"Bo" Ek'), "record 3: not a table"),
        (whole.splitlines()[0] + "\n", "expected questions of 'popqa', found none"),
        ("", "expected questions of 'popqa', found none"),
    ]:
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=r"broken\.tsv") as caught:
            popqa.read(file)
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"id": None}, "'id' must be a string, found None"),
        ({"prop": 3}, "'prop' must be a string, found 3"),
        ({"question": " "}, "'question' is empty"),
        ({"answers": [1]}, "'answers'[0] must be a string, found 1"),
        ({"answers": "politician"}, "'answers' must be a JSON list of strings, found 'politician'"),
        ({"ctxs": [{"title": "Anna"}]}, "'ctxs'[0] 'text' is missing"),
        ({"ctxs": ["Anna"]}, "'ctxs'[0] must be an object"),
        ({"context": []}, "expected a record of 'popqa'"),
    ],
)
def test_a_faulty_line_is_named(tmp_path: Path, broken: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=r"popqa\.jsonl, record 2: ") as caught:
        popqa.read(lines(tmp_path, [LONGTAIL, {**LONGTAIL, **broken}]))
    assert message in str(caught.value)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected one of popqa, arc"):
        read_task("squad", tmp_path)


@pytest.mark.parametrize(
    ("prediction", "answers", "accuracy", "match"),
    [
        ("She was a politician.", ("politician",), 1, 1),
        ("A POLITICIAN", ("politician",), 1, 0),
        ("the party", ("art",), 0, 1),
        ("United States of America", ("the United States",), 1, 0),
        ("a writer", ("politician", "writer"), 1, 1),
        ("", ("politician",), 0, 0),
        (None, ("politician",), 0, 0),
        ("the", ("The",), 0, 0),
    ],
)
def test_accuracy_counts_whole_words_and_match_letters(
    prediction: str | None, answers: tuple[str, ...], accuracy: float, match: float
) -> None:
    assert popqa_scores(prediction, answers) == {"accuracy": accuracy, "match": match}
