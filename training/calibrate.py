"""Calibrating a saved evaluator on labelled questions: ``evidencegym calibrate``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..confidence.base import EvaluateTask, Evaluator
from ..confidence.calibration import Calibration, Judged, calibrate
from ..confidence.calibration_settings import CalibrationSettings
from ..confidence.files import load_evaluator, save_thresholds
from ..confidence.manifests import KIND
from ..data.errors import ConfigError
from ..data.records import Record
from ..data.storage import read_manifest
from ..data.support_scores import supports_total
from ..retrieval.base import Retriever
from .evaluator_rows import searched, truth
from .questions import questions_hash

_BATCH = 64


def calibrate_folder(
    folder: Path, records: Sequence[Record], retriever: Retriever, settings: CalibrationSettings, seed: int = 0
) -> Calibration:
    """Fit the thresholds of a saved evaluator, store them with it, and return them with what was measured.

    Args:
        folder: where the evaluator is.
        records: labelled questions that it was not fitted on; those without annotated support are left out.
        retriever: the corpus.
        settings: criterion and evidence.
        seed: of the intervals.

    Raises:
        ConfigError: if it was fitted on these very questions, or support is annotated for none of them.
        DataError: if a file is missing or damaged, or cannot be written.
        ManifestMismatchError: if the folder holds something else.
    """
    if read_manifest(folder, KIND).get("questions") == questions_hash(records):
        raise ConfigError(
            f"{folder}: the evaluator was fitted on these questions, so its scores are too good there; calibrate it on "
            "others (those that `fit` stored are out of fold, and stay)"
        )
    made = calibrate(judgements(load_evaluator(folder, retriever), records, retriever, settings.depths), settings, seed)
    save_thresholds(folder, made.thresholds, {**made.summary(), "questions": questions_hash(records)})
    return made


def judgements(
    evaluator: Evaluator, records: Sequence[Record], retriever: Retriever, depths: Sequence[int]
) -> list[Judged]:
    """Return the evidence that each question's own text finds, down to each depth, with its scores and truth.

    Raises:
        RequestFailedError: if a search or an evaluation cannot be served.
    """
    labelled = [record for record in records if record.gold is not None and supports_total(record.gold)]
    made: list[Judged] = []
    for group in _groups(labelled):
        cases = [
            (record, found[:depth])
            for record in group
            for found in [searched(record, retriever, depths[-1])]
            for depth in depths
        ]
        scores = evaluator.score([EvaluateTask(r.question.text, r.question.key, texts) for r, texts in cases])
        made += [truth(record, texts, own) for (record, texts), own in zip(cases, scores)]
    return made


def _groups(records: Sequence[Record]) -> Iterator[Sequence[Record]]:
    yield from (records[first : first + _BATCH] for first in range(0, len(records), _BATCH))
