"""The evaluators of a training run: no question is judged by a model, or by thresholds, that were fitted on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..confidence.base import Evaluator
from ..confidence.files import load_evaluator, require_calibrated
from ..confidence.manifests import KIND
from ..confidence.verdicts import Thresholds
from ..data.manifests import MANIFEST, require_fitted_with
from ..data.records import Record
from ..data.splits import fold_of
from ..envs.build import EVALUATOR, evaluator_folder
from ..retrieval.base import Retriever
from .fit_evaluator import EvaluatorSettings, Fitted, cross_fit_evaluator
from .questions import questions_hash

FOLDS = "evaluator_folds"


@dataclass(frozen=True)
class Evaluators:
    """Who judges in training and afterwards.

    Attributes:
        full: serves at inference; None without an evaluator.
        of: serves for a train question while rows are collected; it has not seen that question.
    """

    full: Evaluator | None
    of: Callable[[Record], Evaluator | None]


NO_EVALUATORS = Evaluators(None, lambda _: None)


def prepare_evaluators(
    wanted: str,
    records: Sequence[Record],
    retriever: Retriever,
    run: Path,
    fitting: EvaluatorSettings,
    seed: int,
    progress: Callable[[str, int, int], None] | None = None,
    given: Thresholds | None = None,
) -> Evaluators:
    """Return the evaluators for "none", "fit", or the folder of a saved one; each has thresholds.

    "fit" cross-fits by question, thresholds included, and saves in the run's folders ``evaluator`` (for inference) and
    ``evaluator_folds``; if they are there already they are read. ``given`` thresholds take the place of fitted ones.

    Raises:
        ConfigError: if there are too few questions to fit one, or a saved one has no thresholds and none are given.
        DataError: if a saved evaluator is missing or damaged.
        ManifestMismatchError: if those in the run were fitted on something else.
    """
    if wanted == "none":
        return NO_EVALUATORS
    if wanted != "fit":
        single = require_calibrated(load_evaluator(evaluator_folder(wanted), retriever), given)
        return Evaluators(single, lambda _: single)
    made_from = _made_from(records, retriever, fitting, seed)
    folders = [run / EVALUATOR, *(run / FOLDS / str(fold) for fold in range(fitting.folds))]
    if not all((folder / MANIFEST).exists() for folder in folders):
        fitted = cross_fit_evaluator(records, retriever, fitting, seed, progress)
        # The one for inference comes last, so that a run that has it has all of them.
        for folder, own in zip([*folders[1:], folders[0]], [*fitted.folds, fitted.full]):
            save_fitted(folder, own, made_from)
    for folder in folders:
        require_fitted_with(folder, KIND, made_from)
    full, *folds = (require_calibrated(load_evaluator(folder, retriever), given) for folder in folders)
    return Evaluators(full, lambda record: folds[fold_of(record.id, fitting.folds, seed)])


def _made_from(
    records: Sequence[Record], retriever: Retriever, fitting: EvaluatorSettings, seed: int
) -> dict[str, Any]:
    return {
        "questions": questions_hash(records),
        "retriever": retriever.fingerprint,
        "settings": asdict(fitting),
        "seed": seed,
    }


def save_fitted(folder: Path, fitted: Fitted, made_from: dict[str, Any]) -> None:
    """Save a fitted evaluator with its thresholds and what it was made from.

    Raises:
        DataError: if the folder cannot be written.
    """
    thresholds = fitted.calibration.thresholds._asdict()
    questions = made_from.get("questions", "")
    stored = {**fitted.calibration.summary(), "questions": questions, "out_of_fold": True, **thresholds}
    fitted.model.save(folder, {**made_from, "thresholds": stored})
