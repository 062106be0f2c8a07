"""2WikiMultiHopQA's official metrics for one question, as ``2wikimultihop_evaluate_v1.1.py`` defines them.

That script prints percentages rounded to two decimals; these are fractions, unrounded.
"""

from __future__ import annotations

import string
from collections.abc import Collection, Iterable, Sequence

from .agreement import Agreement, f1_of, joint_agreement
from .answer_scores import answer_agreement
from .hotpotqa_scores import Fact

Triple = tuple[str, ...]

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def twowiki_scores(
    answer: str | None,
    facts: Iterable[Fact] | None,
    evidences: Iterable[Triple] | None,
    gold_answers: Collection[str],
    gold_facts: Iterable[Fact],
    gold_evidences: Sequence[Collection[Triple]],
) -> dict[str, float]:
    """Return the sixteen metrics: ``em f1 prec recall``, then with ``sp_``, with ``evi_`` and with ``joint_``.

    All lie in [0, 1] but ``evi_recall`` and what follows from it, which the official script lets exceed 1 where two
    predicted triples match one annotated triple through aliases.

    Args:
        answer: the predicted answer; None where it is missing, which scores 0 (and 0 jointly). Likewise the others.
        facts: the predicted (title, sentence index) pairs; the case of titles is ignored.
        evidences: the predicted (subject, relation, object) triples, compared without case and punctuation.
        gold_answers: the reference and its aliases; each metric is the best over them.
        gold_facts: the annotated pairs.
        gold_evidences: for each annotated triple, its phrasings (one, or several where aliases are known).
    """
    parts = (
        Agreement() if answer is None else _best_agreement(answer, gold_answers),
        Agreement() if facts is None else _fact_agreement(frozenset(facts), frozenset(gold_facts)),
        Agreement() if evidences is None else _evidence_agreement(evidences, gold_evidences),
    )
    named = [part.named(prefix) for part, prefix in zip(parts, ("", "sp_", "evi_"))]
    return {**named[0], **named[1], **named[2], **joint_agreement(parts).named("joint_")}


def _best_agreement(answer: str, gold_answers: Collection[str]) -> Agreement:
    agreements = [answer_agreement(answer, gold) for gold in gold_answers]
    return Agreement(*(max(values) for values in zip(*agreements)))


def _fact_agreement(facts: frozenset[Fact], gold_facts: frozenset[Fact]) -> Agreement:
    """Compare after lower-casing the titles; facts that differ only in case still count as two, as in the script."""
    found = [(title.lower(), sentence) for title, sentence in facts]
    wanted = [(title.lower(), sentence) for title, sentence in gold_facts]
    right = sum(fact in wanted for fact in found)
    reached = sum(fact in found for fact in wanted)
    prec = right / len(found) if found else 0.0
    recall = right / (right + len(wanted) - reached) if right + len(wanted) - reached else 0.0
    em = float(right == len(found) and reached == len(wanted))
    return Agreement(em, f1_of(prec, recall), prec, recall)


def _evidence_agreement(evidences: Iterable[Triple], gold_evidences: Sequence[Collection[Triple]]) -> Agreement:
    found = {_normalise_triple(triple) for triple in evidences}
    wanted = [{_normalise_triple(triple) for triple in phrasings} for phrasings in gold_evidences]
    right = sum(any(triple in phrasings for phrasings in wanted) for triple in found)
    prec = right / len(found) if found else 0.0
    recall = right / len(wanted) if wanted else 0.0
    em = float(right == len(found) == len(wanted))
    return Agreement(em, f1_of(prec, recall), prec, recall)


def _normalise_triple(triple: Triple) -> Triple:
    return tuple(" ".join(part.lower().translate(_NO_PUNCTUATION).split()) for part in triple)
