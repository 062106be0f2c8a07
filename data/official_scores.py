"""The official per-question metrics of the three benchmarks, from a question's gold and what a system answered."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import ConfigError
from .hotpotqa_scores import Fact, hotpotqa_scores
from .musique_scores import MuSiQueGold, MuSiQuePrediction, musique_scores
from .records import Gold
from .twowiki_scores import Triple, twowiki_scores

OFFICIAL_DATASETS = ("hotpotqa", "2wikimultihopqa", "musique")


def official_scores(
    dataset: str,
    gold: Gold,
    answer: str,
    facts: Iterable[Fact] = (),
    support_ids: Iterable[str] = (),
    evidences: Iterable[Triple] = (),
) -> dict[str, float]:
    """Return the official metrics of one question under their official names, as unrounded fractions.

    The result is empty for a question without an annotated answer, and for an unanswerable one of MuSiQue-Full (its
    script averages over the others and scores the pairs).

    Args:
        dataset: one of :data:`OFFICIAL_DATASETS`.
        gold: what the data set annotates.
        answer: the predicted answer.
        facts: the predicted (title, sentence index) pairs; HotpotQA and 2WikiMultiHopQA.
        support_ids: the ids of the predicted supporting passages, those of the question's own context only, since the
            official format can name no other; MuSiQue.
        evidences: the predicted (subject, relation, object) triples; 2WikiMultiHopQA.

    Raises:
        ConfigError: if the data set has no official metrics here.
    """
    if dataset not in OFFICIAL_DATASETS:
        raise ConfigError(unknown_dataset(dataset))
    if not gold.answers or not gold.answerable:
        return {}
    if dataset == "hotpotqa":
        return hotpotqa_scores(answer, facts, gold.answers[0], gold.supporting_facts)
    if dataset == "2wikimultihopqa":
        triples = [(triple,) for triple in gold.evidences]
        return twowiki_scores(answer, facts, evidences, gold.answers[:1], gold.supporting_facts, triples)
    prediction = MuSiQuePrediction(answer, frozenset(support_ids))
    return musique_scores(prediction, MuSiQueGold(gold.answers, frozenset(gold.support_ids)))


def unknown_dataset(dataset: str) -> str:
    """Return the message for a data set that has no official metrics here."""
    return f"no official metrics for data set {dataset!r}; there are: {', '.join(OFFICIAL_DATASETS)}"
