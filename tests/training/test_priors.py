"""Priors learned from training questions."""

from collections.abc import Sequence
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.adversarial import MISLEADING, Injection, inject
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Passage, Record
from evidencegym.data.world import World
from evidencegym.retrieval.base import Hit
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.prior_settings import PUBLISHED, PriorSettings
from evidencegym.retrieval.source_types import SourceTypes
from evidencegym.training.priors import HIGH, LOW, learn_priors, updated

WORLD = World(600, 3)
FLAT = PriorSettings(priors=dict.fromkeys(PUBLISHED, 0.5))


@lru_cache(maxsize=1)
def records() -> list[Record]:
    return list(WORLD.questions(60))


@lru_cache(maxsize=1)
def injection() -> Injection:
    return inject(WORLD.passages(), records(), 0)


@lru_cache(maxsize=1)
def bm25() -> BM25Retriever:
    return BM25Retriever.build(injection().passages)


def learned(own: Sequence[Record], settings: PriorSettings = FLAT, rate: float = 0.05) -> dict[str, float]:
    return learn_priors(bm25(), SourceTypes(injection().types), own, settings, rate).priors


def hit(name: str, source: str) -> Hit:
    return Hit(Passage(name, name, ()), 1.0, 0, source)


def test_one_question_moves_each_type_that_it_met_towards_its_share_of_gold() -> None:
    met = [hit("a", "blog"), hit("b", "blog"), hit("c", "government"), hit("d", "gossip")]
    found = updated(PriorSettings(), met, {"a", "d"}, 0.1)
    assert found == pytest.approx(PriorSettings().priors | {"government": 0.81, "unknown": 0.415})
    assert updated(PriorSettings(), met, {"a", "b"}, 0.1)["blog"] == pytest.approx(0.55)


@given(st.lists(st.tuples(st.sampled_from(sorted(PUBLISHED)), st.booleans()), max_size=60), st.floats(0.01, 1))
def test_learned_priors_stay_within_their_bounds(met: list[tuple[str, bool]], rate: float) -> None:
    settings = PriorSettings()
    for kind, right in met:
        settings = PriorSettings(priors=updated(settings, [hit("a", kind)], {"a"} if right else set(), rate))
    seen = {kind for kind, _ in met}
    assert all(LOW <= settings.priors[kind] <= HIGH for kind in seen)
    assert all(settings.priors[kind] == PriorSettings().priors[kind] for kind in settings.priors if kind not in seen)


def test_types_that_mislead_end_below_the_others() -> None:
    found = learned(records())
    trusted = ("government", "established_news", "organization_report")
    assert max(found[kind] for kind in MISLEADING) < min(found[kind] for kind in trusted)


def test_the_order_in_which_questions_are_given_does_not_matter() -> None:
    assert learned(records()) == learned(records()[::-1])


def test_questions_without_gold_teach_nothing() -> None:
    assert learned([Record(record.question, None, record.context) for record in records()]) == FLAT.priors
    assert learned([]) == FLAT.priors


def test_the_other_settings_stay_as_they_are() -> None:
    settings = PriorSettings(True, dict(PUBLISHED), "blog", 2, 0.3, 4)
    found = learn_priors(bm25(), SourceTypes(injection().types), records()[:5], settings)
    assert (found.enabled, found.default, found.expansion, found.eta, found.neighbours) == (True, "blog", 2, 0.3, 4)
    assert found.priors != settings.priors and settings.priors == PUBLISHED


@pytest.mark.parametrize("rate", [0.0, 1.5, float("nan")])
def test_rates_out_of_range_are_refused(rate: float) -> None:
    with pytest.raises(ConfigError, match="rate"):
        learned(records(), rate=rate)
