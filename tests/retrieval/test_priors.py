"""Hits weighted by the type of their source."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Passage
from evidencegym.retrieval.base import Hit, Retriever
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.choose import RetrievalSettings, choose_retriever
from evidencegym.retrieval.encoder_settings import EncoderSettings
from evidencegym.retrieval.neighbours import Neighbourhood
from evidencegym.retrieval.prior_settings import DEFAULT, PUBLISHED, PriorSettings, spread
from evidencegym.retrieval.priors import PriorRetriever, with_priors
from evidencegym.retrieval.routed import RoutedRetriever
from evidencegym.retrieval.source_types import SourceTypes
from tests.small_world import passages, retriever

SETTINGS = PriorSettings(enabled=True)
QUERY = "director of the film The Amber Gate"
scores = st.lists(
    st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, 1.0 + 2**-52, 5e-324]), min_size=1, max_size=12
).map(lambda values: sorted(values, reverse=True))


class Listed(Retriever):
    """Finds the same passages for every query; the first of many are the best of few."""

    def __init__(self, hits: Sequence[tuple[str, float]], sources: Sequence[str] = ()) -> None:
        ordered = sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        named = [*sources, *[""] * len(hits)]
        self.hits = [Hit(Passage(n, n, ()), s, rank, named[rank]) for rank, (n, s) in enumerate(ordered)]
        self.asked: list[int] = []

    @property
    def fingerprint(self) -> str:
        return "listed"

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        self.asked.append(k)
        return [self.hits[:k] for _ in queries]

    def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
        return ()


def listed(values: Sequence[float]) -> Listed:
    return Listed([(f"{len(values) - place:02}", value) for place, value in enumerate(values)])


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.id for hit in hits]


@lru_cache(maxsize=1)
def hashed() -> SourceTypes:
    kinds = sorted(PUBLISHED)
    return SourceTypes({passage.id: kinds[int(passage.id, 16) % len(kinds)] for passage in passages().values()})


def test_the_score_is_similarity_times_prior_over_three_times_as_many_hits() -> None:
    base = {hit.passage.id: hit.score for hit in retriever().search([QUERY], 12)[0]}
    [hits] = PriorRetriever(retriever(), SETTINGS, hashed()).search([QUERY], 4)
    wanted = {key: score * PUBLISHED[hashed()[key]] for key, score in base.items()}
    assert [(hit.passage.id, hit.score) for hit in hits] == sorted(wanted.items(), key=lambda i: (-i[1], i[0]))[:4]
    assert [hit.source for hit in hits] == [hashed()[hit.passage.id] for hit in hits]
    assert [hit.rank for hit in hits] == [0, 1, 2, 3]


def test_three_times_as_many_hits_are_weighted() -> None:
    base = listed([9.0, 8.0, 7.9, 7.8])
    types = SourceTypes({key: "peer_reviewed" if key in ("02", "01") else "ai_generated" for key in ids(base.hits)})
    [hits] = PriorRetriever(base, SETTINGS, types).search(["?"], 1)
    assert ids(hits) == ["02"] and base.asked == [3]
    [hits] = PriorRetriever(base, replace(SETTINGS, expansion=1), types).search(["?"], 1)
    assert ids(hits) == ["04"]


@given(scores, st.floats(1e-300, 1), st.integers(1, 12), st.booleans(), st.booleans())
def test_one_prior_changes_no_order(values: list[float], prior: float, k: int, two: bool, smoothed: bool) -> None:
    """Neither scores that rounding ties, nor negative ones, nor two types of one prior."""
    base = listed(values)
    types = {key: "blog" if two and int(key) % 2 else "unknown" for key in ids(base.hits)}
    settings = PriorSettings(priors={"blog": prior, "unknown": prior}, eta=0.3 * smoothed, neighbours=3)
    [hits] = PriorRetriever(base, settings, SourceTypes(types)).search(["?"], k)
    [plain] = base.search(["?"], k)
    assert ids(hits) == ids(plain) and [hit.rank for hit in hits] == list(range(len(plain)))
    assert all(hit.score >= 0 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@given(scores, st.lists(st.sampled_from(sorted(PUBLISHED)), min_size=12, max_size=12), st.integers(1, 12))
def test_results_are_in_order_with_ties_by_id(values: list[float], kinds: list[str], k: int) -> None:
    base = listed(values)
    types = SourceTypes({key: kinds[int(key) - 1] for key in ids(base.hits)})
    [hits] = PriorRetriever(base, SETTINGS, types).search(["?"], k)
    if len({PUBLISHED[types[key]] for key in ids(base.hits[: 3 * k])}) > 1:
        keys = [(-hit.score, hit.passage.id) for hit in hits]
        assert keys == sorted(keys)
    assert len(set(ids(hits))) == len(hits) == min(k, len(values))
    assert all(hit.score >= 0 for hit in hits)


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=9), st.integers(0, 7))
def test_a_common_factor_of_the_priors_changes_no_order(values: list[int], power: int) -> None:
    base = listed(sorted(map(float, values), reverse=True))
    kinds = sorted(PUBLISHED)
    types = SourceTypes({key: kinds[int(key) % len(kinds)] for key in ids(base.hits)})
    halved = replace(SETTINGS, priors={kind: prior * 0.5**power for kind, prior in PUBLISHED.items()})
    found = [PriorRetriever(base, own, types).search(["?"], 3)[0] for own in (SETTINGS, halved)]
    assert ids(found[0]) == ids(found[1])


def test_negative_similarities_are_shifted_not_clipped() -> None:
    base = listed([0.5, -0.25, -0.5])
    types = SourceTypes({"03": "ai_generated", "02": "peer_reviewed", "01": "peer_reviewed"})
    [hits] = PriorRetriever(base, SETTINGS, types).search(["?"], 3)
    assert [(hit.passage.id, hit.score) for hit in hits] == [("03", 0.3), ("02", 0.25 * 0.95), ("01", 0.0)]


def test_a_type_is_the_known_one_else_the_stated_one_else_the_default() -> None:
    base = Listed([("a", 3.0), ("b", 2.0), ("c", 1.0), ("d", 0.5)], ["blog", "wikipedia", "", "mine"])
    [hits] = PriorRetriever(base, SETTINGS, SourceTypes({"a": "government"}, "user_generated")).search(["?"], 4)
    assert {hit.passage.id: hit.source for hit in hits} == {
        "a": "government",
        "b": "wikipedia",
        "c": "user_generated",
        "d": "mine",
    }
    assert next(hit.score for hit in hits if hit.passage.id == "d") == 0.5 * PUBLISHED["unknown"]


def test_smoothing_draws_a_prior_to_the_mean_of_its_neighbours() -> None:
    settings = replace(SETTINGS, eta=0.25, neighbours=2)
    [hits] = PriorRetriever(retriever(), settings, hashed()).search([QUERY], 30)
    base = {hit.passage.id: hit.score for hit in retriever().search([QUERY], 90)[0]}
    for hit in hits:
        text = f"{hit.passage.title} {hit.passage.text}"
        near = [n for n in ids(retriever().search([text], 3)[0]) if n != hit.passage.id][:2]
        mean = sum(Fraction(PUBLISHED[hashed()[n]]) for n in near) / len(near)
        prior = Fraction(3, 4) * Fraction(PUBLISHED[hashed()[hit.passage.id]]) + Fraction(1, 4) * mean
        assert hit.score == pytest.approx(base[hit.passage.id] * float(prior), rel=1e-12)


def test_a_passage_is_no_neighbour_of_its_own_and_neighbours_are_kept() -> None:
    base = listed([3.0, 2.0, 1.0])
    near = Neighbourhood(base, 2)
    own = [hit.passage for hit in base.hits]
    found = near.of([*own, own[0]], [""] * 4)
    assert [[one.id for one in others] for others in found] == [["02", "01"], ["03", "01"], ["03", "02"], ["02", "01"]]
    assert near.of(own, [""] * 3) == found[:3] and len(base.asked) == 1
    near.of(own[:1], ["other pool"])
    assert len(base.asked) == 2


def test_every_setting_and_type_is_in_the_fingerprint() -> None:
    base = retriever()
    varied = {
        "plain": PriorRetriever(base, SETTINGS, hashed()),
        "priors": PriorRetriever(base, replace(SETTINGS, priors={**DEFAULT, "blog": 0.51}), hashed()),
        "expansion": PriorRetriever(base, replace(SETTINGS, expansion=4), hashed()),
        "eta": PriorRetriever(base, replace(SETTINGS, eta=0.1), hashed()),
        "neighbours": PriorRetriever(base, replace(SETTINGS, eta=0.1, neighbours=6), hashed()),
        "found otherwise": PriorRetriever(base, replace(SETTINGS, eta=0.1), hashed(), Neighbourhood(listed([1.0]), 5)),
        "default": PriorRetriever(base, SETTINGS, SourceTypes(hashed(), "blog")),
        "stated": PriorRetriever(base, replace(SETTINGS, default="blog"), hashed()),
        "types": PriorRetriever(base, SETTINGS, SourceTypes({**hashed(), next(iter(hashed())): "wikipedia"})),
        "base": PriorRetriever(listed([1.0]), SETTINGS, hashed()),
    }
    assert len({own.fingerprint for own in varied.values()} | {base.fingerprint}) == len(varied) + 1
    whole = replace(SETTINGS, priors=dict.fromkeys(DEFAULT, 1))
    assert whole.fingerprint == replace(SETTINGS, priors=dict.fromkeys(DEFAULT, 1.0)).fingerprint


def test_both_kinds_of_search_are_weighted() -> None:
    other = BM25Retriever.build(retriever().passages, k1=0.1)
    weighted = PriorRetriever(RoutedRetriever(retriever(), other), SETTINGS, hashed())
    for targeted, base in ((False, retriever()), (True, other)):
        own = weighted.serving(targeted)
        assert own.search([QUERY], 4) == PriorRetriever(base, SETTINGS, hashed()).search([QUERY], 4)
    assert weighted.serving(True) is weighted.serving(True)
    plain = PriorRetriever(retriever(), SETTINGS, hashed())
    assert plain.serving(False) is plain and plain.serving(True) is plain


def test_types_without_a_prior_are_refused() -> None:
    with pytest.raises(ConfigError, match="no prior for the source types gossip"):
        PriorRetriever(retriever(), SETTINGS, SourceTypes({"a": "gossip"}))
    with pytest.raises(ConfigError, match="gossip"):
        PriorRetriever(retriever(), SETTINGS, SourceTypes({}, "gossip"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"priors": {"unknown": 0.0}},
        {"priors": {"unknown": 1.5}},
        {"priors": {"unknown": float("nan")}},
        {"priors": {"blog": 0.5}},
        {"default": "gossip"},
        {"expansion": 0},
        {"neighbours": 0},
        {"eta": -0.1},
        {"eta": float("nan")},
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="priors"):
        PriorSettings(**wrong)


def test_spreads_keep_the_order_of_the_priors() -> None:
    for power in (0.5, 2.0):
        drawn = spread(PUBLISHED, power)
        assert sorted(drawn, key=drawn.__getitem__) == sorted(PUBLISHED, key=PUBLISHED.__getitem__)
        PriorSettings(priors=drawn)
    assert spread(PUBLISHED, 1.0) == dict(PUBLISHED)
    with pytest.raises(ConfigError):
        spread(PUBLISHED, 0.0)


def test_settings_that_are_off_are_nowhere_to_be_seen() -> None:
    plain = RetrievalSettings()
    assert set(plain.source()) == {"frontier", "targeted", "fusion", "dense_weight", "dense"}
    assert choose_retriever(retriever(), plain, EncoderSettings()) is retriever()
    assert RetrievalSettings.of(plain.source()) == plain
    wanted = RetrievalSettings(priors=replace(SETTINGS, eta=0.2))
    assert RetrievalSettings.of(wanted.source()) == wanted


def test_the_code_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "source_priors.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^( *)```python\n(.*?)^ *```", page, re.DOTALL | re.MULTILINE)
    code = "\n".join(textwrap.dedent(block) for _, block in blocks)
    exec(compile(code, "docs/source_priors.md", "exec"), {"__name__": "__main__"})
    first, second, learned = capsys.readouterr().out.splitlines()
    assert "government" in first and "Ada Crewe" in first and "Jon Sand" in second and "ai_generated" in learned
    rows = {
        kind: float(f"0{prior}")
        for kinds, prior in re.findall(r"^\| (`.*`) \| (\.\d+) \|", page, re.MULTILINE)
        for kind in re.findall(r"`(\w+)`", kinds)
    }
    assert rows == dict(DEFAULT)


def test_settings_that_are_on_need_types() -> None:
    wanted = RetrievalSettings(priors=SETTINGS)
    with pytest.raises(ConfigError, match="source types"):
        choose_retriever(retriever(), wanted, EncoderSettings())
    made = choose_retriever(retriever(), wanted, EncoderSettings(), types=hashed())
    assert made.search([QUERY], 3) == PriorRetriever(retriever(), SETTINGS, hashed()).search([QUERY], 3)
    assert with_priors(retriever(), PriorSettings(), None) is retriever()
