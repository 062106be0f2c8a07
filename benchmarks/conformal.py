r"""Does conformal retrieval confidence keep its promise on the benchmarks, and what becomes of the answers?

    python benchmarks/conformal.py --data FOLDER --runs runs/{dataset}

BM25 over each data set's pooled corpus, ten chunks a question. The train questions are cut into five folds. Each is
held out once: the next one gives the bounds of the scores, the other three calibrate, and the share of correct chunks
that are trusted is pooled over the five. For dev the first fold gives the bounds, the other four calibrate. Every
share's standard error counts the questions, not the chunks, of both sides. Where dev lacks levels of difficulty that
the train questions have (HotpotQA), it is also calibrated on train questions of dev's levels alone. With one chunk a
question MuSiQue has to be refused. ``--runs`` names runs whose own generators answer (``{dataset}`` stands for the data
set); without it the packaged one does. The record is ``records/conformal.json``.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from math import hypot
from pathlib import Path
from typing import Any

from timing import RECORDS

from evidencegym.actions.engine import Engine
from evidencegym.confidence.chunks import ScoredChunks, calibration_records, retrieved_chunks, search_chunks
from evidencegym.confidence.conformal import Calibration
from evidencegym.confidence.conformal_diagnostics import diagnose
from evidencegym.confidence.conformal_settings import ConformalSettings
from evidencegym.data.records import Record
from evidencegym.data.splits import fold_of
from evidencegym.envs.build import build_retriever, load_records
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.conformal_report import calibrate_on, conformal_report
from evidencegym.generation.base import Generator
from evidencegym.generation.choose import load_generator
from evidencegym.retrieval.base import Retriever

SEED, REFUSED = 0, ConformalSettings(k=1)


def held_out(records: Sequence[Record], retriever: Retriever, settings: ConformalSettings) -> list[dict[str, Any]]:
    """Return, for each alpha, the coverage of train questions that were held out, pooled over the folds."""
    chunks = retrieved_chunks(records, search_chunks(records, retriever, settings.k))
    folds = [fold_of(record.id, settings.folds, SEED) for record in records]
    parts = [[own for own, fold in zip(chunks, folds) if fold == place] for place in range(settings.folds)]
    turns = [_turn(parts, place, retriever.fingerprint, settings) for place in range(settings.folds)]
    return [_pooled(parts, [turn[place] for turn in turns]) for place in range(len(settings.alphas))]


def _turn(
    parts: Sequence[Sequence[ScoredChunks]], held: int, fingerprint: str, settings: ConformalSettings
) -> list[Calibration]:
    """Calibrate without a fold; the one after it gives the bounds."""
    apart = (held + 1) % len(parts)
    rest = [own for place, part in enumerate(parts) if place not in (held, apart) for own in part]
    return calibrate_on(rest, parts[apart], fingerprint, settings, SEED)


def _pooled(parts: Sequence[Sequence[ScoredChunks]], calibrations: Sequence[Calibration]) -> dict[str, Any]:
    pairs = [(c, own) for part, c in zip(parts, calibrations) for own in part]
    found = diagnose([c.trusts(own.scores) for c, own in pairs], [own.right for _, own in pairs], SEED)
    calibrating = sum(c.diagnostics.coverage.error for c in calibrations) / len(calibrations)
    error, expected = hypot(found.coverage.error, calibrating), 1 - calibrations[0].alpha
    shares = {name: list(getattr(found, name)) for name in ("coverage", "m1", "m2")}
    covered = found.coverage.share >= expected - 1.96 * error
    return {"alpha": calibrations[0].alpha, "questions": len(pairs), **shares, "error": error, "covered": covered}


def measured(dataset: str, given: Namespace) -> dict[str, Any]:
    """Return everything about one data set."""
    task = TaskSettings(dataset=dataset, data=given.data)
    train, dev, retriever = load_records(task, "train"), load_records(task, "dev"), build_retriever(task)
    settings = ConformalSettings(answer_questions=given.answers)
    generator = _generator(dataset, given)
    report = conformal_report(retriever, train, dev, settings, SEED, Engine(retriever, generator))
    found: dict[str, Any] = {"held_out": held_out(calibration_records(train), retriever, settings)}
    found |= {analysis.name: analysis.as_dict()["rows"] for analysis in report.analyses}
    refused = conformal_report(retriever, train, dev, REFUSED, SEED).coverage
    found["one_chunk"] = refused.as_dict()["rows"]
    if len(alike := _of_levels(train, dev)) < len(train):
        again = conformal_report(retriever, alike, dev, settings, SEED).coverage
        found["calibrated_on_dev_levels"] = again.as_dict()["rows"]
    print(f"## {dataset}\n\n{report.markdown()}")
    for row in found.get("calibrated_on_dev_levels", ()):
        print(f"calibrated on dev's levels {row['alpha']}: {row['coverage']:.3f} +- {row['error']:.3f}")
    for row in found["held_out"]:
        print(f"held out {row['alpha']}: {row['coverage'][0]:.3f} +- {row['error']:.3f}, covered {row['covered']}")
    for row in refused.rows:
        print(f"one chunk, alpha {row['alpha']}: {row['refusal'] or 'not refused'}", flush=True)
    return found


def _of_levels(train: Sequence[Record], dev: Sequence[Record]) -> list[Record]:
    """Return the train questions of levels that dev has; HotpotQA's dev questions are all hard, its train ones not."""
    levels = {record.gold.level for record in dev if record.gold}
    return [record for record in train if record.gold and record.gold.level in levels]


def _generator(dataset: str, given: Namespace) -> Generator:
    run = Path(given.runs.replace("{dataset}", dataset)) / "generator"
    return load_generator(str(run) if given.runs else "packaged")


def main(given: Namespace) -> None:
    """Measure and write the record; other data sets in it are kept.

    Raises:
        SystemExit: if a coverage is below what was promised by more than its error, or MuSiQue is not refused.
    """
    file = RECORDS / "conformal.json"
    record = json.loads(file.read_text()) if file.exists() else {}
    record["answers_by"] = "generators fitted in runs" if given.runs else "packaged generator"
    for dataset in given.datasets:
        record[dataset] = measured(dataset, given)
        RECORDS.mkdir(exist_ok=True)
        file.write_text(json.dumps(record, indent=1) + "\n")
    if broken := [name for name in given.datasets if not _kept(name, record[name])]:
        raise SystemExit(f"not as promised: {', '.join(broken)}")


def _kept(dataset: str, found: dict[str, Any]) -> bool:
    covered = all(row["covered"] for row in (*found["held_out"], *found["conformal_coverage"]))
    return covered and (dataset != "musique" or all(row["refusal"] for row in found["one_chunk"]))


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--datasets", nargs="+", default=["hotpotqa", "2wikimultihopqa", "musique"])
    parser.add_argument("--runs", default="", help="folder of the run of each data set, with {dataset} for its name")
    parser.add_argument("--answers", type=int, default=200, help="dev questions that are answered")
    main(parser.parse_args())
