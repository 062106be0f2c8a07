"""The metrics against the numbers that the official evaluation scripts gave for perturbed predictions."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data.errors import ConfigError
from evidencegym.data.official_scores import official_scores
from evidencegym.data.records import Gold

RealData = Callable[[str], Path]


def cases(file: Path) -> Iterator[tuple[Any, Any, dict[str, float]]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            yield case["gold"], case["prediction"], case["official"]


def tuples(rows: list[list[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in rows)


def test_hotpotqa_equals_the_official_script(real_data: RealData) -> None:
    checked = 0
    for gold, prediction, official in cases(real_data("hotpotqa/metric_cases.jsonl.gz")):
        annotated = Gold(gold["_id"], (gold["answer"],), supporting_facts=tuples(gold["supporting_facts"]))
        scores = official_scores("hotpotqa", annotated, prediction["answer"], facts=tuples(prediction["sp"]))
        assert scores == official
        checked += 1
    assert checked == 150


def test_2wikimultihopqa_equals_the_official_script_after_its_rounding(real_data: RealData) -> None:
    checked = 0
    for gold, prediction, official in cases(real_data("2wikimultihopqa/metric_cases.jsonl.gz")):
        annotated = Gold(
            gold["_id"],
            (gold["answer"],),
            supporting_facts=tuples(gold["supporting_facts"]),
            evidences=tuples(gold["evidences"]),
        )
        scores = official_scores(
            "2wikimultihopqa",
            annotated,
            prediction["answer"],
            facts=tuples(prediction["sp"]),
            evidences=tuples(prediction["evidence"]),
        )
        assert {name: round(value * 100, 2) / 100 for name, value in scores.items()} == official
        assert {name: round(value, 4) for name, value in scores.items()} == pytest.approx(official, abs=1e-12)
        checked += 1
    assert checked == 150


def test_musique_equals_the_official_script(real_data: RealData) -> None:
    checked = 0
    for gold, prediction, official in cases(real_data("musique/metric_cases.jsonl.gz")):
        wanted = tuple(str(index) for index in gold["support_idxs"])
        annotated = Gold("q", tuple(gold["answers"]), support_ids=wanted, match_support_by="id")
        found = [str(index) for index in prediction["support_idxs"]]
        assert official_scores("musique", annotated, prediction["answer"], support_ids=found) == official
        checked += 1
    assert checked == 150


def test_without_an_answer_to_find_there_are_no_metrics() -> None:
    assert official_scores("musique", Gold("q", ("x",), answerable=False), "x") == {}
    assert official_scores("hotpotqa", Gold("q", ()), "x") == {}


def test_an_unknown_data_set_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'squad'.*hotpotqa, 2wikimultihopqa, musique"):
        official_scores("squad", Gold("q", ("x",)), "x")
