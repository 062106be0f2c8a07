"""Building what the settings name: questions, corpus, retriever, rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ..actions.operation_set import operation_set
from ..actions.rules import Rules
from ..data.corpus import pooled, read_corpus
from ..data.datasets import DATASETS, locate, read
from ..data.errors import ConfigError
from ..data.records import Passage, Record
from ..data.world import World
from ..ranking.base import Ranker
from ..ranking.fitted import FittedRanker, RankerModel
from ..retrieval.base import Retriever
from ..retrieval.bm25 import BM25Retriever
from ..retrieval.choose import choose_retriever
from ..retrieval.context import ContextRetriever
from ..retrieval.encoder_settings import NONE
from .settings import TaskSettings

CONTROLLER = "controller"
"""Folder of the controller in a run."""
GENERATOR = "generator"
"""Folder of the generator in a run that fitted its own."""
RANKER = "ranker"
"""Folder of the ranker in a run."""
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
    if settings.corpus not in {"pooled", "own"}:
        return read_corpus(Path(settings.corpus))
    if settings.is_synthetic:
        return list(World(settings.passages, settings.world_seed).passages())
    return pooled([*_all_records(settings, "train"), *_all_records(settings, "dev")])


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
        if settings.encoder.model != NONE or set(settings.retrieval.kinds) != {"bm25"}:
            raise ConfigError(
                "dense retrieval and encoders need one corpus: choose `corpus: pooled` or a path instead of own"
            )
        return own_context(records)
    retriever = BM25Retriever.build(load_corpus(settings))
    if share_in is not None:
        retriever.save(share_in)
        retriever = BM25Retriever.load(share_in)
    return choose_retriever(retriever, settings.retrieval, settings.encoder, progress)


def load_ranker(wanted: str, retriever: Retriever, run: Path) -> Ranker | None:
    """Return the ranker that serves at inference: None for "none", that of the run for "fit", else the saved one.

    Raises:
        DataError: if it is missing or damaged.
        ManifestMismatchError: if it was fitted to other features.
    """
    if wanted == "none":
        return None
    folder = run / RANKER if wanted == "fit" else Path(wanted)
    return FittedRanker(RankerModel.load(folder), retriever)


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
    return {
        "disabled": sorted(settings.disabled),
        "deduplicate_titles": settings.deduplicate_titles,
        "ranked": settings.ranker != "none",
        "closed_book": settings.closed_book,
        "compress_in_control": settings.compress_in_control,
        "max_snippets": limits.max_snippets if limits else 8,
        "max_tokens": limits.max_tokens if limits else 256,
    }


def _all_records(settings: TaskSettings, split: str) -> list[Record]:
    given = settings.train_file if split == "train" else settings.dev_file
    file = given or locate(settings.dataset, settings.folder, split)
    return read(settings.dataset, file)
