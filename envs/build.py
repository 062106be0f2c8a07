"""Building what the settings name: questions, corpus, retriever, rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..actions.gate_settings import GateSettings
from ..actions.operation_set import operation_set
from ..actions.rules import Rules
from ..confidence.base import Evaluator
from ..confidence.files import load_evaluator, require_calibrated
from ..confidence.packaged import DEFAULT, PACKAGED
from ..confidence.verdicts import Thresholds
from ..data.corpus import pooled, read_corpus
from ..data.datasets import DATASETS, locate, read
from ..data.errors import ConfigError
from ..data.records import Passage, Record, content_hash
from ..data.world import World
from ..ranking.base import Ranker
from ..ranking.fitted import FittedRanker, RankerModel
from ..ranking.floors import read_floor
from ..retrieval.base import Retriever
from ..retrieval.bm25 import BM25Retriever
from ..retrieval.choose import choose_retriever
from ..retrieval.context import ContextRetriever
from ..retrieval.encoder_settings import NONE
from ..retrieval.external import ExternalSource, LocalSource
from ..retrieval.external_settings import HALF, open_source
from ..retrieval.external_settings import NONE as NOWHERE
from ..retrieval.source_types import SourceTypes
from .settings import TaskSettings

CONTROLLER = "controller"
"""Folder of the controller in a run."""
GENERATOR = "generator"
"""Folder of the generator in a run that fitted its own."""
RANKER = "ranker"
"""Folder of the ranker in a run."""
EVALUATOR = "evaluator"
"""Folder of the evaluator in a run."""
CONTROLLERS = "controllers"
"""Folder of the further controllers of a run, one a folder, which a benchmark compares with the run's own."""
_SYNTHETIC_QUESTIONS = {"train": 400, "dev": 200}


def load_records(settings: TaskSettings, split: str) -> list[Record]:
    """Read the questions of the split "train" or "dev", as many as the settings want, in the order of the file.

    Raises:
        DataError: if a file is missing or malformed.
    """
    limit = settings.train_questions if split == "train" else settings.dev_questions
    if settings.is_synthetic:
        world = World(settings.passages, settings.world_seed)
        return list(world.questions(limit or _SYNTHETIC_QUESTIONS[split], split))
    return _all_records(settings, split)[:limit]


def load_corpus(settings: TaskSettings) -> list[Passage]:
    """Return the passages to search, sorted by id: the world, the pooled paragraphs, or the user's own texts.

    The pooled corpus is made of both files whole, however few of their questions are used.

    Raises:
        DataError: if a file is missing or malformed, or there is no passage.
    """
    everything = _whole_corpus(settings)
    if settings.external.where != HALF:
        return everything
    return [passage for passage in everything if not lies_outside(passage)]


def _whole_corpus(settings: TaskSettings) -> list[Passage]:
    if settings.corpus not in {"pooled", "own"}:
        return read_corpus(Path(settings.corpus))
    if settings.is_synthetic:
        return list(World(settings.passages, settings.world_seed).passages())
    return pooled([*_all_records(settings, "train"), *_all_records(settings, "dev")])


def lies_outside(passage: Passage) -> bool:
    """Say whether a passage belongs to the half of a corpus that is kept out of it, by a hash of its id."""
    return int(content_hash("half", passage.id), 16) % 2 == 1


def build_external(settings: TaskSettings) -> ExternalSource | None:
    """Build what a corrective gate searches elsewhere, None where the settings name nothing.

    Raises:
        ConfigError: if the wikis may not be asked.
        DataError: if a corpus cannot be read.
        BackendUnavailableError: if an extra is needed and not installed.
    """
    if settings.external.where != HALF:
        return open_source(settings.external)
    outside = [passage for passage in _whole_corpus(settings) if lies_outside(passage)]
    return LocalSource(BM25Retriever.build(outside), **settings.external.marked)


def load_judge(wanted: str, retriever: Retriever, run: Path, thresholds: Thresholds | None = None) -> Evaluator | None:
    """Return the evaluator that serves at inference: None for "none", that of the run for "fit", else the saved one.

    Raises:
        DataError: if it is missing or damaged.
        ManifestMismatchError: if it was fitted to other features.
        ConfigError: if it has no thresholds and none are given.
    """
    if wanted == "none":
        return None
    folder = run / EVALUATOR if wanted == "fit" else evaluator_folder(wanted)
    return require_calibrated(load_evaluator(folder, retriever), thresholds)


