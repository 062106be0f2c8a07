"""What conformal confidence does for a retriever: calibrated on train questions, reported on dev questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from pathlib import Path

from ..actions.engine import Engine
from ..confidence.chunks import ScoredChunks, calibration_records, retrieved_chunks, search_chunks
from ..confidence.clustered import Share
from ..confidence.conformal import Calibration, calibrate
from ..confidence.conformal_diagnostics import Diagnostics
from ..confidence.conformal_settings import ConformalSettings
from ..data.errors import ConfigError
from ..data.records import Record
from ..data.splits import fold_of
from ..data.storage import write_text
from ..retrieval.base import Hit, Retriever
from .analysis import Analysis, Row, spread_columns
from .conformal_answers import answer_all, answers_analysis
from .report_analysis import table
from .suite.ground import sample

_Z = 1.96
_SPREADS = {"coverage": "correct chunks trusted", "m1": "m1", "m2": "m2"}
_COLUMNS = (
    ("alpha", "alpha"),
    ("expected", "expected"),
    ("chunks", "calibration chunks"),
    ("threshold", "1 - q_hat"),
    ("questions", "questions"),
    *(column for key, label in _SPREADS.items() for column in spread_columns(key, label)),
    ("error", "error of the first"),
    ("covered", "as expected"),
    ("precision", "trusted chunks correct"),
    ("reachable", "questions with a correct chunk"),
    ("reachable_upper", "upper bound"),
    ("refusal", "refused because"),
)
_ASKS = (
    "Are correct chunks trusted as often as promised? Of the correct chunks among the first k, those that are trusted; "
    "at least 1 - alpha is expected (approximately, since chunks of a question go together). Its standard error counts "
    "the questions here and those of the calibration; as expected: not below 1 - alpha by more than 1.96 such errors. "
    "Questions with a trusted chunk (m1); chunks that are trusted (m2); trusted chunks that are correct, of which "
    "nothing is promised; questions with a correct chunk, and its upper 95 % bound. Intervals: 95 % bootstrap over the "
    "questions here."
)


@dataclass(frozen=True)
class ConformalReport:
    """What was found.

    Attributes:
        coverage: a row for each alpha.
        answers: a row for each alpha; None where there was no generator.
        calibrations: one for each alpha.
    """

    coverage: Analysis
    answers: Analysis | None
    calibrations: tuple[Calibration, ...]

    @property
    def analyses(self) -> tuple[Analysis, ...]:
        """The analyses there are."""
        return (self.coverage,) if self.answers is None else (self.coverage, self.answers)

    def markdown(self) -> str:
        """Return the tables as Markdown, each interval beside its value."""
        return "\n".join(_markdown(analysis) for analysis in self.analyses)

    def write(self, folder: Path) -> None:
        """Write analyses, ``conformal.md``, and each calibration into ``calibrations/alpha-<alpha>``.

        Raises:
            ConfigError: if the folder of a calibration holds something else.
            DataError: if something cannot be written.
        """
        for analysis in self.analyses:
            analysis.write(folder)
        for calibration in self.calibrations:
            calibration.save(folder / "calibrations" / f"alpha-{calibration.alpha}")
        write_text(folder / "conformal.md", self.markdown())


def conformal_report(
    retriever: Retriever,
    train: Sequence[Record],
    dev: Sequence[Record],
    settings: ConformalSettings,
    seed: int = 0,
    engine: Engine | None = None,
) -> ConformalReport:
    """Calibrate on train questions and report on dev questions; those without an answer or support are left out.

    Args:
        retriever: whose scores are calibrated.
        train: train questions with gold.
        dev: other questions with gold.
        settings: what to calibrate.
        seed: seed of folds, sample and intervals.
        engine: answers the questions; None for no answers.

    Raises:
        ConfigError: if a question has no gold, there are too few, or one is on both sides.
    """
    calibrations = calibrations_of(retriever, train, settings, seed)
    records = calibration_records(dev)
    if not records:
        raise ConfigError("the dev questions hold none with an answer and support: expected at least one")
    _check_apart(train, records)
    found = search_chunks(records, retriever, settings.k)
    chunks = retrieved_chunks(records, found)
    reported = [c.diagnose(chunks, seed) for c in calibrations]
    refusals = [_refusal(c, own) for c, own in zip(calibrations, reported)]
    rows = [_row(*each) for each in zip(calibrations, reported, refusals)]
    note = {"k": settings.k, "beta": settings.beta, "seed": seed, "folds": settings.folds}
    coverage = Analysis("conformal_coverage", "Conformal retrieval confidence", _ASKS, _COLUMNS, rows, None, note)
    answers = None if engine is None else _answers(records, found, calibrations, refusals, settings, seed, engine)
    return ConformalReport(coverage, answers, tuple(calibrations))


def calibrations_of(
    retriever: Retriever, train: Sequence[Record], settings: ConformalSettings, seed: int = 0
) -> list[Calibration]:
    """Return a calibration for each alpha: the first fold gives the bounds of the scores, the others calibrate.

    Raises:
        ConfigError: if a question has no gold, or there are too few.
    """
    records = calibration_records(train)
    chunks = retrieved_chunks(records, search_chunks(records, retriever, settings.k))
    first = [fold_of(record.id, settings.folds, seed) == 0 for record in records]
    return calibrate_on(
        [c for c, apart in zip(chunks, first) if not apart],
        [c for c, apart in zip(chunks, first) if apart],
        retriever.fingerprint,
        settings,
        seed,
    )


def calibrate_on(
    chunks: Sequence[ScoredChunks],
    apart: Sequence[ScoredChunks],
    fingerprint: str,
    settings: ConformalSettings,
    seed: int = 0,
) -> list[Calibration]:
    """Return a calibration for each alpha of the settings; see ``calibrate``."""
    return [calibrate(chunks, apart, a, settings.k, fingerprint, settings.beta, seed) for a in settings.alphas]


def _answers(
    records: Sequence[Record],
    found: Sequence[Sequence[Hit]],
    calibrations: Sequence[Calibration],
    refusals: Sequence[str],
    settings: ConformalSettings,
    seed: int,
    engine: Engine,
) -> Analysis:
    chosen = {record.uid for record in sample(records, settings.answer_questions, seed)}
    pairs = [(record, hits) for record, hits in zip(records, found) if record.uid in chosen]
    answered = answer_all([record for record, _ in pairs], [hits for _, hits in pairs], engine)
    return answers_analysis(answered, calibrations, refusals, engine, seed)


def _refusal(calibration: Calibration, reported: Diagnostics) -> str:
    """Return why filtering is refused: by the calibration questions, else by those reported on."""
    if calibration.refusal:
        return f"on the calibration questions {calibration.refusal}"
    here = reported.refusal(calibration.alpha)
    return here and f"on these questions {here}"


def _row(calibration: Calibration, found: Diagnostics, refusal: str) -> Row:
    error = hypot(found.coverage.error, calibration.diagnostics.coverage.error)
    expected = 1 - calibration.alpha
    row: Row = {"alpha": calibration.alpha, "expected": expected, "chunks": calibration.chunks}
    row |= {"threshold": calibration.threshold, "questions": found.questions}
    for name in _SPREADS:
        share: Share = getattr(found, name)
        row |= {name: share.share, f"{name}_low": share.low, f"{name}_high": share.high}
    row |= {"error": error, "covered": found.coverage.share >= expected - _Z * error, "refusal": refusal}
    row |= {"precision": found.precision.share, "reachable": found.reachable.share}
    return row | {"reachable_upper": found.reachable_upper}


def _markdown(analysis: Analysis) -> str:
    labels, rows = table(analysis)
    lines = [f"| {' | '.join(line)} |" for line in (labels, *rows)]
    return (
        "\n".join([f"### {analysis.title}", "", analysis.asks, "", lines[0], f"|{'---|' * len(labels)}", *lines[1:]])
        + "\n"
    )


def _check_apart(train: Sequence[Record], dev: Sequence[Record]) -> None:
    if both := sorted({record.uid for record in train} & {record.uid for record in dev}):
        raise ConfigError(
            f"dev questions must not be calibrated on, found {len(both)} on both sides: {', '.join(both[:3])}"
        )
