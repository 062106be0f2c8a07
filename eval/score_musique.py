"""MuSiQue's predictions against its gold: which line answers which question, the twins of MuSiQue-Full, the means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..data.errors import DataError
from ..data.musique_scores import MuSiQueGold, MuSiQuePrediction, Scored, musique_group_scores, musique_scores
from .paragraph_gold import ParagraphGold, read_musique_gold
from .prediction_files import ParagraphPrediction, read_musique_predictions
from .score_table import Scores, mean_scores


class _Matched(NamedTuple):
    id: str
    prediction: MuSiQuePrediction | None
    gold: MuSiQueGold


def score_musique(gold_file: Path, predictions_file: Path) -> Scores:
    """Score MuSiQue-Ans, or MuSiQue-Full where a question is unanswerable.

    Answer and support metrics are means over the answerable questions, group metrics over the pairs of twins.

    Raises:
        DataError: if a file does not hold what it should, if an id is predicted more often than it is asked, or if
            every question is unanswerable and has no twin.
    """
    golds = read_musique_gold(gold_file)
    full = any(not question.gold.answerable for question in golds)
    predictions = _by_id(read_musique_predictions(predictions_file, with_answerable=full))
    matched = _matched(golds, predictions, predictions_file)
    pairs, unpaired = _twins(matched) if full else ([], ())
    answerable = [musique_scores(m.prediction, m.gold) for m in matched if m.gold.answerable]
    metrics = mean_scores(answerable) | mean_scores([musique_group_scores(pair) for pair in pairs])
    if not metrics:
        raise DataError("every question is unanswerable and has no twin, so nothing can be scored", gold_file)
    missing = tuple(m.id for m in matched if m.prediction is None)
    asked = {question.id for question in golds}
    extra = tuple(key for key in predictions if key not in asked)
    return Scores("musique", len(golds), metrics, {"prediction": missing}, extra, unpaired)


def _by_id(predictions: Iterable[ParagraphPrediction]) -> Mapping[str, Sequence[MuSiQuePrediction]]:
    grouped: dict[str, list[MuSiQuePrediction]] = {}
    for line in predictions:
        grouped.setdefault(line.id, []).append(line.prediction)
    return grouped


def _matched(
    golds: Sequence[ParagraphGold], predictions: Mapping[str, Sequence[MuSiQuePrediction]], file: Path
) -> list[_Matched]:
    """Give each question its prediction: the n-th line of an id answers the n-th question of that id.

    With fewer lines than questions nothing tells which is answered, and all of that id are missing.
    """
    asked: dict[str, int] = defaultdict(int)
    places = []
    for question in golds:
        places.append(asked[question.id])
        asked[question.id] += 1
    for key, count in asked.items():
        if len(predictions.get(key, ())) > count:
            raise DataError(f"{key!r} is predicted {len(predictions[key])} times, asked {count} times", file)
    whole = {key for key, count in asked.items() if len(predictions.get(key, ())) == count}
    return [
        _Matched(question.id, predictions[question.id][place] if question.id in whole else None, question.gold)
        for question, place in zip(golds, places)
    ]


def _twins(matched: Sequence[_Matched]) -> tuple[list[list[Scored]], tuple[str, ...]]:
    """Return the pairs of one answerable and one unanswerable question, and the ids that do not make such a pair."""
    groups: dict[str, list[Scored]] = {}
    for question in matched:
        groups.setdefault(question.id, []).append((question.prediction, question.gold))
    paired = {key: sorted(gold.answerable for _, gold in group) == [False, True] for key, group in groups.items()}
    return [group for key, group in groups.items() if paired[key]], tuple(key for key in groups if not paired[key])
