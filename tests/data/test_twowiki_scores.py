"""2WikiMultiHopQA's own rules: titles without case, aliases, evidence triples."""

from typing import Any

import pytest

from evidencegym.data.twowiki_scores import twowiki_scores

TRIPLE = ("Anna Kern", "place of birth", "Old-Ham")
RIGHT: dict[str, Any] = {"answer": "Rome", "facts": [("Anna Kern", 0)], "evidences": [TRIPLE]}
GOLD: dict[str, Any] = {"gold_answers": ["Rome"], "gold_facts": [("Anna Kern", 0)], "gold_evidences": [[TRIPLE]]}


def test_a_perfect_prediction_scores_one_everywhere() -> None:
    scores = twowiki_scores(**RIGHT, **GOLD)
    assert len(scores) == 16
    assert set(scores.values()) == {1.0}


def test_the_case_of_titles_is_ignored_but_two_spellings_are_two_facts() -> None:
    assert twowiki_scores(**{**RIGHT, "facts": [("ANNA KERN", 0)]}, **GOLD)["sp_em"] == 1.0
    doubled = twowiki_scores(**{**RIGHT, "facts": [("ANNA KERN", 0), ("Anna Kern", 0)]}, **GOLD)
    assert (doubled["sp_prec"], doubled["sp_recall"]) == (1.0, 1.0)
    spellings = {**GOLD, "gold_facts": [("Anna Kern", 0), ("anna kern", 0)]}
    assert twowiki_scores(**RIGHT, **spellings)["sp_recall"] == 1.0


def test_each_missing_part_scores_zero_and_so_does_the_joint() -> None:
    for part, prefix in (("answer", ""), ("facts", "sp_"), ("evidences", "evi_")):
        scores = twowiki_scores(**{**RIGHT, part: None}, **GOLD)
        zeros = {name for name, value in scores.items() if value == 0.0}
        assert zeros == {f"{p}{name}" for p in (prefix, "joint_") for name in ("em", "f1", "prec", "recall")}


def test_triples_are_compared_without_case_and_punctuation() -> None:
    evidences = [("anna  kern", "Place of Birth", "oldham")]
    assert twowiki_scores(**{**RIGHT, "evidences": evidences}, **GOLD)["evi_em"] == 1.0


def test_aliases_widen_answers_and_triples() -> None:
    aliased = {
        **GOLD,
        "gold_answers": ["Rome", "Roma"],
        "gold_evidences": [[TRIPLE, ("A. Kern", "place of birth", "Old-Ham")]],
    }
    scores = twowiki_scores("Roma", [("Anna Kern", 0)], [("A Kern", "place of birth", "old ham")], **aliased)
    assert scores["em"] == 1.0
    assert scores["evi_em"] == 0.0  # a hyphen vanishes, a space does not
    scores = twowiki_scores("Roma", [("Anna Kern", 0)], [("A Kern", "place of birth", "oldham")], **aliased)
    assert scores["evi_em"] == scores["joint_f1"] == 1.0


def test_two_aliases_of_one_triple_overcount_as_the_official_script_does() -> None:
    phrasings = {**GOLD, "gold_evidences": [[TRIPLE, ("A. Kern", "place of birth", "Old-Ham")]]}
    scores = twowiki_scores(**{**RIGHT, "evidences": [TRIPLE, ("A. Kern", "place of birth", "Old-Ham")]}, **phrasings)
    assert (scores["evi_recall"], scores["evi_prec"], scores["evi_em"]) == (2.0, 1.0, 0.0)


def test_no_evidence_at_all_scores_zero_without_dividing_by_it() -> None:
    scores = twowiki_scores(**{**RIGHT, "evidences": []}, **GOLD)
    assert scores["evi_f1"] == 0.0
    nothing = twowiki_scores(**{**RIGHT, "evidences": []}, **{**GOLD, "gold_evidences": []})
    assert (nothing["evi_em"], nothing["evi_f1"]) == (1.0, 0.0)
    assert nothing["joint_em"] == pytest.approx(1.0)
