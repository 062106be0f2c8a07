"""The observation: named, documented, bounded, and a function of the state alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from evidencegym.actions.bridge import bridge_candidates
from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import PRESETS, operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState, HeldPassage
from evidencegym.data.records import Passage, Question
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.overlap import overlap
from evidencegym.envs.question_shape import question_shape
from tests.small_world import engine
from tests.walks import picks, questions, walk

PAPER = FeatureMap(PRESETS["paper"])
ENGINE = engine()


def named(state: EvidenceState) -> dict[str, float]:
    return dict(zip(PAPER.names, PAPER.vector(state).tolist()))


def holding(question: str, *passages: Passage, newest: int = 1) -> EvidenceState:
    held = tuple(HeldPassage(p, 4.0 - i, i, "retrieve_more", question, 0) for i, p in enumerate(passages))
    return EvidenceState(Question.of(question), held=held, newest=newest, evidence_version=len(held))


def test_every_feature_has_a_name_of_its_own_a_meaning_and_a_finite_range() -> None:
    assert len(set(PAPER.names)) == len(PAPER.names)
    assert [f"count_{name}" for name in PRESETS["paper"]] == list(PAPER.names[-7:])
    for feature in PAPER.features:
        assert feature.name.isidentifier() and len(feature.meaning) > 5
        assert -np.inf < feature.low < feature.high < np.inf
    assert PAPER.low.dtype == PAPER.high.dtype == np.float32


def test_no_feature_is_named_after_gold() -> None:
    for name in PAPER.names:
        assert not any(word in name for word in ("gold", "support", "recall", "f1", "level", "type", "hop"))


@settings(deadline=None, max_examples=60)
@given(questions, picks)
def test_features_stay_in_their_ranges(question: int, choices: list[int]) -> None:
    rules = Rules(operation_set("paper", compress_in_control=True), Caps(steps=60, context_documents=3))
    for move in walk(rules, ENGINE, question, choices):
        vector = PAPER.vector(move.after)
        assert vector.dtype == np.float32 and vector.shape == (len(PAPER.names),)
        assert np.all(vector >= PAPER.low) and np.all(vector <= PAPER.high)
        assert np.array_equal(vector, PAPER.vector(move.after))


def test_extremes_are_clipped() -> None:
    long = holding("Which " + "word Name's of " * 999 + "?", *(Passage.of(f"T{i}", ["x " * 99]) for i in range(60)))
    extreme = replace(long, gap="w " * 999, caps=Caps(steps=999), frontier=10**6, sufficiency=7.0, probed_version=0)
    vector = PAPER.vector(extreme)
    assert np.all(vector >= PAPER.low) and np.all(vector <= PAPER.high)
    values = named(extreme)
    assert (values["question_words"], values["documents"], values["frontier"], values["sufficiency"]) == (
        100,
        50,
        100,
        1,
    )
    negative = replace(long, held=(HeldPassage(Passage.of("T", ["x"]), -5.0, 0, "o", "q", 0),))
    assert named(negative)["score_first"] == 0


def test_the_features_of_the_first_state() -> None:
    found = named(EvidenceState(Question.of("In which year was the director of Blue Stone born?")))
    expected = {
        "question_words": 10,
        "question_content_words": 5,
        "question_names": 1,
        "asks_when": 1,
        "question_links": 2,
        "steps_left": 4,
        "room": 3,
        "uncovered_words": 5,
        "names_missing": 1,
    }
    assert {name: value for name, value in found.items() if value} == expected


def test_overlap_by_hand() -> None:
    question = "Who directed Blue Stone and Red Sea?"
    blue = Passage.of("Blue Stone (film)", ["Blue Stone was directed by Ann Lee.", "It is old."])
    lee = Passage.of("Ann Lee", ["Ann Lee lives in Oslo."])
    state = replace(holding(question, blue, lee), candidates=("Oslo",))
    found = overlap(state)
    assert question_shape(question).content == ("directed", "blue", "stone", "red", "sea")
    assert found.covered == pytest.approx(0.6) and found.uncovered == 2
    assert (found.best, found.mean, found.newest) == (pytest.approx(0.6), pytest.approx(0.3), 0.0)
    assert overlap(replace(state, newest=0)).newest == 0.0
    assert overlap(replace(state, newest=2)).newest == pytest.approx(0.6)
    assert (found.titles, found.links, found.titles_asked) == (2, 1, 1)
    assert found.words == 3 + 7 + 3 + 2 + 5
    assert found.candidate == 0.0
    assert overlap(replace(state, candidates=("Ann Lee",))).candidate == pytest.approx(0.6)


def test_scores_probe_and_counts_by_hand() -> None:
    texts = [Passage.of(f"T{i}", [f"word{i}"]) for i in range(3)]
    state = replace(
        holding("Is it so?", *texts, newest=2),
        history=("retrieve_more", "sufficiency_check", "gap_query"),
        gap="the place of birth",
        sufficient=False,
        sufficiency=0.25,
        probed_version=2,
        queries=("Is it so?",),
    )
    found = named(state)
    assert [found[f"score_{place}"] for place in ("first", "second", "third", "last")] == [4, 3, 2, 2]
    assert found["score_mean"] == 3 and found["score_spread"] == pytest.approx((2 / 3) ** 0.5)
    assert (found["probed"], found["verdict"], found["sufficiency"], found["since_probe"]) == (0, -1, 0.25, 1)
    assert (found["gap_words"], found["gap_open"], found["asks_yes_no"]) == (4, 1, 1)
    assert named(replace(state, queries=("the place of birth",)))["gap_open"] == 0
    assert [found[f"count_{name}"] for name in PRESETS["paper"]] == [1, 1, 0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Who wrote it?", "who"),
        ("The film was made in which year?", "when"),
        ("In which country does it lie?", "where"),
        ("How many people live there?", "how_many"),
        ("Were both born in Oslo?", "yes_no"),
        ("What is the name?", "what"),
        ("Name the author.", "other"),
        ("", "other"),
    ],
)
def test_the_form_of_a_question(question: str, form: str) -> None:
    assert question_shape(question).form == form


@pytest.mark.parametrize("first", [0, 1])
def test_two_cuttings_of_one_text_keep_their_own_features(first: int) -> None:
    """A passage's id does not depend on where its sentences are cut: nothing may be remembered by id alone."""
    text = f"The tower {first} stands in Oslo."
    cuttings = [Passage.of("T", [f"{text} Bergen is far."]), Passage.of("T", [text, "Bergen is far."])]
    assert cuttings[0].id == cuttings[1].id
    expected = [(("Oslo. Bergen",), 0.75), (("Oslo", "Bergen"), 0.5)]
    for which in (first, 1 - first):
        state = replace(holding("Which tower stands far away?", cuttings[which]), candidates=("Oslo",))
        names = bridge_candidates(state.question.text, state.passages)
        assert (names, overlap(state).candidate) == expected[which]


def test_a_matrix_is_its_vectors() -> None:
    rules = Rules()
    states = [move.after for number in range(8) for move in walk(rules, ENGINE, number, [0, 2, 3])]
    assert np.array_equal(PAPER.matrix(states), np.stack([PAPER.vector(state) for state in states]))
    assert PAPER.matrix([]).shape == (0, len(PAPER.names))
