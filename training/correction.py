"""What a corrective gate needs in training: evaluators that have not seen the question, and other places to search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..confidence.base import Evaluator
from ..data.records import Record
from ..envs.build import build_external, evaluator_folder
from ..envs.settings import TaskSettings
from ..retrieval.base import Retriever
from ..retrieval.external import ExternalSource
from ..retrieval.external_settings import NONE
from .evaluators import prepare_evaluators
from .fit_evaluator import EvaluatorSettings


@dataclass(frozen=True)
class Correction:
    """Who judges evidence, and where is searched elsewhere.

    Attributes:
        full: serves at inference; None without an evaluator.
        of: serves for a train question while rows are collected; it has not seen that question.
        external: is searched where the corpus does not do; None for nowhere.
    """

    full: Evaluator | None
    of: Callable[[Record], Evaluator | None]
    external: ExternalSource | None = None

    def noted(self, settings: TaskSettings) -> dict[str, Any]:
        """Return what a controller's manifest says of it: nothing where nobody judges and nothing lies outside."""
        outside = {"external_source": settings.external.source()} if settings.external.where != NONE else {}
        if self.full is None:
            return outside
        return {
            "evaluator": self.full.fingerprint,
            "evaluator_source": settings.evaluator,
            "thresholds": settings.thresholds,
            "external": self.external.fingerprint if self.external else "",
            **outside,
        }

    def depends(self, records: Sequence[Record]) -> dict[str, Any]:
        """Return what the rows of a collection depend on: nothing where there is no evaluator."""
        evaluators = sorted({judge.fingerprint for record in records if (judge := self.of(record))})
        if not evaluators:
            return {}
        return {"evaluators": evaluators, "external": self.external.fingerprint if self.external else ""}


NO_CORRECTION = Correction(None, lambda _: None)


def prepare_correction(
    settings: TaskSettings,
    records: Sequence[Record],
    retriever: Retriever,
    run: Path,
    fitting: EvaluatorSettings,
    seed: int,
    progress: Callable[[str, int, int], None] | None = None,
) -> Correction:
    """Return what the settings name: evaluators fitted and saved in the run, or read from it, and the external source.

    Raises:
        DataError: if something saved, or a corpus, is missing or damaged.
        ManifestMismatchError: if the evaluators in the run were fitted on something else.
        ConfigError: if an evaluator has no thresholds and none are given, or a wiki may not be asked.
    """
    if settings.evaluator == "none":
        return NO_CORRECTION
    given, wanted = settings.given_thresholds, settings.evaluator
    named = wanted if wanted == "fit" else str(evaluator_folder(wanted))
    evaluators = prepare_evaluators(named, records, retriever, run, fitting, seed, progress, given)
    return Correction(evaluators.full, evaluators.of, build_external(settings))
