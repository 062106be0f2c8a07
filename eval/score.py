"""Scoring any system's predictions with the official metrics of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..data.errors import ConfigError
from ..data.hotpotqa_scores import hotpotqa_scores
from ..data.official_scores import OFFICIAL_DATASETS
from ..data.twowiki_scores import twowiki_scores
from .aliases import read_aliases
from .fact_gold import FactGold, read_hotpotqa_gold, read_twowiki_gold
from .prediction_files import FactPredictions, read_fact_predictions
from .score_musique import score_musique
from .score_table import Scores, format_scores, mean_scores, to_json
from .score_tasks import score_arc, score_popqa

__all__ = ["Scores", "format_scores", "score", "to_json"]

_BY_FILES = {"musique": score_musique, "popqa": score_popqa, "arc": score_arc}


def score(dataset: str, gold_file: Path, predictions_file: Path, aliases_file: Path | None = None) -> Scores:
    """Score predictions in the official format of a data set; files may be plain or gzip.

    HotpotQA: one object ``{"answer": {id: text}, "sp": {id: [[title, sentence index], ...]}}``; 2WikiMultiHopQA: also
    ``"evidence": {id: [[subject, relation, object], ...]}``; MuSiQue: JSON lines of ``id``, ``predicted_answer``,
    ``predicted_support_idxs`` and ``predicted_answerable``. As in the official scripts, a missing prediction scores 0.

    MuSiQue's script averages answers and support over the answerable questions, and compares files line by line. Here
    lines are matched by id, and the two lines of MuSiQue-Full twins by their order; one prediction for two twins
    counts as missing for both, since nothing tells which it is.

    PopQA and ARC: one object ``{id: answer}``, or JSON lines of ``id`` and ``answer``; see ``popqa_scores`` and
    ``arc_scores`` for what counts as right. Accuracy comes by type of question, too.

    Args:
        dataset: ``"hotpotqa"``, ``"2wikimultihopqa"``, ``"musique"`` (Ans or Full, told by ``answerable``), ``"popqa"``
            or ``"arc"``.
        gold_file: questions with gold, in the official format; only the scored fields are read.
        predictions_file: the predictions.
        aliases_file: 2WikiMultiHopQA's ``id_aliases.json``, by which its script accepts other names.

    Raises:
        ConfigError: if the data set has no metrics here, or aliases are given for another than 2WikiMultiHopQA.
        DataError: if a file cannot be read or does not hold what it should; the message gives file and record or key.
    """
    if aliases_file is not None and dataset != "2wikimultihopqa":
        raise ConfigError(f"aliases are for '2wikimultihopqa' only, and the data set is {dataset!r}; leave them out")
    if dataset == "hotpotqa":
        return _score_hotpotqa(read_hotpotqa_gold(gold_file), read_fact_predictions(predictions_file, False))
    if dataset == "2wikimultihopqa":
        aliases = None if aliases_file is None else read_aliases(aliases_file)
        return _score_twowiki(read_twowiki_gold(gold_file, aliases), read_fact_predictions(predictions_file, True))
    if dataset in _BY_FILES:
        return _BY_FILES[dataset](gold_file, predictions_file)
    known = dict.fromkeys((*OFFICIAL_DATASETS, *_BY_FILES))
    raise ConfigError(f"no metrics for data set {dataset!r}; there are: {', '.join(known)}")


def _score_hotpotqa(golds: Sequence[FactGold], found: FactPredictions) -> Scores:
    rows = [hotpotqa_scores(found.answers.get(g.id), found.facts.get(g.id), g.answers[0], g.facts) for g in golds]
    return _of_facts("hotpotqa", golds, rows, {"answer": found.answers, "sp": found.facts})


def _score_twowiki(golds: Sequence[FactGold], found: FactPredictions) -> Scores:
    parts = {"answer": found.answers, "sp": found.facts, "evidence": found.evidences}
    rows = [
        twowiki_scores(
            found.answers.get(g.id), found.facts.get(g.id), found.evidences.get(g.id), g.answers, g.facts, g.evidences
        )
        for g in golds
    ]
    return _of_facts("2wikimultihopqa", golds, rows, parts)


def _of_facts(
    dataset: str, golds: Sequence[FactGold], rows: Sequence[Mapping[str, float]], parts: Mapping[str, Iterable[str]]
) -> Scores:
    predicted = {part: frozenset(ids) for part, ids in parts.items()}
    missing = {part: tuple(g.id for g in golds if g.id not in ids) for part, ids in predicted.items()}
    known = {g.id for g in golds}
    extra = dict.fromkeys(key for ids in parts.values() for key in ids if key not in known)
    return Scores(dataset, len(golds), mean_scores(rows), missing, tuple(extra))
