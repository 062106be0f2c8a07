"""Write the results and the episode of the README from the records of runs.

    python benchmarks/readme_table.py --benchmark benchmark --encoder benchmark_encoder --quickstart runs/quickstart

copies what the tables show of the benchmark's summary, and of one whose runs have an encoder, into benchmarks/records/,
the trace of one question answered with the quickstart's controller into benchmarks/records/episode.txt, and fills the
README between its markers. Each argument may be left out: then the record that is there serves.
"""

from __future__ import annotations

import json
import subprocess
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "benchmarks" / "records"
QUESTION = "Where was the director of The Glass Orchard born?"
DATASETS = {"hotpotqa": "HotpotQA", "2wikimultihopqa": "2WikiMultiHopQA", "musique": "MuSiQue"}
LEARNED = "learned"
ENCODED = "learned, with an encoder"
METRICS = ("support_recall", "answer_f1", "retrievals", "tokens", "documents")
KEPT = (
    "tests_free",
    "tests_equal",
    "tests_equal_6",
    "equal_recall",
    "ablations_free",
    "ablations_equal",
    "transfer_free",
)
Cell = Callable[[str, str], str]


def copy_benchmark(folder: Path, name: str) -> None:
    """Keep what the tables show of a benchmark's summary."""
    summary = json.loads((folder / "summary.json").read_text())
    record = {
        dataset: {
            "protocols": {p: _means(table) for p, table in found["protocols"].items()},
            "analyses": {a: found["analyses"][a]["rows"] for a in KEPT if a in found["analyses"]},
            "questions": _questions(folder / dataset / "free" / "learned.jsonl"),
        }
        for dataset, found in summary.items()
    }
    (RECORDS / f"{name}.json").write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def _means(table: dict[str, Any]) -> dict[str, Any]:
    return {m: {metric: row[metric] for metric in METRICS} for m, row in table["means"].items()}


def _questions(file: Path) -> int:
    return sum(1 for _ in file.open())


def episode(run: Path) -> str:
    """Return what ``evidencegym answer`` prints about one question over the example texts."""
    words = ["evidencegym", "answer", "--corpus", "docs/example", "--question", QUESTION, "--run", str(run.resolve())]
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout


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
    """Return the tables of all data sets with a record."""
    record = json.loads((RECORDS / "benchmark.json").read_text())
    file = RECORDS / "benchmark_encoder.json"
    encoded = json.loads(file.read_text()) if file.exists() else {}
    own = {dataset: record[dataset] for dataset in DATASETS if dataset in record}
    parts: list[str] = []
    for protocol, title, metrics in (
        ("equal", "Equal documents (12 passages each): support recall / answer F1", METRICS[:2]),
        ("equal_6", "Six documents each: support recall / answer F1", METRICS[:2]),
        ("free", "Free stopping: support recall / answer F1 / mean retrievals / mean tokens (words)", METRICS[:4]),
    ):
        parts += [title, _table(own, encoded, protocol, metrics)]
    parts += [
        "Learned minus the baseline: support recall and, behind it, answer F1, at equal documents; 95 % paired "
        "bootstrap intervals, * where p < .05 after Holm's correction over the family",
        _differences(own),
        "Share of the best baseline's retrievals (among those without the ranker, at free stopping) with which learned "
        "reaches its support recall, at its cheapest setting of the frontier: support recall / retrievals of the "
        "baseline; of learned; share",
        _costs(own, encoded),
    ]
    return "\n\n".join(parts)


def _table(record: dict[str, Any], encoded: dict[str, Any], protocol: str, metrics: Sequence[str]) -> str:
    means = {dataset: dict(found["protocols"][protocol]) for dataset, found in record.items()}
    for dataset, found in encoded.items():
        if dataset in means:
            means[dataset][ENCODED] = found["protocols"][protocol][LEARNED]
    order = sorted({m for table in means.values() for m in table}, key=lambda m: (m.startswith(LEARNED), "+" in m, m))

    def cell(dataset: str, method: str) -> str:
        row = means[dataset].get(method)
        if row is None:
            return "–"
        forms = {"retrievals": "{:.2f}", "tokens": "{:.0f}"}
        text = " / ".join(forms.get(name, "{:.3f}").format(row[name]["mean"]) for name in metrics)
        return f"**{text}**" if method.startswith(LEARNED) else text

    return _markdown(record, order, cell)


def _costs(record: dict[str, Any], encoded: dict[str, Any]) -> str:
    runs = {LEARNED: record, ENCODED: encoded}

    def cell(dataset: str, method: str) -> str:
        rows = runs[method].get(dataset, {}).get("analyses", {}).get("equal_recall", [])
        found = [row for row in rows if row["quality"] == "support recall" and row["cost"] == "retrievals"]
        if not found:
            return "–"
        row = found[0]
        baseline = f"{row['baseline']} {row['wanted']:.3f} / {row['baseline_cost']:.2f}"
        if row["share"] is None:
            return f"{baseline}; not reached"
        return f"{baseline}; {row['reached']:.3f} / {row['learned_cost']:.2f} ({row['setting']}); {row['share']:.2f}"

    return _markdown(record, [name for name, own in runs.items() if own], cell)


def _differences(record: dict[str, Any]) -> str:
    rows = {d: {row["baseline"]: row for row in found["analyses"]["tests_equal"]} for d, found in record.items()}
    order = sorted({m for table in rows.values() for m in table}, key=lambda m: ("+" in m, m))

    def cell(dataset: str, method: str) -> str:
        row = rows[dataset].get(method)
        return "–" if row is None else "; ".join(_difference(row, name) for name in METRICS[:2])

    return _markdown(record, order, cell)


def _difference(row: dict[str, Any], name: str) -> str:
    star = "*" if row[f"{name}_p_holm"] < 0.05 else ""
    return f"{row[name]:+.3f} [{row[f'{name}_low']:+.3f}, {row[f'{name}_high']:+.3f}]{star}"


def _markdown(record: dict[str, Any], methods: Sequence[str], cell: Cell) -> str:
    head = [f"{DATASETS[d]} ({record[d]['questions']})" for d in record]
    lines = [f"| method | {' | '.join(head)} |", f"|{'---|' * (len(head) + 1)}"]
    same: dict[str, list[str]] = {}
    for method in methods:
        same.setdefault(" | ".join(cell(dataset, method) for dataset in record), []).append(method)
    lines += [f"| {', '.join(names)} | {cells} |" for cells, names in same.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", type=Path)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--quickstart", type=Path)
    given = parser.parse_args()
    RECORDS.mkdir(parents=True, exist_ok=True)
    if given.benchmark:
        copy_benchmark(given.benchmark, "benchmark")
    if given.encoder:
        copy_benchmark(given.encoder, "benchmark_encoder")
    if given.quickstart:
        (RECORDS / "episode.txt").write_text(episode(given.quickstart))
    (ROOT / "README.md").write_text(filled((ROOT / "README.md").read_text()))
