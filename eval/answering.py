"""Answering a question over one's own documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..actions.caps import Caps
from ..actions.engine import Engine
from ..actions.operation_set import GATE, operation_set
from ..actions.rules import Rules
from ..confidence.verdicts import checked
from ..controllers.files import KIND, load_controller
from ..data.corpus import read_corpus
from ..data.errors import ConfigError, DataError, ManifestMismatchError
from ..data.records import Question
from ..data.storage import read_manifest
from ..envs.build import load_judge, load_ranker
from ..envs.features import FeatureMap
from ..envs.rollout import Episode, rollout
from ..generation.base import Generator
from ..generation.choose import GeneratorSource, load_generator
from ..generation.recording_settings import LIVE, RecordingSettings
from ..retrieval.bm25 import BM25Retriever
from ..retrieval.choose import RetrievalSettings, choose_retriever
from ..retrieval.encoder_settings import EncoderSettings
from ..retrieval.external import ExternalSource
from ..retrieval.external_settings import HALF, NONE, ExternalSettings, open_source
from ..retrieval.source_types import SourceTypes


def answer_question(
    question: str,
    corpus: Path,
    run: Path,
    cost_weight: float = 0.0,
    generator: GeneratorSource | None = None,
    recording: RecordingSettings = LIVE,
    external: ExternalSettings | None = None,
) -> Episode:
    """Run one episode over the texts in ``corpus`` with the controller of a run; it needs no gold.

    Args:
        question: the question, not empty.
        corpus: a folder of .txt, .md or .jsonl files, or one .jsonl file.
        run: folder that ``evidencegym train`` or ``quickstart`` wrote.
        cost_weight: lambda.
        generator: who answers; None for the one that the controller was trained with.
        recording: whether that one's responses are recorded or replayed.
        external: where a corrective gate searches elsewhere; None for where it did in training.

    Raises:
        ConfigError: if the question is empty, or the controller's gate has nowhere to search.
        DataError: if the corpus cannot be read or the run holds no controller.
    """
    if not question.strip():
        raise ConfigError("the question is empty")
    folder = run / "controller"
    if not folder.exists():
        raise DataError("no trained controller; run `evidencegym quickstart` first, or name a run with --run", folder)
    manifest = read_manifest(folder, KIND)
    rules = _rules_of(folder, manifest)
    names = rules.operations.names
    controller = load_controller(folder, FeatureMap(names).names, names, cost_weight)
    searching = RetrievalSettings.of(manifest.get("retrieval_source"))
    encoder = EncoderSettings.of(manifest.get("encoder_source"))
    types = SourceTypes.read(corpus, searching.priors.default) if searching.priors.enabled else None
    retriever = choose_retriever(BM25Retriever.build(read_corpus(corpus)), searching, encoder, types=types)
    answering = generator_of(run, manifest, recording) if generator is None else load_generator(_served(generator, run))
    ranker = load_ranker(str(manifest.get("ranker_source", "none")), retriever, run, answering.fingerprint)
    given = manifest.get("thresholds")
    wanted = str(manifest.get("evaluator_source", "none"))
    judge = load_judge(wanted, retriever, run, checked(*given) if given else None)
    source = _source(manifest, external) if GATE in names else None
    engine = Engine(retriever, answering, ranker=ranker, evaluator=judge, external=source)
    return rollout([Question.of(question)], rules, engine, controller)[0]


def _rules_of(folder: Path, manifest: Mapping[str, Any]) -> Rules:
    """Return the rules that the controller was trained under."""
    try:
        return Rules(operation_set(manifest["operations"], **manifest["rules"]), Caps(**manifest["caps"]))
    except (KeyError, TypeError) as error:
        raise ManifestMismatchError(f"{folder}: the manifest does not say the rules of training ({error})") from error


def _source(manifest: Mapping[str, Any], wanted: ExternalSettings | None) -> ExternalSource | None:
    """Return where the gate searches: as wanted, else as in training; a half of that corpus serves no other."""
    settings = wanted or ExternalSettings.of(manifest.get("external_source"))
    searches = bool(manifest["rules"].get("gate", {}).get("budget"))
    if searches and settings.where in {HALF, NONE}:
        raise ConfigError("the controller's gate searches elsewhere: name a corpus or mediawiki with --external.where")
    if not searches and settings.where != NONE:
        raise ConfigError("the controller's gate was trained without anywhere else to search; leave --external out")
    return open_source(settings)


def generator_of(run: Path, manifest: Mapping[str, Any], recording: RecordingSettings = LIVE) -> Generator:
    """Return the generator that the controller was trained with, recorded or replayed as wanted."""
    chosen = recording.for_backend(str(manifest.get("generator", "")))
    source = replace(GeneratorSource.of(manifest), recording=chosen)
    generator = load_generator(_served(source, run))
    if generator.fingerprint != manifest.get("generator"):
        raise ManifestMismatchError(
            f"{run}: the controller was trained with another generator than the one in {source.kind!r} now; train again"
        )
    return generator


def _served(source: GeneratorSource, run: Path) -> GeneratorSource:
    return source.at_inference(run / "generator")


def supporting_passages(episode: Episode) -> list[tuple[str, str]]:
    """Return (title, text) of what supports the answer: the sentences that the generator names, else all passages."""
    state = episode.final
    support = state.answer.support if state.answer else ()
    by_id = {passage.id: passage for passage in state.passages}
    named = [(by_id[i].title, by_id[i].sentences[s].strip()) for i, s in support if i in by_id]
    return named or [(passage.title, passage.text) for passage in state.passages]
