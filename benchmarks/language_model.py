r"""A language model driven by controllers that were trained with the extractive generator, and the other way round.

    python benchmarks/language_model.py --data FOLDER --runs 'runs/{dataset}' --language lm_learned lm_compared \
        --replayed lm_learned_again lm_compared_again --extractive own_learned own_compared --recording model.db

Reads what ``evidencegym benchmark`` wrote: ``--language`` with the model, ``--replayed`` the same from its recording,
``--extractive`` with the runs' own generator on the same questions. Of several folders that hold a method the one with
most questions counts. Prints quality and cost by method; how often the verdicts on sufficiency that stand in the
recording agree with full support, beside those of the extractive generator on the same states; and, with ``--reverse``,
how a controller does that was trained on what the recording holds (see ``language_model_reverse.py``). Ends with an
error unless the replayed results are the recorded ones, byte by byte. The record is ``records/language_model.json``.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from language_model_reverse import Ground, reverse
from sklearn.metrics import roc_auc_score
from timing import RECORDS

from evidencegym.data.records import Passage, Record
from evidencegym.data.support_scores import support_recall
from evidencegym.envs.build import load_corpus, load_records
from evidencegym.eval.results import failures_of, read_results
from evidencegym.eval.statistics import bootstrap_mean
from evidencegym.eval.suite.settings import SourceSettings
from evidencegym.eval.suite.trained import open_trained
from evidencegym.generation.recording_store import Recording
from evidencegym.generation.recording_values import response_of
from evidencegym.generation.tasks import Failed, Judgement, JudgeTask

FOLDER = "free"
METRICS = ("answer_f1", "support_recall", "context_support_recall", "full_support")
COSTS = ("retrievals", "generator_calls", "tokens")
Results = dict[tuple[str, str], list[dict[str, Any]]]


def result_files(folder: Path) -> Iterator[Path]:
    """Yield the files of results of a benchmark, without those of seconds."""
    yield from (file for file in sorted(folder.glob(f"*/{FOLDER}/*.jsonl")) if not file.stem.endswith(".timings"))


def collected(folders: Iterable[Path]) -> Results:
    """Return the results by data set and method; the longest where several folders hold them."""
    found: Results = {}
    for file in (file for folder in folders for file in result_files(folder)):
        key, results = (file.parent.parent.name, file.stem.partition("-seed")[0]), read_results(file)
        if len(results) > len(found.get(key, [])):
            found[key] = results
    return found


def check_replay(recorded: Sequence[Path], replayed: Sequence[Path]) -> int:
    """Compare the results of two lists of benchmarks byte by byte; returns how many files there are.

    Raises:
        SystemExit: if one differs or is missing, or there is none.
    """
    pairs = [
        (file, b / file.relative_to(a)) for a, b in zip(recorded, replayed, strict=True) for file in result_files(a)
    ]
    for file, again in pairs:
        if not again.is_file() or file.read_bytes() != again.read_bytes():
            raise SystemExit(f"{again} is not {file}: the replay differs from what was recorded")
    if not pairs:
        raise SystemExit("there are no results to compare")
    return len(pairs)


def scores(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return means with 95 % bootstrap intervals over questions, and the failures by operation."""
    columns = {name: [float(result["metrics"][name]) for result in results] for name in METRICS}
    columns |= {name: [_spent(result["cost"], name) for result in results] for name in COSTS}
    means = {name: bootstrap_mean(np.array(values))._asdict() for name, values in columns.items()}
    return {"questions": len(results), **means, "failures": dict(sorted(failures_of(results).items()))}


def _spent(cost: Mapping[str, float], name: str) -> float:
    return float(cost["prompt_tokens"] + cost["completion_tokens"] if name == "tokens" else cost[name])


def compared(language: Results, extractive: Results) -> dict[str, Any]:
    """Return the scores of every method with both generators, on the questions that the language model got."""
    made: dict[str, Any] = {}
    for (dataset, method), results in language.items():
        uids = [result["uid"] for result in results]
        own = {result["uid"]: result for result in extractive.get((dataset, method), [])}
        if lacking := len(set(uids) - own.keys()):
            raise SystemExit(f"--extractive lacks {lacking} questions of {method} on {dataset}; run it on as many")
        both = {"language_model": scores(results), "extractive": scores([own[uid] for uid in uids])}
        made.setdefault(dataset, {})[method] = both
    return made


def judged(recording: Path) -> list[tuple[str, list[str], Judgement | None]]:
    """Return question, ids of the passages, and verdict (None where there is none) of every recorded judgement."""
    with Recording(recording, read_only=True) as opened:
        [backend] = opened.backends()
        entries = [e for e in opened.entries(backend.fingerprint) if e.kind == "judge_sufficiency"]
    found = []
    for entry in entries:
        request, response = json.loads(entry.request), response_of(entry.kind, entry.response)
        ids = [row[0] for row in request["passages"]]
        found.append((request["question"], ids, None if isinstance(response, Failed) else response))
    return found