def evaluator_folder(wanted: str) -> Path:
    """Return the folder of a saved evaluator; that of the packaged one by its name."""
    return DEFAULT if wanted == PACKAGED else Path(wanted)


def build_retriever(
    settings: TaskSettings,
    records: Iterable[Record] = (),
    share_in: Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Retriever:
    """Build the retriever over the corpus, or, for ``own``, BM25 over the context of each of ``records``.

    Args:
        settings: what to search.
        records: whose contexts, for ``own``.
        share_in: folder to save the index in and map it from, so that worker processes share its memory.
        progress: called as passages are embedded, where the settings name an encoder.

    Raises:
        ConfigError: if an encoder is named for ``own``, or there is no such model.
        DataError: if a file is missing or malformed.
    """
    if settings.corpus == "own":
        other = settings.retrieval.priors.enabled or set(settings.retrieval.kinds) != {"bm25"}
        if settings.encoder.model != NONE or other:
            raise ConfigError(
                "dense retrieval, encoders and source priors need one corpus: choose `corpus: pooled` or a path"
            )
        return own_context(records)
    retriever = BM25Retriever.build(load_corpus(settings))
    if share_in is not None:
        retriever.save(share_in)
        retriever = BM25Retriever.load(share_in)
    types = _source_types(settings) if settings.retrieval.priors.enabled else None
    return choose_retriever(retriever, settings.retrieval, settings.encoder, progress, types)


def _source_types(settings: TaskSettings) -> SourceTypes:
    """Return the source types that the texts of a corpus state; the benchmarks' passages state none."""
    if settings.corpus == "pooled":
        return SourceTypes({}, settings.retrieval.priors.default)
    return SourceTypes.read(Path(settings.corpus), settings.retrieval.priors.default)


def load_ranker(wanted: str, retriever: Retriever, run: Path, reader: str = "") -> Ranker | None:
    """Return the ranker that serves at inference: None for "none", that of the run for "fit", else the saved one.

    Args:
        wanted: the name.
        retriever: searches the corpus.
        run: folder of the run.
        reader: fingerprint of the generator that reads; a floor that was fitted for it is applied. Empty for no floor.

    Raises:
        DataError: if it is missing or damaged.
        ManifestMismatchError: if it was fitted to other features, or its floor for another ranker.
    """
    if wanted == "none":
        return None
    folder = run / RANKER if wanted == "fit" else Path(wanted)
    model = RankerModel.load(folder)
    return FittedRanker(model, retriever, read_floor(folder, model.fingerprint, reader))


def own_context(records: Iterable[Record]) -> ContextRetriever:
    """Build the retriever that searches each question's own context; equal questions share theirs."""
    pools: dict[str, list[Passage]] = {}
    for record in records:
        pools.setdefault(record.question.key, []).extend(record.context)
    return ContextRetriever(pools)


def build_rules(settings: TaskSettings, disabled: Sequence[str] = ()) -> Rules:
    """Build the rules; ``disabled`` adds to the operations that the settings disable."""
    options = rules_of(settings)
    options["disabled"] = sorted({*settings.disabled, *disabled})
    return Rules(operation_set(settings.operations, **options), settings.caps)


def rules_of(settings: TaskSettings) -> dict[str, Any]:
    """Return the options of the operation set by name; the limits of compression are the paper's for the data set."""
    limits = DATASETS.get(settings.dataset)
    gated = {"gate": asdict(_gate(settings))} if settings.is_gated or settings.compress_strips else {}
    return {
        **gated,
        **({"compress_strips": True} if settings.compress_strips else {}),
        "disabled": sorted(settings.disabled),
        "deduplicate_titles": settings.deduplicate_titles,
        "ranked": settings.ranker != "none",
        "closed_book": settings.closed_book,
        "compress_in_control": settings.compress_in_control,
        "max_snippets": limits.max_snippets if limits else 8,
        "max_tokens": limits.max_tokens if limits else 256,
    }


def _gate(settings: TaskSettings) -> GateSettings:
    """Return the gate's settings; without anywhere else to search, its budget is 0."""
    return settings.gate if settings.external.where != NOWHERE else replace(settings.gate, budget=0)


def _all_records(settings: TaskSettings, split: str) -> list[Record]:
    given = settings.train_file if split == "train" else settings.dev_file
    file = given or locate(settings.dataset, settings.folder, split)
    return read(settings.dataset, file)
