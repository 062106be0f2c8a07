"""Answering over one's own documents with the priors that a run was trained with."""

import json
from pathlib import Path

import pytest

from evidencegym.data.errors import ConfigError
from evidencegym.data.world import World
from evidencegym.eval.answering import answer_question
from evidencegym.retrieval.choose import RetrievalSettings
from evidencegym.retrieval.prior_settings import PriorSettings
from tests.eval.small_runs import write_run

WORLD = World(300, 2)


def write_corpus(folder: Path, trusted: set[str], kind: str = "ai_generated") -> Path:
    typed = [
        {"title": p.title, "text": p.text, "source_type": "peer_reviewed" if p.id in trusted else kind}
        for p in WORLD.passages()
    ]
    file = folder / "corpus.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in typed), encoding="utf-8")
    return file


def write_weighted_run(folder: Path, priors: PriorSettings) -> Path:
    run = write_run(folder)
    file = run / "controller" / "manifest.json"
    source = RetrievalSettings(priors=priors).source()
    file.write_text(json.dumps(json.loads(file.read_text()) | {"retrieval_source": source}))
    return run


def test_types_are_read_from_the_corpus_and_weigh(tmp_path: Path) -> None:
    run = write_weighted_run(
        tmp_path / "run", PriorSettings(True, {"peer_reviewed": 1.0, "ai_generated": 1e-3}, "ai_generated")
    )
    question = next(WORLD.questions(1)).question.text
    plain = answer_question(question, write_corpus(tmp_path, set()), run)
    held = [item.passage.id for item in plain.states[-1].held]
    trusted = {passage.id for passage in WORLD.passages()} - set(held)
    other = answer_question(question, write_corpus(tmp_path, trusted), run)
    assert held and other.states[-1].held and not {item.passage.id for item in other.states[-1].held} & set(held)


def test_a_type_without_a_prior_is_named(tmp_path: Path) -> None:
    run = write_weighted_run(tmp_path / "run", PriorSettings(True))
    with pytest.raises(ConfigError, match="source types gossip"):
        answer_question("Who?", write_corpus(tmp_path, set(), "gossip"), run)
