"""Knowledge strips: how documents are cut, which strips stay, and that their order does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.confidence.refinement import RefinementSettings, filtered, recomposed, refine
from evidencegym.confidence.strips import cut, strips_of
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Passage
from tests.judges import OverlapEvaluator

SENTENCES = st.lists(st.sampled_from(["", "  ", "One.", "Two is here.", "Three."]), max_size=9)


def passage(*sentences: str, title: str = "T") -> Passage:
    return Passage.of(title, sentences)


@pytest.mark.parametrize(
    ("count", "size", "cuts"),
    [
        (1, 1, [(0,)]),
        (2, 1, [(0, 1)]),
        (2, 3, [(0, 1)]),
        (3, 1, [(0,), (1,), (2,)]),
        (3, 2, [(0, 1), (2,)]),
        (5, 2, [(0, 1), (2, 3), (4,)]),
        (3, 9, [(0, 1, 2)]),
        (0, 2, []),
    ],
)
def test_one_or_two_sentences_stay_whole_and_more_are_cut(count: int, size: int, cuts: list[tuple[int, ...]]) -> None:
    document = passage(*(f"Sentence {i}." for i in range(count)))
    assert [strip.sentences for strip in strips_of(document, size)] == cuts


@given(SENTENCES, st.integers(1, 5))
def test_strips_hold_every_filled_sentence_once_and_no_empty_one(sentences: list[str], size: int) -> None:
    document = passage(*sentences)
    held = [index for strip in strips_of(document, size) for index in strip.sentences]
    assert held == [index for index, sentence in enumerate(sentences) if sentence.strip()]
    assert all(strip.text.title == "T" and strip.text.text for strip in strips_of(document, size))


def test_a_cut_keeps_id_title_and_indices() -> None:
    document = passage("A.", "B.", "C.")
    left = cut(document, [2, 0])
    assert (left.id, left.title, left.sentences) == (document.id, "T", ("A.", "", "C."))
    assert left != document and left.text == "A. C."


def test_strips_below_the_threshold_go_and_one_at_it_stays() -> None:
    strips = strips_of(passage("A.", "B.", "C.", "D."), 1)
    kept = filtered(strips, (-0.5, -0.51, 0.3, -1.0), RefinementSettings(1, -0.5, 5))
    assert [strip.sentences for strip in kept] == [(0,), (2,)]


def test_the_best_strips_stay_in_document_order_and_ties_go_to_the_earlier() -> None:
    strips = strips_of(passage("A.", "B.", "C.", "D."), 1)
    kept = filtered(strips, (0.1, 0.9, 0.1, 0.5), RefinementSettings(1, -0.5, 3))
    assert [strip.sentences for strip in kept] == [(0,), (1,), (3,)]


def test_where_no_strip_reaches_the_threshold_the_best_one_stays() -> None:
    strips = strips_of(passage("A.", "B.", "C."), 1)
    assert [s.sentences for s in filtered(strips, (-0.9, -0.7, -0.8), RefinementSettings(1))] == [(1,)]
    assert filtered((), (), RefinementSettings()) == ()


def test_recomposition_joins_the_strips_of_a_document() -> None:
    first, second = passage("A.", "B.", "C.", title="1"), passage("D.", "E.", "F.", title="2")
    strips = [*strips_of(second, 1), *strips_of(first, 1)]
    assert [(p.title, p.sentences) for p in recomposed([strips[0], strips[3], strips[5]])] == [
        ("2", ("D.", "", "")),
        ("1", ("A.", "", "C.")),
    ]


def test_refinement_alone_needs_no_thresholds() -> None:
    documents = [
        passage("The gate is old.", "It rains.", "The amber gate was built of stone."),
        passage("Nothing of it.", "Nor here.", "Nor there.", title="U"),
    ]
    left = refine("Who built the amber gate?", documents, OverlapEvaluator(None), RefinementSettings(1, 0.0))
    assert [(p.title, p.text) for p in left] == [("T", "The amber gate was built of stone.")]
    assert refine("Who?", [], OverlapEvaluator(None)) == ()


@pytest.mark.parametrize("wrong", [{"sentences": 0}, {"most": 0}, {"threshold": -1.1}, {"threshold": float("nan")}])
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        RefinementSettings(**wrong)  # type: ignore[arg-type]
