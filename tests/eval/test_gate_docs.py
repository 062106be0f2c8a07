"""The figures of the page on the gate are those of the records."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
RECORDS = ROOT / "benchmarks" / "records"
NAMES = {"hotpotqa": "HotpotQA", "2wikimultihopqa": "2WikiMultiHopQA", "musique": "MuSiQue"}


@pytest.mark.parametrize("dataset", list(NAMES))
def test_the_figures_of_the_methods_are_those_of_the_record(dataset: str) -> None:
    record = json.loads((RECORDS / "gate.json").read_text(encoding="utf-8"))[dataset]
    for method, values in record["methods"].items():
        cells = [f"{values[key]['mean']:.3f}" for key in ("support_recall", "answer_f1")]
        cells += [f"{values[key]['mean']:.2f}" for key in ("retrievals", "external_searches", "episodes_with_a_gate")]
        assert f"| {NAMES[dataset]} ({record['questions']}) | {method} | {' | '.join(cells)} |" in PAGE
    for method in ("no gate", "gate disabled", "crag", "crag_3+ranker"):
        found = record["gate_minus"][method].values()
        cells = [f"{v['mean']:+.3f} [{v['low']:+.3f}, {v['high']:+.3f}]" for v in found]
        assert f"| {NAMES[dataset]} | {method} | {' | '.join(cells)} |" in PAGE


def test_the_figures_of_abstention_are_those_of_the_record() -> None:
    record = json.loads((RECORDS / "gate_fullwiki.json").read_text(encoding="utf-8"))
    for name in ("own", "the paper's for PopQA"):
        for rule, values in record[name]["abstaining"].items():
            assert f"| {name} | {rule} | {values['answered']:.3f} |" in PAGE
