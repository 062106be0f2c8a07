"""The rankers of a training run: no question is ranked by a model that was fitted on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..actions.caps import Caps
from ..actions.operation_set import operation_set
from ..actions.rules import Rules
from ..data.manifests import MANIFEST, require_fitted_with
from ..data.records import Record
from ..data.splits import fold_of
from ..envs.build import RANKER, load_ranker
from ..generation.base import Generator
from ..ranking.base import Ranker
from ..ranking.fitted import KIND, FittedRanker, RankerModel
from ..retrieval.base import Retriever
from .fit_ranker import Curriculum, RankerSettings, cross_fit_ranker
from .questions import questions_hash


@dataclass(frozen=True)
class Rankers:
    """Who ranks in training and afterwards.

    Attributes:
        full: serves at inference; None without a ranker.
        of: serves for a train question while rows are collected; it has not seen that question.
    """

    full: Ranker | None
    of: Callable[[Record], Ranker | None]


NO_RANKERS = Rankers(None, lambda _: None)


def prepare_rankers(
    wanted: str,
    records: Sequence[Record],
    retriever: Retriever,
    generator: Generator,
    caps: Caps,
    run: Path,
    fitting: RankerSettings,
    seed: int,
    progress: Callable[[str, int, int], None] | None = None,
) -> Rankers:
    """Return the rankers for "none", "fit", or the folder of a saved one; ``generator`` is never asked.

    "fit" cross-fits by question and saves in the run's folders ``ranker`` (for inference) and ``ranker_folds``; if they
    are there already they are read.

    Raises:
        DataError: if a saved ranker is missing or damaged.
        ManifestMismatchError: if those in the run were fitted on something else.
    """
    if wanted != "fit":
        single = load_ranker(wanted, retriever, run)
        return Rankers(single, lambda _: single)
    made_from = {
        "questions": questions_hash(records),
        "retriever": retriever.fingerprint,
        **({"encoder_of_vectors": retriever.encoder} if retriever.encoder else {}),
        "caps": asdict(caps),
        "settings": asdict(fitting),
        "seed": seed,
    }
    folds = [run / "ranker_folds" / str(fold) for fold in range(fitting.folds)]
    if not all((folder / MANIFEST).exists() for folder in (run / RANKER, *folds)):
        course = Curriculum(records, Rules(operation_set(ranked=True), caps), retriever, generator)
        fitted = cross_fit_ranker([course], fitting, seed, progress)
        for folder, model in zip(folds, fitted.folds):
            model.save(folder, made_from)
        fitted.full.save(run / RANKER, made_from)
    for folder in (run / RANKER, *folds):
        require_fitted_with(folder, KIND, made_from)
    read = [FittedRanker(RankerModel.load(folder), retriever) for folder in folds]
    full = load_ranker("fit", retriever, run)
    return Rankers(full, lambda record: read[fold_of(record.id, fitting.folds, seed)])
