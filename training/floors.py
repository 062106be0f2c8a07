"""The floor of a run: kept in the folder of its ranker, fitted where it is missing or was fitted on something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..controllers.forest import ForestController
from ..data.storage import MANIFEST, read_manifest, unmet
from ..envs.build import RANKER, build_rules, rules_of
from ..ranking.fitted import RankerModel
from ..ranking.floors import FLOOR, KIND, read_floor
from .fit_floor import FloorSettings, fit_floor
from .iterate import Course
from .pipeline import engines
from .questions import questions_hash

_ENDING = ("stop_answer", "sufficiency_check")


def prepare_floor(
    course: Course,
    run: Path,
    controller: ForestController,
    fitting: FloorSettings,
    progress: Callable[[int, int], None] | None = None,
) -> float:
    """Return the floor of a run that fitted its ranker; fit it on the first train questions unless it is there.

    The controller's episodes are those of the task, and once more without stopping and probes, so that the floor serves
    as much evidence as an episode may hold. Rankers and generators are those of the other folds.

    Raises:
        ConfigError: if there is no train question with gold.
        DataError: if something is damaged or cannot be written.
    """
    folder, settings, reader = run / RANKER, course.settings, course.generators.full.fingerprint
    model, asked = RankerModel.load(folder).fingerprint, course.records[: fitting.questions]
    made_from: dict[str, Any] = {
        "questions": questions_hash(asked),
        "retriever": course.retriever.fingerprint,
        "ranker": model,
        "reader": reader,
        "controller": controller.fingerprint,
        "caps": asdict(settings.caps),
        "rules": rules_of(settings),
        "settings": asdict(fitting),
        "seed": course.seed,
        **course.correction.depends(asked),
    }
    if not _holds(folder / FLOOR, made_from):
        rules = build_rules(settings)
        ending = [name for name in _ENDING if name in rules.operations.names]
        games = [rules, build_rules(settings, disabled=ending)]
        engine_of = engines(course.retriever, course.generators, course.rankers, course.correction)
        fit_floor(asked, games, engine_of, controller, fitting, progress).save(folder, made_from)
    return read_floor(folder, model, reader)


def _holds(folder: Path, made_from: dict[str, Any]) -> bool:
    return (folder / MANIFEST).exists() and not unmet(read_manifest(folder, KIND), made_from)
