"""The floor: what a passage must score to be read for the answer. It is fitted for one ranker and one reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..data.errors import ManifestMismatchError
from ..data.storage import MANIFEST, read_manifest, to_json, write_text

KIND = "floor"
FLOOR = "floor"
"""Folder of the floor in the folder of its ranker."""
EVERYTHING = 0.0
"""The floor with which everything is read."""


class Point(NamedTuple):
    """What one floor gave on train questions.

    Attributes:
        floor: in [0, 1].
        answer_f1: mean token F1 of the answers.
        passages: mean number of passages read.
    """

    floor: float
    answer_f1: float
    passages: float


@dataclass(frozen=True)
class Floor:
    """A fitted floor.

    Attributes:
        points: what was measured, floors ascending, at least one.
    """

    points: Sequence[Point]

    @property
    def score(self) -> float:
        """The floor of the highest mean F1; of equal ones the lowest, which reads most."""
        return max(self.points, key=lambda point: (point.answer_f1, -point.floor)).floor

    def save(self, ranker: Path, made_from: Mapping[str, Any]) -> None:
        """Write it into the folder of its ranker.

        Raises:
            DataError: if it cannot be written.
        """
        measured = [point._asdict() for point in self.points]
        manifest = {**made_from, "kind": KIND, "floor": self.score, "criterion": "answer_f1", "measured": measured}
        write_text(ranker / FLOOR / MANIFEST, to_json(manifest))


def read_floor(ranker: Path, fingerprint: str, reader: str) -> float:
    """Return the floor in a ranker's folder; without one, and for another reader, everything is read.

    Args:
        ranker: the folder of the ranker.
        fingerprint: that of the ranker's model.
        reader: fingerprint of the generator that will read; empty where none will.

    Raises:
        DataError: if it is damaged.
        ManifestMismatchError: if it was fitted for another ranker than the one beside it.
    """
    folder = ranker / FLOOR
    if not reader or not (folder / MANIFEST).exists():
        return EVERYTHING
    manifest = read_manifest(folder, KIND)
    if manifest.get("ranker") != fingerprint:
        raise ManifestMismatchError(
            f"{folder}: the floor was fitted for another ranker than the one beside it; delete it, and run "
            "`evidencegym train` again to have it fitted"
        )
    return float(manifest["floor"]) if manifest.get("reader") == reader else EVERYTHING
