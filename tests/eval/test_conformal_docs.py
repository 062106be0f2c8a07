"""The page on conformal confidence: its code runs, its figures are those of the record."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "conformal.md").read_text(encoding="utf-8")
RECORD = json.loads((ROOT / "benchmarks" / "records" / "conformal.json").read_text(encoding="utf-8"))
NAMES = {"hotpotqa": "HotpotQA", "2wikimultihopqa": "2WikiMultiHopQA", "musique": "MuSiQue"}


def test_the_code_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    scope = {"__name__": "__main__"}
    exec(compile("\n".join(blocks), "docs/conformal.md", "exec"), scope)
    assert 0 < len(scope["trusted"]) <= 10
    assert "Answers from trusted chunks" in capsys.readouterr().out
    assert {file.name for file in Path("runs/report").iterdir()} > {"conformal.md", "calibrations"}


@pytest.mark.parametrize("dataset", list(NAMES))
def test_the_figures_of_coverage_are_those_of_the_record(dataset: str) -> None:
    found = RECORD[dataset]
    for held, dev in zip(found["held_out"], found["conformal_coverage"]):
        cells = [NAMES[dataset], f"{dev['alpha']:g}", f"{held['coverage'][0]:.3f} ± {1.96 * held['error']:.3f}"]
        cells += [f"{dev['coverage']:.3f} ± {1.96 * dev['error']:.3f}"]
        cells += [f"{dev[key]:.3f}" for key in ("precision", "m1", "m2", "reachable")]
        assert f"| {' | '.join(cells)} |" in PAGE


@pytest.mark.parametrize("dataset", list(NAMES))
def test_the_figures_of_answers_are_those_of_the_record(dataset: str) -> None:
    for row in RECORD[dataset]["conformal_answers"]:
        ends = f"[{row['f1_difference_low']:+.3f}, {row['f1_difference_high']:+.3f}]"
        cells = [NAMES[dataset], f"{row['alpha']:g}", f"{row['chunks']:.1f}", f"{row['agreement']:.3f}"]
        cells += [f"{row[key]:.3f}" for key in ("em", "em_all", "f1", "f1_all")]
        assert f"| {' | '.join(cells)} | {row['f1_difference']:+.3f} {ends} |" in PAGE
