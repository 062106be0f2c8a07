"""MuSiQue's records: Ans, Full and test, and the quirks of the official files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data import datasets, musique
from evidencegym.data.errors import DataError
from evidencegym.data.records import Hop


def paragraph(idx: int, title: str, text: str, supporting: bool = False) -> dict[str, Any]:
    return {"idx": idx, "title": title, "paragraph_text": text, "is_supporting": supporting}


def step(question: str, answer: str, idx: int | None) -> dict[str, Any]:
    return {"id": 1, "question": question, "answer": answer, "paragraph_support_idx": idx}


def raw(**changes: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": "3hop1__1_2_3",
        "paragraphs": [
            paragraph(0, "Kraków", "Kraków is a city. It lies on the Vistula.", True),
            paragraph(1, "Noise", "Nothing."),
            paragraph(2, "Kraków", "Mr. Wit worked in Kraków.", True),
        ],
        "question": "Which river runs where Wit worked?",
        "question_decomposition": [step("Wit >> work location", "Kraków", 2), step("river of #1?", "Vistula", 0)],
        "answer": "Vistula",
        "answer_aliases": ["the Vistula", "Wisła", "Vistula"],
        "answerable": True,
    }
    return record | changes


def test_a_record_matches_support_by_id_where_paragraphs_share_a_title() -> None:
    record = musique.parse(raw())
    city, _, wit = record.context
    gold = record.gold
    assert gold is not None
    assert gold.match_support_by == "id"
    assert gold.support_ids == (city.id, wit.id)
    assert gold.support_titles == ("Kraków",)
    assert (gold.id, gold.type, gold.hops, gold.answerable) == ("3hop1__1_2_3", "3hop1", 2, True)
    assert gold.answers == ("Vistula", "the Vistula", "Wisła")
    assert gold.decomposition == (
        Hop("Wit >> work location", "Kraków", wit.id),
        Hop("river of #1?", "Vistula", city.id),
    )


def test_paragraphs_are_cut_into_sentences() -> None:
    city, _, wit = musique.parse(raw()).context
    assert city.sentences == ("Kraków is a city.", "It lies on the Vistula.")
    assert wit.sentences == ("Mr. Wit worked in Kraków.",)


def test_an_unanswerable_twin_lacks_support() -> None:
    steps = [step("a", "b", None), step("c", "d", 1), step("e", "f", None)]
    twin = raw(answerable=False, question_decomposition=steps)
    gold = musique.parse(twin).gold
    assert gold is not None
    assert not gold.answerable
    assert gold.answers == ("Vistula", "the Vistula", "Wisła")
    assert [hop.support_id is None for hop in gold.decomposition] == [True, False, True]
    assert gold.hops == 3


def test_a_test_set_has_gold_without_answers() -> None:
    bare = [{"idx": 0, "title": "A", "paragraph_text": "Text."}]
    gold = musique.parse({"id": "2hop__1_2", "question": "What?", "paragraphs": bare}).gold
    assert gold is not None
    assert (gold.answers, gold.support_ids, gold.decomposition, gold.hops) == ((), (), (), 0)
    assert gold.type == "2hop"


@pytest.mark.parametrize(("record_id", "kind"), [("2hop__1_2", "2hop"), ("4hop3__1", "4hop3"), ("mine", "")])
def test_the_type_is_the_prefix_of_the_id(record_id: str, kind: str) -> None:
    gold = musique.parse(raw(id=record_id)).gold
    assert gold is not None
    assert gold.type == kind


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (raw(context=[]), "has context"),
        ({"_id": "1", "question": "?", "context": [], "evidences": []}, "lacks id, paragraphs.*'2wikimultihopqa'"),
        ({"_id": "1", "question": "?", "context": []}, "lacks id, paragraphs.*'hotpotqa'"),
        (raw(paragraphs=[paragraph(1, "A", "x")]), r"'paragraphs'\[0\] must have the idx 0.*found 1"),
        (raw(paragraphs=["x"]), r"'paragraphs'\[0\] must be an object"),
        (raw(paragraphs=[{"idx": 0, "title": "A"}]), r"'paragraphs'\[0\] 'paragraph_text' is missing"),
        (raw(paragraphs=[paragraph(0, "A", "x") | {"is_supporting": 1}]), "must be true or false, found 1"),
        (raw(question_decomposition=[step("a", "b", 3)]), "points to paragraph 3, but there are 3"),
        (raw(question_decomposition=[step("a", "b", -1)]), "points to paragraph -1"),
        (raw(question_decomposition=[{"answer": "b"}]), r"'question_decomposition'\[0\] 'question' is missing"),
        (raw(answer_aliases=[None]), r"'answer_aliases'\[0\] must be a string"),
        (raw(answerable="yes"), "'answerable' must be true or false"),
    ],
)
def test_a_record_that_does_not_fit_is_refused(record: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        musique.parse(record)


def test_real_answerable_files(real_data: Callable[[str], Path]) -> None:
    records = datasets.read("musique", real_data("musique/musique_ans_v1.0_dev.jsonl.gz"))
    assert len(records) == 251
    for record in records:
        gold = record.gold
        assert gold is not None
        assert len(record.context) == 20
        assert {hop.support_id for hop in gold.decomposition} == set(gold.support_ids)
        assert gold.type.startswith(f"{gold.hops}hop")
    assert any(r.gold and len(r.gold.support_titles) < len(r.gold.support_ids) for r in records)


def test_real_unanswerable_twins(real_data: Callable[[str], Path]) -> None:
    records = datasets.read("musique", real_data("musique/musique_full_unanswerable.jsonl.gz"))
    golds = [record.gold for record in records if record.gold is not None]
    assert len(golds) == 24
    assert not any(gold.answerable for gold in golds)
    assert all(any(hop.support_id is None for hop in gold.decomposition) for gold in golds)
    assert sum(hop.support_id is None for gold in golds for hop in gold.decomposition) == 42
