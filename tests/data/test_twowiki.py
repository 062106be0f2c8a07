"""2WikiMultiHopQA's records, and the quirks of the official files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data import datasets, twowiki
from evidencegym.data.errors import DataError


def raw(**changes: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "_id": "c34",
        "question": "Where was the wife of Camille born?",
        "answer": "Fomboni",
        "type": "compositional",
        "supporting_facts": [["Camille", 0], ["Salima", 9]],
        "evidences": [["Camille", "spouse", "Salima"], ["Salima", "place of birth", "Fomboni"]],
        "context": [
            ["Salima", ["Salima was born in Fomboni."]],
            ["Camille", ["Camille was the husband of Salima."]],
            ["Salima", ["Salima was born in Fomboni."]],
            ["Salima", ["Another Salima."]],
        ],
        "entity_ids": "Q1_Q2",
    }
    return record | changes


def test_a_record_holds_evidences_and_the_answer() -> None:
    gold = twowiki.parse(raw()).gold
    assert gold is not None
    assert gold.answers == ("Fomboni",)
    assert gold.evidences == (("Camille", "spouse", "Salima"), ("Salima", "place of birth", "Fomboni"))
    assert (gold.type, gold.level, gold.hops, gold.match_support_by) == ("compositional", "", 2, "title")


def test_a_sentence_index_may_be_out_of_range() -> None:
    gold = twowiki.parse(raw()).gold
    assert gold is not None
    assert gold.supporting_facts == (("Camille", 0), ("Salima", 9))


def test_a_title_may_stand_twice_in_a_context() -> None:
    record = twowiki.parse(raw())
    first, camille, again, other = record.context
    assert record.gold is not None
    assert first == again != other
    assert record.gold.support_ids == (first.id, camille.id, other.id)
    assert record.gold.support_titles == ("Camille", "Salima")


@pytest.mark.parametrize(
    "hidden",
    [
        {key: raw()[key] for key in ("_id", "question", "context", "type")},
        raw(answer="", supporting_facts=[], evidences=[]),
    ],
)
def test_a_test_set_has_gold_without_answers(hidden: dict[str, Any]) -> None:
    gold = twowiki.parse(hidden).gold
    assert gold is not None
    assert (gold.answers, gold.evidences, gold.support_ids, gold.hops) == ((), (), (), 0)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({key: value for key, value in raw().items() if key != "evidences"}, "lacks evidences.*like a .*'hotpotqa'"),
        (raw(paragraphs=[]), "has paragraphs"),
        (raw(evidences=[["a", "b"]]), r"'evidences'\[0\] must be \[subject, relation, object\]"),
        (raw(evidences=[["a", "b", 3]]), r"'evidences'\[0\]\[2\] must be a string, found 3"),
        (raw(context=[["a", "b", "c"]]), r"'context'\[0\] must be"),
    ],
)
def test_a_record_that_does_not_fit_is_refused(record: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        twowiki.parse(record)


def test_real_files_with_their_quirks(real_data: Callable[[str], Path]) -> None:
    names = ("2wikimultihopqa/train.json.gz", "2wikimultihopqa/dev.json.gz")
    train, dev = (datasets.read("2wikimultihopqa", real_data(name)) for name in names)
    assert (len(train), len(dev)) == (516, 330)
    lengths = [{p.title: len(p.sentences) for p in record.context} for record in train + dev]
    facts = [record.gold.supporting_facts if record.gold else () for record in train + dev]
    out_of_range = sum(index >= sizes[title] for sizes, pairs in zip(lengths, facts) for title, index in pairs)
    assert out_of_range == 8
    assert sum(len(sizes) < len(record.context) for sizes, record in zip(lengths, train + dev)) == 35
    assert all(record.gold and record.gold.evidences and record.gold.answers for record in train + dev)
    assert {record.gold.hops for record in dev if record.gold} == {2, 4}
