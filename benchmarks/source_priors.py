r"""Priors of source types against misleading passages, on the synthetic world and on real pooled corpora.

    python benchmarks/source_priors.py                               # the synthetic world
    python benchmarks/source_priors.py --data FOLDER --questions 300 # and HotpotQA and MuSiQue from FOLDER

For the dev questions, and for as many train questions from which priors are learned, two misleading copies of gold
passages each, then four, are put into the corpus. BM25 is compared with itself under priors: three spreads, smoothing,
learned priors, and a control whose types say nothing about what is misleading; then with other shares of genuine
passages that come from types of low trust. The record is ``records/source_priors.json``.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from timing import RECORDS

from evidencegym.data.adversarial import Injection, genuine_type, gold_passages, inject
from evidencegym.data.corpus import pooled
from evidencegym.data.datasets import locate, read
from evidencegym.data.records import Passage, Record
from evidencegym.data.world import World
from evidencegym.eval.adversarial import ANSWERS, METRICS, Difference, answered, best_hits, differences, measured
from evidencegym.generation.choose import load_generator
from evidencegym.retrieval.base import Hit
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.neighbours import Neighbourhood
from evidencegym.retrieval.prior_settings import PriorSettings, spread
from evidencegym.retrieval.priors import PriorRetriever
from evidencegym.retrieval.source_types import SourceTypes
from evidencegym.training.priors import learn_priors

SEED = 0
ETA = 0.3
PUBLISHED = PriorSettings(enabled=True)
SPREADS = {"compressed": 0.5, "published": 1.0, "aggressive": 2.0}
READ = ("published", "published, learned")
CLEAN = "bm25 without misleading passages"
DOUBTED = (0.0, 0.1, 0.25, 0.5)


class Stage(NamedTuple):
    """A corpus, the questions that priors are learned from, and those that are evaluated."""

    name: str
    passages: Sequence[Passage]
    train: Sequence[Record]
    dev: Sequence[Record]


def synthetic_stage(passages: int, questions: int) -> Stage:
    """Return a synthetic world."""
    world = World(passages, SEED)
    splits = [list(world.questions(questions, split)) for split in ("train", "dev")]
    return Stage(f"synthetic world of {passages:,} passages", list(world.passages()), *splits)


def real_stage(dataset: str, data: Path, questions: int) -> Stage:
    """Return the pooled corpus of a data set."""
    train, dev = (read(dataset, locate(dataset, data, split)) for split in ("train", "dev"))
    passages = pooled([*train, *dev])
    return Stage(f"{dataset}, {len(passages):,} passages", passages, train[:questions], dev[:questions])


def systems(bm25: BM25Retriever, injection: Injection, train: Sequence[Record]) -> dict[str, PriorRetriever]:
    """Return BM25 under each kind of priors."""
    types = SourceTypes(injection.types)
    near = Neighbourhood(bm25, PUBLISHED.neighbours)
    settings = {name: replace(PUBLISHED, priors=spread(PUBLISHED.priors, power)) for name, power in SPREADS.items()}
    settings["published, smoothed"] = replace(PUBLISHED, eta=ETA)
    settings["published, learned"] = learn_priors(bm25, types, train, PUBLISHED, neighbourhood=near)
    smoothed = settings["published, smoothed"]
    settings["published, smoothed, learned"] = learn_priors(bm25, types, train, smoothed, neighbourhood=near)
    made = {name: PriorRetriever(bm25, own, types, near) for name, own in settings.items()}
    blind = SourceTypes({passage.id: genuine_type(passage.id, SEED) for passage in injection.passages})
    return made | {"published, types that say nothing": PriorRetriever(bm25, PUBLISHED, blind)}


def doubted(bm25: BM25Retriever, injection: Injection) -> dict[str, PriorRetriever]:
    """Return BM25 under the published priors, by the share of genuine passages that come from types of low trust."""
    made = {}
    for share in DOUBTED:
        types = {
            key: kind if key in injection.adversarial else genuine_type(key, SEED, share)
            for key, kind in injection.types.items()
        }
        made[f"published, {share:.0%} of the genuine doubted"] = PriorRetriever(bm25, PUBLISHED, SourceTypes(types))
    return made


def changed_on_one_type(bm25: BM25Retriever, dev: Sequence[Record], base: Sequence[Sequence[Hit]]) -> int:
    """Return on how many questions ids or order change where every passage is of one type, over every prior."""
    changed = 0
    for kind in PUBLISHED.priors:
        for eta in (0.0, ETA):
            types = SourceTypes({passage.id: kind for passage in bm25.passages})
            found = best_hits(PriorRetriever(bm25, replace(PUBLISHED, eta=eta), types), dev)
            changed += sum(_ids(own) != _ids(plain) for own, plain in zip(found, base, strict=True))
    return changed


def _ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.id for hit in hits]


def run(stage: Stage, copies: int) -> dict[str, Any]:
    """Inject as many copies a question, search, score and compare."""
    dev = [record for record in stage.dev if gold_passages(record)]
    injection = inject(stage.passages, [*stage.train, *dev], SEED, copies)
    bm25 = BM25Retriever.build(injection.passages)
    base = best_hits(bm25, dev)
    made = systems(bm25, injection, stage.train)
    found = {name: best_hits(own, dev) for name, own in made.items()}
    found[CLEAN] = best_hits(BM25Retriever.build(stage.passages), dev)
    values = {name: measured(own, dev, injection) for name, own in found.items()}
    shares = {name: measured(best_hits(own, dev), dev, injection) for name, own in doubted(bm25, injection).items()}
    reader, plain = load_generator("packaged"), measured(base, dev, injection)
    answers = {name: answered(found[name], dev, injection, reader) for name in (*READ, CLEAN)}
    return {
        "questions": len(dev),
        "attacked": sum(record.uid in injection.planted for record in dev),
        "passages": len(injection.passages),
        "adversarial": len(injection.adversarial),
        "metrics": _plain(differences(plain, values, METRICS, SEED)),
        "doubted": _plain(differences(plain, shares, METRICS, SEED)),
        "answers": _plain(differences(answered(base, dev, injection, reader), answers, ANSWERS, SEED)),
        "learned": {name: made[name].settings.priors for name in made if "learned" in name},
        "changed_on_one_type": changed_on_one_type(bm25, dev[:50], base[:50]),
    }


def _plain(found: dict[str, dict[str, Difference]]) -> dict[str, Any]:
    return {
        name: {metric: {**own._asdict(), "difference": own.difference._asdict()} for metric, own in row.items()}
        for name, row in found.items()
    }


def table(rows: dict[str, Any], metrics: Sequence[str]) -> str:
    """Return a Markdown table: the means, and how many questions went up and down."""
    first = next(iter(rows.values()))
    lines = [f"| system | {' | '.join(metrics)} |", "|---" * (len(metrics) + 1) + "|"]
    lines.append("| bm25 | " + " | ".join(f"{first[metric]['reference']:.3f}" for metric in metrics) + " |")
    lines += [f"| {name} | {' | '.join(_cell(row[metric]) for metric in metrics)} |" for name, row in rows.items()]
    return "\n".join(lines)


def _cell(value: dict[str, Any]) -> str:
    apart = value["difference"]
    shown = f"{value['system']:.3f} ({apart['mean']:+.3f} [{apart['low']:+.3f}, {apart['high']:+.3f}]"
    return f"{shown}, {value['more']} up, {value['less']} down, p {value['adjusted']:.4f})"


def main(given: Namespace) -> None:
    """Run every stage, print its tables and write the record."""
    stages = [synthetic_stage(given.passages, given.questions)]
    if given.data:
        stages += [real_stage(dataset, given.data, given.questions) for dataset in ("hotpotqa", "musique")]
    made = {}
    for stage, copies in product(stages, given.copies):
        made[f"{stage.name}, {copies} copies"] = found = run(stage, copies)
        print(f"\n## {stage.name}: {found['questions']} questions, {found['adversarial']} misleading passages\n")
        print(*(table(found[part], METRICS) for part in ("metrics", "doubted")), sep="\n\n", end="\n\n")
        print(table(found["answers"], ANSWERS))
        print(f"\nchanged where all passages are of one type: {found['changed_on_one_type']}", flush=True)
    RECORDS.mkdir(exist_ok=True)
    (RECORDS / "source_priors.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the official files")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--passages", type=int, default=4000)
    parser.add_argument("--copies", type=int, nargs="+", default=[2, 4], help="misleading passages a question")
    main(parser.parse_args())
