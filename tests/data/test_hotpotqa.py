"""HotpotQA's records: distractor, fullwiki and test, and the quirks of the official files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data import datasets, hotpotqa
from evidencegym.data.errors import DataError
from evidencegym.data.records import Passage, Question


def raw(**changes: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "_id": "5a7",
        "question": "Where was the author of Ő born?",
        "answer": "Győr",
        "type": "bridge",
        "level": "hard",
        "supporting_facts": [["Ő (novel)", 0], ["Ágnes", 1], ["Ágnes", 0]],
        "context": [
            ["Ágnes", ["Ágnes was born in Győr.", "", " She wrote."]],
            ["Noise", ["Nothing."]],
            ["Ő (novel)", ["Ő is by Ágnes."]],
        ],
    }
    return record | changes


def without(*fields: str) -> dict[str, Any]:
    return {key: value for key, value in raw().items() if key not in fields}


def test_a_record_holds_question_gold_and_context() -> None:
    record = hotpotqa.parse(raw())
    agnes, noise, novel = record.context
    assert record.question == Question.of("Where was the author of Ő born?", record.context)
    assert noise == Passage.of("Noise", ["Nothing."])
    assert record.gold is not None
    assert (record.gold.id, record.gold.answers) == ("5a7", ("Győr",))
    assert (record.gold.type, record.gold.level, record.gold.hops) == ("bridge", "hard", 2)
    assert record.gold.supporting_facts == (("Ő (novel)", 0), ("Ágnes", 1), ("Ágnes", 0))
    assert record.gold.support_titles == ("Ő (novel)", "Ágnes")
    assert record.gold.support_ids == (agnes.id, novel.id)
    assert record.gold.match_support_by == "title"
    assert record.gold.answerable


def test_empty_sentences_keep_their_place() -> None:
    passage = hotpotqa.parse(raw()).context[0]
    assert passage.sentences == ("Ágnes was born in Győr.", "", " She wrote.")
    assert passage.text == "Ágnes was born in Győr. She wrote."


def test_a_supporting_title_may_be_absent_from_a_fullwiki_context() -> None:
    gold = hotpotqa.parse(raw(context=[["Ágnes", ["Born."]]])).gold
    assert gold is not None
    assert gold.support_titles == ("Ő (novel)", "Ágnes")
    assert gold.support_ids == (Passage.of("Ágnes", ["Born."]).id,)
    assert gold.hops == 2


@pytest.mark.parametrize("hidden", [without("answer", "supporting_facts", "type", "level"), raw(answer=None)])
def test_a_test_set_has_gold_without_answers(hidden: dict[str, Any]) -> None:
    record = hotpotqa.parse(hidden)
    assert record.id == "5a7"
    assert record.gold is not None
    assert record.gold.answers == ()
    assert len(record.context) == 3


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (without("question"), "lacks question"),
        (raw(evidences=[]), "has evidences.*looks like a record of '2wikimultihopqa'"),
        ({"id": "2hop__1_2", "question": "?", "paragraphs": []}, "lacks _id, context and has paragraphs.*'musique'"),
        (raw(question=" "), "'question' is empty"),
        (raw(answer=3), "'answer' must be a string, found 3"),
        (raw(_id=7), "'_id' must be a string, found 7"),
        (raw(context={"title": [], "sentences": []}), "'context' must be a list"),
        (raw(context=[["A", ["x"]], ["B"]]), r"'context'\[1\] must be \[title, \[sentence, ...\]\]"),
        (raw(context=[["A", "x"]]), r"'context'\[0\]\[1\] must be a list, found 'x'"),
        (raw(context=[["A", ["x", None]]]), r"'context'\[0\]\[1\]\[1\] must be a string, found None"),
        (raw(supporting_facts=[["A", "0"]]), r"the index of 'supporting_facts'\[0\] must be a whole number"),
        (raw(supporting_facts=[["A", True]]), r"the index of 'supporting_facts'\[0\] must be a whole number"),
    ],
)
def test_a_record_that_does_not_fit_is_refused(record: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        hotpotqa.parse(record)


def test_real_distractor_files(real_data: Callable[[str], Path]) -> None:
    records = datasets.read("hotpotqa", real_data("hotpotqa/hotpot_dev_distractor.json.gz"))
    golds = [record.gold for record in records if record.gold is not None]
    assert len(records) == len(golds) == 500
    assert {gold.hops for gold in golds} == {2}
    assert all(len(gold.support_ids) == 2 and gold.answers for gold in golds)
    assert sum(not sentence.strip() for r in records for p in r.context for sentence in p.sentences) == 7
    assert any(not passage.title.isascii() for record in records for passage in record.context)


def test_real_fullwiki_file(real_data: Callable[[str], Path]) -> None:
    records = datasets.read("hotpotqa", real_data("hotpotqa/hotpot_dev_fullwiki.json.gz"))
    missing = [record for record in records if record.gold and len(record.gold.support_ids) < record.gold.hops]
    assert (len(records), len(missing)) == (303, 225)
