"""Scoring files: the official formats, missing and extra predictions, MuSiQue-Full's twins, and faults in a file."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data.errors import ConfigError, DataError
from evidencegym.eval.score import Scores, format_scores, score, to_json

RealData = Callable[[str], Path]

ANNA = {
    "_id": "anna",
    "answer": "Rome",
    "supporting_facts": [["Anna", 0], ["Rome", 1]],
    "evidences": [["Anna", "place of birth", "Rome"]],
}
BERT = {"_id": "bert", "answer": "yes", "supporting_facts": [["Bert", 0]], "evidences": [["Bert", "job", "poet"]]}
HOTPOT = [{key: value for key, value in row.items() if key != "evidences"} for row in (ANNA, BERT)]
ANSWERS = {"anna": "Rome", "bert": "yes"}
FACTS = {"anna": [["Anna", 0], ["Rome", 1]], "bert": [["Bert", 0]]}
EVIDENCE = {"anna": ANNA["evidences"], "bert": BERT["evidences"]}


def write(folder: Path, name: str, value: object) -> Path:
    file = folder / name
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return file


def write_lines(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    return write(folder, name, "".join(json.dumps(row) + "\n" for row in rows))


def hotpot(folder: Path, predictions: object) -> Scores:
    return score("hotpotqa", write(folder, "gold.json", HOTPOT), write(folder, "predictions.json", predictions))


def question(key: str, support: list[int], answerable: bool = True, answer: str = "Rome") -> dict[str, Any]:
    paragraphs = [{"idx": i, "title": "t", "paragraph_text": "x", "is_supporting": i in support} for i in range(4)]
    return {"id": key, "answer": answer, "answer_aliases": [], "answerable": answerable, "paragraphs": paragraphs}


def line(key: str, answer: str, support: list[Any], answerable: object = True) -> dict[str, Any]:
    return {
        "id": key,
        "predicted_answer": answer,
        "predicted_support_idxs": support,
        "predicted_answerable": answerable,
    }


def musique(folder: Path, golds: list[dict[str, Any]], lines: list[dict[str, Any]]) -> Scores:
    return score("musique", write_lines(folder, "gold.jsonl", golds), write_lines(folder, "pred.jsonl", lines))


def test_hotpotqa_means(tmp_path: Path) -> None:
    scores = hotpot(tmp_path, {"answer": {"anna": "old Rome", "bert": "yes"}, "sp": {**FACTS, "anna": [["Anna", 0]]}})
    assert list(scores.metrics)[:5] == ["em", "f1", "prec", "recall", "sp_em"]
    assert scores.metrics["em"] == 0.5
    assert scores.metrics["f1"] == (2 / 3 + 1) / 2
    assert scores.metrics["joint_recall"] == (0.5 + 1) / 2
    assert scores.warnings() == []


def test_a_missing_part_is_named_and_scores_zero(tmp_path: Path) -> None:
    scores = hotpot(tmp_path, {"answer": {"anna": "Rome"}, "sp": {"bert": [["Bert", 0]], "carl": []}})
    assert scores.missing == {"answer": ("bert",), "sp": ("anna",)}
    assert scores.extra == ("carl",)
    assert (scores.metrics["em"], scores.metrics["sp_em"], scores.metrics["joint_em"]) == (0.5, 0.5, 0.0)
    warnings = scores.warnings()
    assert warnings[:2] == ["missing answer bert", "missing sp anna"]
    assert "2 missing in all, over 2 questions" in warnings[2]
    assert "carl" in warnings[3]


def test_2wikimultihopqa_has_evidence(tmp_path: Path) -> None:
    gold = write(tmp_path, "gold.json", [ANNA, BERT])
    predictions = {"answer": ANSWERS, "sp": FACTS, "evidence": {"anna": EVIDENCE["anna"]}}
    scores = score("2wikimultihopqa", gold, write(tmp_path, "p.json", predictions))
    assert len(scores.metrics) == 16
    assert (scores.metrics["em"], scores.metrics["evi_em"], scores.metrics["joint_f1"]) == (1.0, 0.5, 0.5)
    assert scores.missing["evidence"] == ("bert",)


def test_2wikimultihopqa_aliases(tmp_path: Path) -> None:
    row = {**ANNA, "answer_id": "Q220", "evidences_id": [["Q1", "place of birth", "Q220"]]}
    gold = write(tmp_path, "gold.json", [row])
    aliases = write_lines(tmp_path, "a.json", [{"Q_id": "Q220", "aliases": ["Roma"], "demonyms": ["Roman"]}])
    evidence = {"anna": [["Anna", "place of birth", "Roma"]]}
    predicted = write(tmp_path, "p.json", {"answer": {"anna": "roman"}, "sp": FACTS, "evidence": evidence})
    assert set(score("2wikimultihopqa", gold, predicted, aliases).metrics.values()) == {1.0}
    assert score("2wikimultihopqa", gold, predicted).metrics["em"] == 0.0
    with pytest.raises(DataError, match="no alias applies"):
        score("2wikimultihopqa", write(tmp_path, "old.json", [ANNA]), predicted, aliases)
    with pytest.raises(ConfigError, match="2wikimultihopqa"):
        score("hotpotqa", gold, predicted, aliases)


def test_musique_ans(tmp_path: Path) -> None:
    golds = [question("a", [0, 1]), question("b", [2], answer="Ham"), question("c", [3])]
    lines = [line("b", "Old Ham", ["2", 0]), line("a", "Rome", [0, 1]), line("z", "x", [])]
    scores = musique(tmp_path, golds, lines)
    assert list(scores.metrics) == ["answer_em", "answer_f1", "support_em", "support_f1"]
    assert scores.metrics["answer_f1"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert scores.metrics["support_em"] == pytest.approx(1 / 3)
    assert (scores.missing, scores.extra) == ({"prediction": ("c",)}, ("z",))


def test_musique_ans_needs_no_verdict_and_musique_full_does(tmp_path: Path) -> None:
    silent = {key: value for key, value in line("a", "Rome", [0]).items() if key != "predicted_answerable"}
    assert musique(tmp_path, [question("a", [0])], [silent]).metrics["answer_em"] == 1.0
    with pytest.raises(DataError, match="record 1: 'predicted_answerable' is missing"):
        musique(tmp_path, [question("a", [0]), question("a", [], False)], [silent, silent])


def test_musique_full_scores_pairs(tmp_path: Path) -> None:
    golds = [question("a", [0]), question("b", [1], False), question("a", [], False), question("b", [1, 2])]
    lines = [line("a", "Rome", [0]), line("b", "", [], 0), line("a", "", [], False), line("b", "Rome", [1], False)]
    metrics = musique(tmp_path, golds, lines).metrics
    assert metrics["answer_em"] == 1.0  # over the two answerable questions
    assert metrics["group_sufficiency"] == 0.5
    assert metrics["group_answer_sufficiency_f1"] == metrics["group_support_sufficiency_em"] == 0.5
    assert metrics["support_f1"] == pytest.approx((1 + 2 / 3) / 2)


def test_one_prediction_for_two_twins_is_missing_for_both(tmp_path: Path) -> None:
    golds = [question("a", [0]), question("a", [], False)]
    scores = musique(tmp_path, golds, [line("a", "Rome", [0])])
    assert scores.missing == {"prediction": ("a", "a")}
    assert set(scores.metrics.values()) == {0.0}


def test_a_question_without_its_twin_is_left_out_of_the_group_metrics(tmp_path: Path) -> None:
    golds = [question("a", [0]), question("a", [], False), question("b", [0], False)]
    lines = [line("a", "Rome", [0]), line("a", "", [], False), line("b", "", [], True)]
    scores = musique(tmp_path, golds, lines)
    assert scores.unpaired == ("b",)
    assert set(scores.metrics.values()) == {1.0}
    assert "without a twin" in scores.warnings()[0]
    with pytest.raises(DataError, match="nothing can be scored"):
        musique(tmp_path, golds[2:], lines[2:])


def test_a_paragraph_that_stands_twice_counts_by_its_index(tmp_path: Path) -> None:
    twice = question("a", [1])  # all four paragraphs have the same text
    assert musique(tmp_path, [twice], [line("a", "Rome", [1])]).metrics["support_em"] == 1.0
    assert musique(tmp_path, [twice], [line("a", "Rome", [0])]).metrics["support_em"] == 0.0


def test_gzip_is_read(tmp_path: Path) -> None:
    gold, predictions = tmp_path / "gold.json.gz", tmp_path / "predictions.json.gz"
    gold.write_bytes(gzip.compress(json.dumps(HOTPOT).encode()))
    predictions.write_bytes(gzip.compress(json.dumps({"answer": ANSWERS, "sp": FACTS}, indent=1).encode()))
    assert score("hotpotqa", gold, predictions).metrics["joint_f1"] == 1.0


def test_output_names_each_metric_with_its_unrounded_fraction(tmp_path: Path) -> None:
    scores = hotpot(tmp_path, {"answer": {"anna": "a very old Rome", "bert": "yes"}, "sp": FACTS})
    assert json.loads(to_json(scores)) == scores.metrics
    assert dict(row.split() for row in format_scores(scores).splitlines()) == {
        name: repr(value) for name, value in scores.metrics.items()
    }


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "must be an object"),
        ({"answer": ANSWERS}, "expected the key 'sp', found answer"),
        ({"answer": {"anna": None}, "sp": {}}, "'answer' of 'anna' must be a string, found None"),
        ({"answer": ANSWERS, "sp": {"bert": ["Bert"]}}, "'sp' of 'bert', entry 0, must be"),
        ({"answer": ANSWERS, "sp": {"bert": [["Bert", "0"]]}}, "the index must be a whole number"),
    ],
)
def test_a_malformed_prediction_file_names_file_and_key(tmp_path: Path, predictions: object, message: str) -> None:
    with pytest.raises(DataError, match=r"predictions\.json: ") as caught:
        hotpot(tmp_path, predictions)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"id": "a"}, "'predicted_support_idxs' is missing"),
        (line("a", "Rome", [None]), "'predicted_support_idxs'[0] must be a whole number"),
        (line("a", "Rome", [0], "yes"), "'predicted_answerable' must be true or false"),
    ],
)
def test_a_malformed_prediction_line_names_file_and_line(tmp_path: Path, broken: dict[str, Any], message: str) -> None:
    golds = [question("a", [0]), question("b", [0])]
    with pytest.raises(DataError, match=r"pred\.jsonl, record 2: ") as caught:
        musique(tmp_path, golds, [line("b", "Rome", [0]), broken])
    assert message in str(caught.value)


def test_a_question_predicted_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'a' is predicted 2 times, asked 1 times"):
        musique(tmp_path, [question("a", [0])], [line("a", "Rome", [0])] * 2)


def test_a_gold_file_of_another_data_set_is_refused(tmp_path: Path) -> None:
    predictions = write(tmp_path, "p.json", {"answer": {}, "sp": {}, "evidence": {}})
    with pytest.raises(DataError, match=r"gold\.json, record 1: .*hotpotqa"):
        score("hotpotqa", write(tmp_path, "gold.json", [ANNA]), predictions)
    with pytest.raises(DataError, match=r"gold\.jsonl, record 1: .*2wikimultihopqa"):
        score("2wikimultihopqa", write_lines(tmp_path, "gold.jsonl", [question("a", [0])]), predictions)
    with pytest.raises(DataError, match="none"):
        score("hotpotqa", write(tmp_path, "empty.json", []), predictions)
    with pytest.raises(DataError, match="no such file"):
        score("hotpotqa", tmp_path / "absent.json", predictions)
    with pytest.raises(ConfigError, match="squad"):
        score("squad", predictions, predictions)


def test_every_metric_case_as_files(tmp_path: Path, real_data: RealData) -> None:
    for dataset in ("hotpotqa", "2wikimultihopqa"):
        with gzip.open(real_data(f"{dataset}/metric_cases.jsonl.gz"), "rt", encoding="utf-8") as lines:
            cases = [json.loads(row) for row in lines]
        parts = ("answer", "sp", "evidence") if dataset == "2wikimultihopqa" else ("answer", "sp")
        golds = [{**case["gold"], "_id": str(number)} for number, case in enumerate(cases)]
        predictions = {part: {str(n): case["prediction"][part] for n, case in enumerate(cases)} for part in parts}
        files = write(tmp_path, "gold.json", golds), write(tmp_path, "predictions.json", predictions)
        metrics = score(dataset, *files).metrics
        for name, value in metrics.items():
            official = sum(case["official"][name] for case in cases) / len(cases)
            assert value == pytest.approx(official, abs=1e-4 if dataset == "2wikimultihopqa" else 1e-12)
