r"""What the corrective gate is worth where half of the corpus lies outside: against no gate, and against CRAG.

    evidencegym benchmark --config benchmark_gate --data FOLDER --train true --out gate
    evidencegym benchmark --config benchmark_gate --data FOLDER --train true --runs 'runs/{dataset}-half' \
        --train_with '[--config, without_gate]' --baselines '[uniform]' --out half
    python benchmarks/gate.py --gate gate --without half

Reads what both benchmarks wrote, on the same dev questions. ``gate`` is the learned controller that has the gate among
its operations, ``no gate`` a controller that was trained without it on the same half, ``gate disabled`` the former
under rules that disable the gate, ``crag`` the fixed pipeline (``crag_K``: after K retrievals). Differences are paired
by question, with 95 % bootstrap intervals. The record is ``records/gate.json``.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from timing import RECORDS

from evidencegym.eval.results import read_results
from evidencegym.eval.statistics import bootstrap_mean, paired_difference

METRICS = ("support_recall", "answer_f1", "answer_em", "context_support_recall")
COSTS = ("retrievals", "external_searches", "evaluator_calls", "generator_calls")
VERDICTS = ("correct", "ambiguous", "incorrect")
Results = list[dict[str, Any]]


def methods_of(gate: Path, without: Path, dataset: str) -> dict[str, Results]:
    """Return the results of each method on one data set, all on the same questions in the same order."""
    own = gate / dataset
    files = {
        "gate": own / "free/learned.jsonl",
        "no gate": without / dataset / "free/learned.jsonl",
        "gate disabled": own / "free_ablations/no_corrective_gate.jsonl",
        **{file.stem.partition("-seed")[0]: file for file in sorted((own / "free").glob("*.jsonl")) if _compared(file)},
    }
    found = {name: read_results(file) for name, file in files.items()}
    uids = [result["uid"] for result in found["gate"]]
    for name, results in found.items():
        if not uids or [result["uid"] for result in results] != uids:
            raise SystemExit(f"{files[name]} is missing or holds other questions than {files['gate']}")
    return found


def _compared(file: Path) -> bool:
    return not file.stem.endswith(".timings") and file.stem != "learned"


def means(results: Results) -> dict[str, Any]:
    """Return means with their intervals, and how many episodes ran a gate."""
    columns = {name: [float(result["metrics"][name]) for result in results] for name in METRICS}
    columns |= {name: [float(result["cost"][name]) for result in results] for name in COSTS}
    columns["gates"] = [float(len(gates(result))) for result in results]
    columns["episodes_with_a_gate"] = [float(bool(gates(result))) for result in results]
    return {name: bootstrap_mean(np.array(values))._asdict() for name, values in columns.items()}


def gates(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what the gates of an episode found."""
    return [step["gate"] for step in result["steps"] if "gate" in step]


def verdicts(results: Results) -> dict[str, Any]:
    """Return, by the last verdict of an episode, its share, and accuracy and support recall of the answer."""
    last = [found[-1]["verdict"] if (found := gates(result)) else "no gate" for result in results]
    made: dict[str, Any] = {}
    for verdict in (*VERDICTS, "no gate"):
        own = [result["metrics"] for result, said in zip(results, last) if said == verdict]
        values = {name: float(np.mean([m[name] for m in own])) if own else None for name in METRICS[:3]}
        made[verdict] = {"episodes": len(own), "share": len(own) / len(results), **values}
    return made


def differences(found: Mapping[str, Results]) -> dict[str, Any]:
    """Return the gate minus every other method, paired by question."""
    made: dict[str, Any] = {}
    for name, results in found.items():
        if name != "gate":
            pairs = {metric: (_column(found["gate"], metric), _column(results, metric)) for metric in METRICS[:2]}
            made[name] = {metric: paired_difference(*pair)._asdict() for metric, pair in pairs.items()}
    return made


def _column(results: Results, metric: str) -> Any:
    return np.array([float(result["metrics"][metric]) for result in results])


def show(dataset: str, made: Mapping[str, Any]) -> None:
    """Print the tables of one data set."""
    print(f"\n### {dataset} ({made['questions']} questions)\n")
    columns = ("method", "support recall", "F1", "retrievals", "searches elsewhere", "episodes with a gate")
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for name, values in made["methods"].items():
        cells = [f"{values[m]['mean']:.3f} [{values[m]['low']:.3f}, {values[m]['high']:.3f}]" for m in METRICS[:2]]
        cells += [f"{values[m]['mean']:.2f}" for m in ("retrievals", "external_searches", "episodes_with_a_gate")]
        print(f"| {name} | {' | '.join(cells)} |")
    print("\n| gate minus | support recall | F1 |\n|---|---|---|")
    for name, values in made["gate_minus"].items():
        cells = [f"{v['mean']:+.3f} [{v['low']:+.3f}, {v['high']:+.3f}]" for v in values.values()]
        print(f"| {name} | {' | '.join(cells)} |")
    for name in ("gate", "crag"):
        print(f"\n| last verdict ({name}) | share | support recall | F1 | EM |\n|---|---|---|---|---|")
        for verdict, values in made["verdicts"].get(name, {}).items():
            cells = ["-" if values[m] is None else f"{values[m]:.3f}" for m in METRICS[:3]]
            print(f"| {verdict} | {values['share']:.3f} | {' | '.join(cells)} |")


def main(given: Namespace) -> None:
    """Compare on every data set."""
    record: dict[str, Any] = {}
    for dataset in given.datasets:
        found = methods_of(given.gate, given.without, dataset)
        record[dataset] = {
            "questions": len(found["gate"]),
            "methods": {name: means(results) for name, results in found.items()},
            "gate_minus": differences(found),
            "verdicts": {name: verdicts(own) for name, own in found.items() if any(map(gates, own))},
        }
        show(dataset, record[dataset])
    RECORDS.mkdir(exist_ok=True)
    (RECORDS / "gate.json").write_text(json.dumps(record, indent=1) + "\n")


def arguments(words: Sequence[str] | None = None) -> Namespace:
    """Read the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--gate", type=Path, required=True, help="the benchmark over runs with a gate")
    parser.add_argument("--without", type=Path, required=True, help="the benchmark over runs without one")
    parser.add_argument("--datasets", nargs="*", default=["hotpotqa", "2wikimultihopqa", "musique"])
    return parser.parse_args(words)


if __name__ == "__main__":
    main(arguments())
