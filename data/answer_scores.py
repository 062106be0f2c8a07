"""Scores of an answer against its references: exact match and token F1 over normalised words."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from .agreement import Agreement

_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_VERDICTS = frozenset({"yes", "no", "noanswer"})


def normalise_answer(text: str) -> str:
    """Lower-case, drop ASCII punctuation, drop the articles a, an and the, collapse white space, in this order.

    The official scripts of HotpotQA, 2WikiMultiHopQA and MuSiQue all share this rule.
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """Return 1.0 if the normalised prediction equals a normalised reference, else 0.0.

    Without references the right answer is none at all: 1.0 for a prediction that normalises to nothing, else 0.0.
    """
    found = normalise_answer(prediction)
    return float(any(found == normalise_answer(answer) for answer in answers or ("",)))


def token_f1(prediction: str, answers: Sequence[str]) -> float:
    """Return the F1 in [0, 1] over normalised words, the best over the references; rewards and our tables use it.

    It is HotpotQA's F1 (yes, no and noanswer agree with nothing but themselves) with MuSiQue's rule for empty texts:
    two texts that normalise to nothing agree, so that an exact match always has an F1 of 1. Without references the
    right answer is none at all, as in :func:`exact_match`.
    """
    return max(_token_f1(prediction, answer) for answer in answers or ("",))


def _token_f1(prediction: str, answer: str) -> float:
    agreement = answer_agreement(prediction, answer)
    return max(agreement.f1, agreement.em)


def answer_agreement(prediction: str, answer: str) -> Agreement:
    """Compare an answer with one reference as HotpotQA's and 2WikiMultiHopQA's scripts do.

    A yes, no or noanswer on either side scores nothing unless both sides are equal. Two empty texts match exactly,
    with an F1 of 0 (as in ``hotpot_evaluate_v1.py``).
    """
    found, wanted = normalise_answer(prediction), normalise_answer(answer)
    if found != wanted and (found in _VERDICTS or wanted in _VERDICTS):
        return Agreement()
    return Agreement(float(found == wanted), *word_overlap(found.split(), wanted.split()))


def word_overlap(found: Sequence[str], wanted: Sequence[str]) -> tuple[float, float, float]:
    """Return F1, precision and recall between two multisets of words, all 0 where they share none."""
    shared = sum((Counter(found) & Counter(wanted)).values())
    if shared == 0:
        return 0.0, 0.0, 0.0
    prec, recall = shared / len(found), shared / len(wanted)
    return 2 * prec * recall / (prec + recall), prec, recall