def agreement(verdicts: Sequence[Judgement], full: Sequence[bool]) -> dict[str, Any]:
    """Return how often verdicts agree with full support; a rate over no state is None.

    ``auc`` is the probability that a state of full support is held more sufficient than one of partial support.
    """
    said, truth = np.array([v.sufficient for v in verdicts], bool), np.array(full, bool)
    both = len(truth) and 0 < truth.sum() < len(truth)
    return {
        "accuracy": _rate(said == truth),
        "sufficient_at_full": _rate(said[truth]),
        "sufficient_at_partial": _rate(said[~truth]),
        "auc": float(roc_auc_score(truth, [v.probability for v in verdicts])) if both else None,
    }


def _rate(values: Any) -> float | None:
    return float(np.mean(values)) if len(values) else None


def agreements(ground: Ground, verdicts: Sequence[tuple[str, list[str], Judgement | None]]) -> dict[str, Any]:
    """Return the agreement of both generators on the recorded states of one data set."""
    records, passages = ground.by_question, ground.by_id
    states = [(records[q], [passages[i] for i in ids], v) for q, ids, v in verdicts if q in records]
    valid = [(record, shown, verdict) for record, shown, verdict in states if verdict is not None]
    full = [_holds_all(record, shown) for record, shown, _ in valid]
    tasks = [JudgeTask(record.question.text, tuple(shown)) for record, shown, _ in valid]
    own = ground.trained.generator().judge_sufficiency(tasks) if tasks else []
    return {
        "states": len(valid),
        "failed": len(states) - len(valid),
        "full_support": _rate(np.array(full)),
        "language_model": agreement([verdict for _, _, verdict in valid], full),
        "extractive": agreement([verdict for verdict in own if isinstance(verdict, Judgement)], full),
    }


def _holds_all(record: Record, shown: Iterable[Passage]) -> bool:
    return record.gold is not None and support_recall(record.gold, shown) == 1.0


def ground_of(dataset: str, runs: str, data: Path) -> Ground:
    """Return run, dev questions and passages of a data set."""
    trained = open_trained(Path(runs.replace("{dataset}", dataset)), dataset, SourceSettings(data=data))
    return Ground(trained, load_records(trained.settings, "dev"), load_corpus(trained.settings))


def show(made: Mapping[str, Any]) -> None:
    """Print the record as tables."""
    print("| data set | method | questions | generator | F1 | support recall | tokens | calls | failures |")
    print("|---|---|--:|---|--:|--:|--:|--:|---|")
    for dataset, methods in made["methods"].items():
        for method, both in methods.items():
            for name, values in both.items():
                print(f"| {dataset} | {method} | {values['questions']} | {name} | {_row(values)} |")
    print("\n| data set | states | full support | generator | accuracy | yes at full | yes at partial | AUC |")
    print("|---|--:|--:|---|--:|--:|--:|--:|")
    for dataset, found in made["sufficiency"].items():
        for name in ("language_model", "extractive"):
            shown = " | ".join(_number(value) for value in found[name].values())
            print(f"| {dataset} | {found['states']} | {_number(found['full_support'])} | {name} | {shown} |")
    print(f"\n{made['replayed_files']} replayed files are the recorded ones, byte by byte")
    for dataset, found in made.get("reverse", {}).items():
        print(dataset, json.dumps(found))


def _row(values: Mapping[str, Any]) -> str:
    f1, recall = values["answer_f1"], values["support_recall"]
    spans = [f"{v['mean']:.2f} [{v['low']:.2f}, {v['high']:.2f}]" for v in (f1, recall)]
    failures = ", ".join(f"{name} {count}" for name, count in values["failures"].items()) or "none"
    return " | ".join([*spans, f"{values['tokens']['mean']:.0f}", f"{values['generator_calls']['mean']:.1f}", failures])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def main(given: Namespace) -> None:
    """Read, compare, print, and write the record."""
    language, verdicts = collected(given.language), judged(given.recording)
    made: dict[str, Any] = {"model": given.model, "methods": compared(language, collected(given.extractive))}
    grounds = {name: ground_of(name, given.runs, given.data) for name in dict.fromkeys(key[0] for key in language)}
    made["sufficiency"] = {name: agreements(ground, verdicts) for name, ground in grounds.items()}
    made["replayed_files"] = check_replay(given.language, given.replayed)
    if given.reverse:
        uids = {name: [r["uid"] for r in language[name, "learned"]] for name in grounds}
        made["reverse"] = {name: reverse(ground, uids[name], given.recording) for name, ground in grounds.items()}
    show(made)
    RECORDS.mkdir(exist_ok=True)
    (RECORDS / "language_model.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", required=True, help="the trained runs; {dataset} stands for the name")
    for name in ("language", "replayed", "extractive"):
        parser.add_argument(f"--{name}", type=Path, nargs="+", required=True)
    parser.add_argument("--recording", type=Path, required=True)
    parser.add_argument("--model", default="", help="noted in the record")
    parser.add_argument("--reverse", action="store_true", help="train controllers on the recorded states")
    main(parser.parse_args())
