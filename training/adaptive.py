"""The classifier of Adaptive-RAG in a run: read where it was fitted, else fitted and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..controllers.adaptive import AdaptiveRAGController
from ..controllers.adaptive_files import KIND, load_adaptive, save_adaptive
from ..data.errors import ManifestMismatchError
from ..data.records import Record
from ..data.storage import MANIFEST, read_manifest, unmet
from ..envs.build import GENERATOR, build_rules, rules_of
from ..envs.features import FeatureMap
from ..envs.settings import TaskSettings
from ..retrieval.base import Retriever
from .fit_adaptive import AdaptiveSettings, fit_adaptive
from .generators import prepare_generators
from .pipeline import engines
from .questions import questions_hash
from .rankers import NO_RANKERS

ADAPTIVE = "adaptive"


def prepare_adaptive(
    run: Path,
    settings: TaskSettings,
    records: Sequence[Record],
    retriever: Retriever,
    seed: int,
    questions: int,
    fitting: AdaptiveSettings | None = None,
) -> AdaptiveRAGController:
    """Return the controller in ``run/adaptive``, fitted without a ranker on the first train questions if it is missing.

    Args:
        run: folder of a trained run.
        settings: its task.
        records: its train questions, all of them, since its generator was fitted by folds of these.
        retriever: searches the corpus.
        seed: that of its training.
        questions: how many questions to fit on at most.
        fitting: how to fit.

    Raises:
        ConfigError: see :func:`.fit_adaptive.fit_adaptive`.
        DataError: if it is damaged or cannot be written.
        ManifestMismatchError: if it was fitted on something else, or the run's generator was.
    """
    plain = replace(settings, ranker="none", compress_strips=False)
    rules, chosen, folder = build_rules(plain), fitting or AdaptiveSettings(), run / ADAPTIVE
    names = rules.operations.names
    generators = prepare_generators(settings.generator_source, records, retriever, run / GENERATOR, seed)
    asked = records[:questions]
    made_from: dict[str, Any] = {
        "dataset": settings.dataset,
        "fitted_on": questions_hash(asked),
        "retriever": retriever.fingerprint,
        "generator": generators.full.fingerprint,
        "rules": rules_of(plain),
        "caps": asdict(settings.caps),
        "settings": asdict(chosen),
        "fit_seed": seed,
    }
    if not (folder / MANIFEST).exists():
        engine_of = engines(retriever, generators, NO_RANKERS)
        save_adaptive(fit_adaptive(asked, rules, engine_of, seed, chosen, made_from), folder)
    found = read_manifest(folder, KIND)
    if other := unmet(found, made_from):
        raise ManifestMismatchError(
            f"{folder}: holds a classifier fitted with another {', '.join(other)}; delete it to have it fitted again"
        )
    return load_adaptive(folder, FeatureMap(names).names, names)
