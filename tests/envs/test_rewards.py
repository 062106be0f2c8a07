"""Rewards and metrics: the only readers of gold."""

from dataclasses import replace

import pytest

from evidencegym.actions.costs import Cost
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Gold
from evidencegym.envs.metrics import episode_metrics
from evidencegym.envs.rewards import DEFAULT_REWARDS, AnswerF1, CostPenalty, SupportRecallGain
from evidencegym.generation.tasks import Answer, Snippet
from tests.small_world import engine, passages, records


def held(*titles: str) -> EvidenceState:
    from evidencegym.retrieval.base import Hit

    hits = [Hit(passages()[title], 1.0, rank) for rank, title in enumerate(titles)]
    return EvidenceState(records()[2].question).received("retrieve_more", "q", hits)


def gold(number: int = 2) -> Gold:
    found = records()[number].gold
    assert found is not None
    return found


def test_recall_gain() -> None:
    none, one, two = held(), held("Kelmar"), held("Kelmar", "Ilona Varga", "Tarn")
    gain = SupportRecallGain()
    assert gain(none, one, "retrieve_more", gold()) == pytest.approx(1 / 3)
    assert gain(one, two, "gap_query", gold()) == pytest.approx(1 / 3)
    assert gain(two, two, "sufficiency_check", gold()) == 0


def test_answer_f1_comes_with_the_answer() -> None:
    state = held("Kelmar")
    assert AnswerF1()(state, state, "stop_answer", gold()) == 0
    assert AnswerF1()(state, replace(state, answer=Answer("Ostra river")), "stop_answer", gold()) == pytest.approx(
        2 / 3
    )
    assert AnswerF1()(state, replace(state, answer=Answer("the ostra")), "stop_answer", gold()) == 1


def test_cost_penalty() -> None:
    before = held().charged("gap_query", Cost(prompt_tokens=500))
    after = before.charged("gap_query", Cost(prompt_tokens=2000, retrievals=1, generator_calls=2))
    weights = {"prompt_tokens": 0.1, "retrievals": 0.5, "generator_calls": 0.25}
    assert CostPenalty(weights)(before, after, "gap_query", gold()) == pytest.approx(-(0.2 + 0.5 + 0.5))
    with pytest.raises(ConfigError, match="unknown kind of cost tokens"):
        CostPenalty({"tokens": 1})


def test_the_defaults_are_recall_gain_and_f1() -> None:
    assert list(DEFAULT_REWARDS) == ["support_recall_gain", "answer_f1"]


def test_metrics_by_hand() -> None:
    state = replace(held("Kelmar", "Tarn", "The Amber Gate"), answer=Answer("Ostra"))
    everything = episode_metrics(gold(), state)
    assert everything == {
        "support_recall": pytest.approx(2 / 3),
        "full_support": 0.0,
        "context_support_recall": pytest.approx(2 / 3),
        "recall_at_2": pytest.approx(1 / 3),
        "recall_at_5": pytest.approx(2 / 3),
        "answer_em": 1.0,
        "answer_f1": 1.0,
    }
    cut = replace(state, snippets=(Snippet(passages()["Kelmar"].id, "x", 0),), answer=None)
    assert episode_metrics(gold(), cut)["context_support_recall"] == pytest.approx(1 / 3)
    assert episode_metrics(gold(), cut)["answer_em"] == 0.0
    assert episode_metrics(gold(), replace(state, snippets=()))["context_support_recall"] == pytest.approx(2 / 3)


def test_context_recall_counts_what_the_context_cap_leaves() -> None:
    rules = Rules()
    state = held("Kelmar", "Ilona Varga", "The Amber Gate")
    narrow = replace(state, caps=replace(rules.caps, context_documents=1), answer=Answer(""))
    metrics = episode_metrics(gold(), narrow)
    assert (metrics["support_recall"], metrics["full_support"]) == (1.0, 1.0)
    assert metrics["context_support_recall"] == pytest.approx(1 / 3)


def test_without_an_answer_in_gold_silence_is_right() -> None:
    state = held("Falsund")
    silent = episode_metrics(gold(7), replace(state, answer=Answer("")))
    assert (silent["answer_em"], silent["answer_f1"], silent["support_recall"]) == (1.0, 1.0, 1.0)
    assert episode_metrics(gold(7), replace(state, answer=Answer("Jon Sand")))["answer_f1"] == 0.0


def test_titles_count_where_gold_matches_by_title() -> None:
    assert gold(0).match_support_by == "title" and not gold(0).support_ids
    [done] = Rules().conclude([held("The Amber Gate", "Ilona Varga")], engine())
    assert episode_metrics(gold(0), done)["full_support"] == 1.0
