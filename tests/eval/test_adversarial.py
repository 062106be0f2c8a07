"""Scores against misleading passages, and priors that bear them."""

from collections.abc import Sequence
from functools import lru_cache
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from evidencegym.data.adversarial import Injection, genuine_type, inject
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Passage, Record
from evidencegym.data.world import World
from evidencegym.eval.adversarial import (
    ANSWERS,
    METRICS,
    Difference,
    answered,
    best_hits,
    differences,
    hit_scores,
    measured,
)
from evidencegym.eval.statistics import paired_difference, permutation_p
from evidencegym.generation.tasks import Answer, AnswerTask, Failed
from evidencegym.retrieval.base import Hit
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.prior_settings import PriorSettings
from evidencegym.retrieval.priors import PriorRetriever
from evidencegym.retrieval.source_types import SourceTypes
from tests.fakes import OverlapGenerator

WORLD = World(800, 5)


@lru_cache(maxsize=1)
def records() -> list[Record]:
    return list(WORLD.questions(40, "dev"))


@lru_cache(maxsize=1)
def injection() -> Injection:
    return inject(WORLD.passages(), records(), 0, copies=4)


@lru_cache(maxsize=1)
def bm25() -> BM25Retriever:
    return BM25Retriever.build(injection().passages)


def hits(names: Sequence[str]) -> list[Hit]:
    return [Hit(Passage(name, name, ()), 9.0 - rank, rank) for rank, name in enumerate(names)]


def test_a_ranking_is_scored_by_hand() -> None:
    found = hit_scores(hits("xgahb"), {"g", "h"}, {"a", "x"})
    assert found == pytest.approx((0.4, (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3)), 0.5, 0.4))
    assert hit_scores(hits("xabcdg"), {"g"}, {"d"}) == (0.0, 0.0, 0.0, 0.2)
    assert hit_scores([], {"g"}, set()) == (0.0, 0.0, 0.0, 0.0)
    with pytest.raises(ConfigError, match="at least one gold"):
        hit_scores(hits("ab"), set(), set())


@given(st.permutations("abcdefgh"), st.sets(st.sampled_from("abcdefgh"), min_size=1), st.sets(st.sampled_from("abcd")))
def test_ndcg_is_that_of_scikit_learn_and_all_lie_between_0_and_1(
    names: list[str], gold: set[str], adversarial: set[str]
) -> None:
    found = hit_scores(hits(names), gold, adversarial)
    relevance = np.array([[float(name in gold) for name in names]])
    assert found[1] == pytest.approx(ndcg_score(relevance, -np.arange(8.0)[None], k=5))
    assert all(0 <= value <= 1 for value in found)
    assert found[0] == len(gold & set(names[:5])) / 5 and found[3] == len(adversarial & set(names[:5])) / 5


def test_differences_are_those_of_the_paired_tests() -> None:
    random = np.random.default_rng(0)
    base, one, two = (random.integers(0, 6, (30, 4)) / 5 for _ in range(3))
    found = differences(base, {"one": one, "two": two}, METRICS, seed=4)
    for name, values in (("one", one), ("two", two)):
        for place, metric in enumerate(METRICS):
            own = found[name][metric]
            assert own.difference == pytest.approx(paired_difference(values[:, place], base[:, place], 4))
            assert own.p == pytest.approx(permutation_p(values[:, place], base[:, place], 4))
            assert own.more == (values[:, place] > base[:, place]).sum()
            assert own.less == (values[:, place] < base[:, place]).sum()
            assert (own.reference, own.system) == pytest.approx((base[:, place].mean(), values[:, place].mean()))
            assert own.p <= own.adjusted <= 1
    assert differences(base, {}) == {}
    with pytest.raises(ConfigError, match="two"):
        differences(base, {"one": one, "two": two[1:]})


def under_priors(types: SourceTypes) -> dict[str, Difference]:
    """Return what priors change in each metric."""
    plain = measured(best_hits(bm25(), records()), records(), injection())
    found = best_hits(PriorRetriever(bm25(), PriorSettings(), types), records())
    return differences(plain, {"priors": measured(found, records(), injection())})["priors"]


def test_priors_raise_precision_and_lower_the_adversarial_rate() -> None:
    found = under_priors(SourceTypes(injection().types))
    for metric in ("precision", "ndcg", "mrr"):
        assert found[metric].difference.low > 0
    assert found["adversarial"].difference.high < 0


def test_priors_hardly_help_where_types_say_nothing() -> None:
    told = under_priors(SourceTypes(injection().types))
    blind = under_priors(SourceTypes({p.id: genuine_type(p.id, 0, 0.5) for p in injection().passages}))
    assert blind["precision"].difference.low <= 0
    assert blind["adversarial"].difference.mean > told["adversarial"].difference.mean / 3


def test_one_type_changes_no_figure() -> None:
    types = SourceTypes({passage.id: "blog" for passage in injection().passages})
    plain = best_hits(bm25(), records())
    same = best_hits(PriorRetriever(bm25(), PriorSettings(), types), records())
    values = [measured(found, records(), injection()) for found in (plain, same)]
    assert np.array_equal(*values)
    found = differences(values[0], {"one type": values[1]})["one type"]
    assert all(own.more == own.less == 0 and own.p == 1 for own in found.values())


class Told(OverlapGenerator):
    """Gives prepared answers, in order; None for a failure."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        super().__init__()
        self.texts = texts
        self.read: list[int] = []

    def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer | Failed]:  # type: ignore[override]
        self.read += [len(task.passages) for task in tasks]
        return [Failed("no answer") if text is None else Answer(text) for text in self.texts]


def test_answers_are_scored_and_false_ones_that_were_planted_are_counted() -> None:
    asked = [record for record in records() if record.gold and record.gold.answerable][:4]
    true = [record.gold.answers[0] if record.gold else "" for record in asked]
    texts = [true[0], injection().planted[asked[1].uid][-1], "something else", None]
    generator = Told(texts)
    found = answered(best_hits(bm25(), asked), asked, injection(), generator)
    assert found[:, ANSWERS.index("em")].tolist() == [1, 0, 0, 0]
    assert found[:, ANSWERS.index("misled")].tolist() == [0, 1, 0, 0]
    assert found[0, ANSWERS.index("f1")] == 1 and generator.read == [5] * 4
