"""The fitted ranker: two boosted ensembles, one for passages and one for searches, over features of words and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from ..data.manifests import unmet
from ..data.records import content_hash
from ..data.storage import load_folder, save_folder
from ..data.trees import TreeArrays
from ..retrieval.base import Retriever
from .base import Ranker
from .floors import EVERYTHING
from .proposal_features import PROPOSAL_FEATURES
from .rankings import ranking
from .rows import Reader, passage_features
from .tasks import Ranking, RankTask

KIND = "ranker"
FORMAT = 1


@dataclass(frozen=True)
class RankerModel:
    """What is fitted and saved; it serves any corpus.

    Attributes:
        passages: log-odds of a found passage being support, on rows of ``PASSAGE_FEATURES``, and behind them of
            ``VECTOR_FEATURES`` if it was fitted with an encoder.
        proposals: log-odds of a search finding new support, on rows of ``PROPOSAL_FEATURES``.
        encoder: the encoder's fingerprint, empty without one.
    """

    passages: TreeArrays
    proposals: TreeArrays
    encoder: str = ""

    @property
    def fingerprint(self) -> str:
        """A hash of both ensembles."""
        arrays = self.arrays()
        encoder = [self.encoder] if self.encoder else []
        return content_hash("ranker", *(f"{name}:{arrays[name].tobytes().hex()}" for name in sorted(arrays)), *encoder)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save."""
        return self.passages.arrays("passages_") | self.proposals.arrays("proposals_")

    def save(self, folder: Path, manifest: dict[str, Any] | None = None) -> None:
        """Write the model; the same model gives the same bytes.

        Raises:
            DataError: if the folder cannot be written.
        """
        fixed = {"kind": KIND, "format": FORMAT, "encoder": self.encoder, **_features(self.encoder)}
        save_folder(folder, self.arrays(), {**(manifest or {}), **fixed})

    @classmethod
    def load(cls, folder: Path) -> RankerModel:
        """Read what :meth:`save` wrote.

        Raises:
            DataError: if a file is missing or damaged.
            ManifestMismatchError: if it was fitted to other features.
        """
        arrays, manifest = load_folder(folder, KIND)
        encoder = str(manifest.get("encoder", ""))
        if unmet(manifest, {"format": FORMAT, **_features(encoder)}):
            raise ManifestMismatchError(f"{folder}: the ranker was fitted to other features; fit it again")
        model = cls(TreeArrays.from_arrays(arrays, "passages_"), TreeArrays.from_arrays(arrays, "proposals_"), encoder)
        widths = len(passage_features(bool(encoder))), len(PROPOSAL_FEATURES)
        if (model.passages.n_features, model.proposals.n_features) != widths:
            raise ManifestMismatchError(f"{folder}: the ranker's arrays do not fit its features; fit or copy it again")
        return model


class FittedRanker(Ranker):
    """Applies a model to a corpus.

    Args:
        model: what was fitted.
        retriever: knows how rare the terms of the corpus are, which passages are about a name, and, if the model was
            fitted with an encoder, the vectors of that encoder.
        floor: what a passage must score to be read for the answer, in [0, 1]; 0 where everything is read.

    Raises:
        ManifestMismatchError: if the retriever has no encoder or another one than the model was fitted with.
    """

    def __init__(self, model: RankerModel, retriever: Retriever, floor: float = EVERYTHING) -> None:
        if model.encoder and model.encoder != retriever.encoder:
            raise ManifestMismatchError(
                "the ranker was fitted with an encoder, and the retriever has "
                + ("another one" if retriever.encoder else "none; name it with --encoder")
            )
        self.model = model
        self.retriever = retriever
        self.floor = floor
        self.reader = Reader(retriever, bool(model.encoder))

    def __reduce__(self) -> Any:
        """Send the model, not what was read with it, to another process."""
        return FittedRanker, (self.model, self.retriever, self.floor)

    @property
    def fingerprint(self) -> str:
        """A hash of model and corpus, and of the floor if there is one."""
        floor = [f"floor:{self.floor!r}"] if self.floor else []
        return content_hash(self.model.fingerprint, self.retriever.fingerprint, *floor)

    def rank(self, tasks: Sequence[RankTask]) -> list[Ranking]:
        """Return a ranking for each task."""
        read = [self.reader.read(task) for task in tasks]
        scores = _probabilities(self.model.passages, [rows.passages for rows in read])
        gains = _probabilities(self.model.proposals, [rows.rows for rows in read])
        made = [ranking(rows.searches, own, gain) for rows, own, gain in zip(read, scores, gains)]
        return [one._replace(floor=self.floor) for one in made] if self.floor else made


def _features(encoder: str) -> dict[str, list[str]]:
    return {"passage_features": list(passage_features(bool(encoder))), "proposal_features": list(PROPOSAL_FEATURES)}


def _probabilities(trees: TreeArrays, parts: Sequence[NDArray[np.float32]]) -> list[NDArray[np.float64]]:
    """Return the probability of each row of each part."""
    if not parts:
        return []
    made = 1.0 / (1.0 + np.exp(-trees.predict(np.concatenate(parts))))
    return np.split(made, np.cumsum([len(part) for part in parts])[:-1])
