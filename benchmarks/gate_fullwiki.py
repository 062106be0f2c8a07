r"""Verdicts where the gold is mostly absent: HotpotQA's dev file of the fullwiki setting, ten paragraphs a question.

    python benchmarks/gate_fullwiki.py --data FOLDER --run runs/hotpotqa-gate

The run's evaluator judges the ten paragraphs that come with each question, by its own thresholds and, for comparison,
by those that the paper set by hand for PopQA. Shares of the verdicts by what the paragraphs hold (all of the support,
some, none), and what abstaining would do: answers of the run's reader only where the verdict is not "incorrect", or
only where it is "correct". The record is ``records/gate_fullwiki.json``.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from timing import RECORDS

from evidencegym.confidence.base import EvaluateTask
from evidencegym.confidence.verdicts import PUBLISHED, Thresholds, Verdict
from evidencegym.data.answer_scores import token_f1
from evidencegym.data.datasets import read
from evidencegym.data.records import Record
from evidencegym.data.support_scores import support_recall
from evidencegym.envs.build import build_retriever, load_judge
from evidencegym.eval.statistics import bootstrap_mean
from evidencegym.eval.suite.settings import SourceSettings
from evidencegym.eval.suite.trained import open_trained
from evidencegym.generation.tasks import AnswerTask

FILE = "hotpot_dev_fullwiki.json.gz"
HELD = ("all", "some", "none")


def held(record: Record) -> str:
    """Return how much of the support the question's own paragraphs hold."""
    if record.gold is None:
        raise SystemExit(f"{record.id} has no gold")
    recall = support_recall(record.gold, record.context)
    return "all" if recall == 1 else "some" if recall > 0 else "none"


def shares(verdicts: Sequence[Verdict], holds: Sequence[str]) -> dict[str, Any]:
    """Return the share of each verdict, over all questions and by what the paragraphs hold."""
    groups = {"every": list(verdicts)} | {h: [v for v, own in zip(verdicts, holds) if own == h] for h in HELD}
    return {
        name: {"questions": len(own), **{v.value: sum(x is v for x in own) / max(1, len(own)) for v in Verdict}}
        for name, own in groups.items()
    }


def abstaining(verdicts: Sequence[Verdict], f1: Sequence[float]) -> dict[str, Any]:
    """Return how many questions are answered under each rule, and the F1 of those answers."""
    rules = {
        "always": set(Verdict),
        "unless incorrect": {Verdict.CORRECT, Verdict.AMBIGUOUS},
        "only if correct": {Verdict.CORRECT},
    }
    made: dict[str, Any] = {}
    for name, kinds in rules.items():
        own = [value for value, verdict in zip(f1, verdicts) if verdict in kinds]
        mean = bootstrap_mean(np.array(own))._asdict() if own else None
        made[name] = {"answered": len(own) / len(f1), "f1_of_answered": mean}
    return made


def main(given: Namespace) -> None:
    """Judge and answer every question."""
    trained = open_trained(given.run, "hotpotqa", SourceSettings(data=given.data))
    task = trained.settings
    judge = load_judge(task.evaluator, build_retriever(task), trained.folder, task.given_thresholds)
    if judge is None or judge.thresholds is None:
        raise SystemExit(f"{given.run} has no evaluator")
    records = [r for r in read("hotpotqa", given.data / "hotpotqa" / FILE) if r.context]
    tasks = [EvaluateTask(r.question.text, r.question.key, r.context) for r in records]
    scores = [judge.score([asked])[0] for asked in tasks]
    reader = trained.generator()
    answers = reader.answer([AnswerTask(r.question.text, r.context) for r in records])
    f1 = [token_f1(a.text, r.gold.references if r.gold else ()) for a, r in zip(answers, records)]
    holds = [held(record) for record in records]
    made: dict[str, Any] = {"questions": len(records), "held": {h: holds.count(h) for h in HELD}}
    for name, cuts in (("own", judge.thresholds), ("the paper's for PopQA", PUBLISHED["popqa"])):
        said = [Thresholds(*cuts).verdict(own) for own in scores]
        made[name] = {"thresholds": list(cuts), "shares": shares(said, holds), "abstaining": abstaining(said, f1)}
    print(json.dumps(made, indent=1))
    RECORDS.mkdir(exist_ok=True)
    (RECORDS / "gate_fullwiki.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True, help="a run of HotpotQA that was trained with a gate")
    main(parser.parse_args())
