"""Write the results table and the episode of the README from the records of runs.

    python benchmarks/readme_table.py runs/hotpotqa runs/2wikimultihopqa runs/musique runs/quickstart

copies each run's comparison.json into benchmarks/records/, the trace of one question answered with the quickstart's
controller into benchmarks/records/episode.txt, and fills the README between its markers. Without arguments it fills the
README from the records that are there.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "benchmarks" / "records"
QUESTION = "Where was the director of The Glass Orchard born?"
DATASETS = ("hotpotqa", "2wikimultihopqa", "musique")
LABELS = {"hotpotqa": "HotpotQA", "2wikimultihopqa": "2WikiMultiHopQA", "musique": "MuSiQue"}


def copy_records(runs: Sequence[str]) -> None:
    """Copy the comparison of each run into the folder of records, named by data set."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    for run in runs:
        source = Path(run) / "evaluation"
        dataset = json.loads((source / "manifest.json").read_text())["dataset"]
        shutil.copyfile(source / "comparison.json", RECORDS / f"{dataset}.json")
        if dataset == "synthetic":
            (RECORDS / "episode.txt").write_text(episode(run))


def episode(run: str) -> str:
    """Return what ``evidencegym answer`` prints about one question over the example texts."""
    command = [
        "evidencegym",
        "answer",
        "--corpus",
        "docs/example",
        "--question",
        QUESTION,
        "--run",
        str(Path(run).resolve()),
    ]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def filled(readme: str) -> str:
    """Return the README with the text between the markers made from the records."""
    trace = (RECORDS / "episode.txt").read_text().rstrip()
    readme = _between(readme, "episode", f"```text\n{trace}\n```")
    return _between(readme, "results", tables())


def _between(readme: str, name: str, text: str) -> str:
    begin, end = f"<!-- {name}: benchmarks/readme_table.py -->", f"<!-- end of {name} -->"
    before, rest = readme.split(begin)
    return f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"


def tables() -> str:
    """Return both tables and the comparison at matched retrievals, over all data sets with a record."""
    records = {d: json.loads((RECORDS / f"{d}.json").read_text()) for d in DATASETS if (RECORDS / f"{d}.json").exists()}
    parts = [
        "At equal documents (12 passages each): support recall, and learned minus the method with its 95 % interval",
        _table(records, "equal"),
        "Free stopping: support recall / answer F1 / mean retrievals / mean tokens (words)",
        _free_table(records),
        "Free stopping at matched mean retrievals: support recall, learned minus the baseline",
        _matched_table(records),
    ]
    return "\n\n".join(parts)


def _table(records: dict[str, Any], protocol: str) -> str:
    methods = list(next(iter(records.values()))[protocol]["means"])
    return _markdown(records, methods, lambda d, m: _equal_cell(records[d][protocol], m))


def _equal_cell(protocol: dict[str, Any], method: str) -> str:
    mean = protocol["means"][method]["support_recall"]["mean"]
    if method not in protocol["differences"]:
        return f"**{mean:.3f}**"
    return f"{mean:.3f} ({_interval(protocol['differences'][method]['support_recall'])})"


def _free_table(records: dict[str, Any]) -> str:
    methods = list(next(iter(records.values()))["free"]["means"])

    def cell(dataset: str, method: str) -> str:
        row = records[dataset]["free"]["means"][method]
        numbers = (row[name]["mean"] for name in ("support_recall", "answer_f1", "retrievals", "tokens"))
        return "{:.3f} / {:.3f} / {:.2f} / {:.0f}".format(*numbers)

    return _markdown(records, methods, cell)


def _matched_table(records: dict[str, Any]) -> str:
    names = list(next(iter(records.values()))["matched"]["support_recall"])
    return _markdown(records, names, lambda d, m: _interval(records[d]["matched"]["support_recall"][m]))


def _interval(value: dict[str, float]) -> str:
    return f"{value['mean']:+.3f} [{value['low']:+.3f}, {value['high']:+.3f}]"


def _markdown(records: dict[str, Any], methods: Sequence[str], cell: Any) -> str:
    head = [f"{LABELS[d]} ({records[d]['equal']['questions']})" for d in records]
    lines = [f"| method | {' | '.join(head)} |", f"|{'---|' * (len(head) + 1)}"]
    lines += [f"| {m} | {' | '.join(cell(d, m) for d in records)} |" for m in methods]
    return "\n".join(lines)


if __name__ == "__main__":
    copy_records(sys.argv[1:])
    file = ROOT / "README.md"
    file.write_text(filled(file.read_text()))
