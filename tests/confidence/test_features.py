"""The features of the embedded evaluator: what they mean, what they must not hang on."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencegym.confidence.base import EvaluateTask
from evidencegym.confidence.features import FEATURES, GROUPS, Reader
from evidencegym.confidence.strips import strips_of
from evidencegym.data.records import Passage
from evidencegym.retrieval.bm25 import BM25Retriever
from tests.small_world import passages, retriever

QUESTION = "Where was the director of The Amber Gate born?"
FILM, DIRECTOR, TOWN = (passages()[title] for title in ("The Amber Gate", "Ilona Varga", "Kelmar"))
OTHER, NOVEL = passages()["Northern Lamp"], passages()["The Amber Gate (novel)"]


def features(*texts: Passage, beside: tuple[Passage, ...] = (), question: str = QUESTION) -> list[dict[str, float]]:
    rows = Reader(retriever()).read(EvaluateTask(question, "", texts, beside))
    return [dict(zip(FEATURES, row)) for row in rows.tolist()]


def test_every_feature_belongs_to_one_group() -> None:
    assert len(set(FEATURES)) == len(FEATURES) == sum(map(len, GROUPS.values()))
    assert features(FILM)[0].keys() == set(FEATURES)


def test_names_of_the_question_align_with_title_and_text() -> None:
    film, director, other = features(FILM, DIRECTOR, OTHER)
    assert film["subject_is_name"] == film["subject_in_question"] == film["name_share"] == 1
    assert (film["spoken_names"], film["names_absent"], film["same_names"]) == (1, 0, 1)
    assert other["name_share"] == other["subject_is_name"] == 0 and other["names_absent"] == 1
    assert director["subject_unasked"] == pytest.approx(director["subject_weight"]) and director["subject_overlap"] == 0
    assert film["name_share_lead"] == 1 and other["name_share_lead"] == -1


def test_a_name_that_another_text_is_about_is_counted() -> None:
    speaking = Passage.of("Film Guide", ("The guide praises The Amber Gate.",))
    alone, *_ = features(speaking)
    beside, *_ = features(speaking, FILM)
    assert (alone["names_titled_elsewhere"], beside["names_titled_elsewhere"]) == (0, 1)
    assert beside["spoken_names"] == 1


def test_other_words_overlap_without_the_names() -> None:
    film, director, town = features(FILM, DIRECTOR, TOWN)
    assert director["plain_share"] == pytest.approx(1.0) and film["plain_share"] == 0
    assert film["plain_mass"] == pytest.approx(1 - film["name_mass"])
    assert town["plain_best"] == 0 < director["plain_best"]


def test_neighbouring_words_count_only_where_they_are_neighbours() -> None:
    near, far = features(
        Passage.of("A", ("The oldest wooden bridge stands.",)),
        Passage.of("B", ("The bridge is wooden and the oldest.",)),
        question="Who built the oldest wooden bridge?",
    )
    assert near["plain_pairs"] == pytest.approx(2 / 3) and far["plain_pairs"] == 0


def test_a_bridge_is_seen_through_the_rest_of_the_evidence() -> None:
    alone, linked = features(DIRECTOR)[0], features(DIRECTOR, beside=(FILM,))[0]
    assert alone["mentioned_by"] == alone["others"] == 0 and alone["distance"] == 4
    assert linked["mentioned_by"] == linked["mention_asked"] == linked["others"] == linked["distance"] == 1
    assert linked["mention_overlap"] > linked["mention_share"] >= 0
    assert linked["joint_cover"] == pytest.approx(1.0) and linked["cover_gain"] > 0
    film = features(FILM, beside=(DIRECTOR,))[0]
    assert film["back_links"] == 1 and film["mentioned_by"] == 0 and film["distance"] == 0 and film["reached_from"] == 0
    assert [row["distance"] for row in features(FILM, DIRECTOR, TOWN, OTHER)] == [0, 1, 2, 4]


def test_common_names_that_the_question_does_not_hold_are_links() -> None:
    church = Passage.of("Old Church", ("The church is the pride of Falsund.",))
    writer = passages()["Oskar Lind"]
    row, other = features(church, OTHER, beside=(writer,))
    assert row["common_names"] == 1 and row["common_weight"] > 0 and other["common_names"] == 0
    assert features(church, beside=(writer,), question="Who built the church of Falsund?")[0]["common_names"] == 0


def test_a_text_is_not_linked_to_its_own_document_nor_to_its_strips() -> None:
    strips = [strip.text for strip in strips_of(Passage.of("Film", ("Film one.", "Film two.", "Film three.")), 1)]
    rows = features(*strips, beside=(Passage.of("Film", ("Film one.", "Film two.", "Film three.")),))
    assert all(row["others"] == row["mentioned_by"] == row["common_names"] == 0 for row in rows)


def test_cutting_the_rest_of_the_evidence_changes_no_link() -> None:
    cut = tuple(strip.text for document in (FILM, TOWN) for strip in strips_of(document, 1))
    whole, both = features(DIRECTOR, beside=(FILM, TOWN)), features(DIRECTOR, beside=(FILM, TOWN, *cut))
    assert whole == both


@given(st.permutations(list(passages().values())[:8]))
@settings(max_examples=15, deadline=None)
def test_the_order_of_the_texts_changes_no_row(texts: list[Passage]) -> None:
    ordered = sorted(texts, key=lambda text: text.id)
    rows = {text.id: row for text, row in zip(texts, features(*texts))}
    assert rows == {text.id: row for text, row in zip(ordered, features(*ordered))}


@pytest.mark.parametrize("question", ["", "?", "of the", "東京", "Straße É?", "A A A"])
def test_odd_texts_have_finite_features(question: str) -> None:
    odd = [
        Passage.of("", ()),
        Passage.of("Straße (film)", ("", "É.", "東京 is a city. " * 200)),
        Passage.of("A", ("a",)),
        Passage.of("A", ("A is not a.",)),
        Passage.of("(film)", ("(film)",)),
    ]
    reader = Reader(BM25Retriever.build(odd))
    rows = reader.read(EvaluateTask(question, "", tuple(odd), (*odd, *odd)))
    assert rows.shape == (5, len(FEATURES)) and np.isfinite(rows).all() and rows.dtype == np.float32


def test_two_texts_with_one_id_that_are_cut_otherwise_are_read_apart() -> None:
    whole = Passage.of("Ilona Varga", (DIRECTOR.text,))
    assert whole.id == DIRECTOR.id
    together = features(whole, DIRECTOR)
    assert [row["sentences"] for row in together] == [1, 2]
    assert together[0]["joint_sentence"] == features(whole)[0]["joint_sentence"]


def test_every_feature_is_documented_once() -> None:
    text = (Path(__file__).parents[2] / "docs" / "evaluator.md").read_text(encoding="utf-8")
    assert re.findall(r"\n\| `(\w+)` \|", text.split("## Fitting")[0]) == list(FEATURES)


def test_the_code_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "evaluator.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(block, "docs/evaluator.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.split()[0] in ("correct", "ambiguous", "incorrect")
