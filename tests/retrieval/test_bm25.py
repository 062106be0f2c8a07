"""BM25 over one corpus."""

import math
import pickle
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencegym.data.errors import ConfigError, DataError
from evidencegym.data.records import Passage
from evidencegym.retrieval.base import Hit
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.tokens import terms

_WORDS = ("river", "film", "king", "song", "city", "the")
_texts = st.lists(st.sampled_from(_WORDS), max_size=8).map(" ".join)
_passages = st.builds(lambda title, text: Passage.of(title, [text]), _texts, _texts)
_corpora = st.lists(_passages, min_size=1, max_size=12)


def _corpus(size: int, seed: int = 0) -> list[Passage]:
    choose = random.Random(seed)
    return [
        Passage.of(" ".join(choose.choices(_WORDS, k=2)), [" ".join(choose.choices(_WORDS, k=9))]) for _ in range(size)
    ]


def _plain(hits: list[Hit]) -> list[tuple[str, float, int]]:
    return [(hit.passage.id, hit.score, hit.rank) for hit in hits]


def _documents(passages: Sequence[Passage], title_weight: int) -> dict[str, list[str]]:
    return {p.id: terms(p.title) * title_weight + terms(p.text) for p in sorted(passages, key=lambda p: p.id)}


def _by_hand(
    passages: Sequence[Passage], query: str, k: int, k1: float, b: float, title_weight: int
) -> list[tuple[str, float, int]]:
    """BM25 as it is written in textbooks, with the roundings of a float32 index."""
    documents = _documents(passages, title_weight)
    mean = sum(map(len, documents.values())) / len(documents)
    holding = Counter(word for words in documents.values() for word in set(words))
    scores = {}
    for key, words in documents.items():
        score = np.float32(0)
        for word in terms(query):
            tf, df = words.count(word), holding[word]
            if tf:
                idf = float(np.float32(math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))))
                score += np.float32(idf * (tf / (k1 * ((1 - b) + b * len(words) / mean) + tf)))
        scores[key] = float(score)
    found = sorted((-score, key) for key, score in scores.items() if score > 0)[:k]
    return [(key, -score, rank) for rank, (score, key) in enumerate(found)]


@settings(max_examples=150, deadline=None)
@given(
    _corpora, _texts, st.integers(1, 14), st.sampled_from([(0.9, 0.6, 2), (1.5, 0.75, 1), (0.0, 0.0, 0), (2.0, 1.0, 3)])
)
def test_equals_a_textbook_bm25(
    corpus: list[Passage], query: str, k: int, parameters: tuple[float, float, int]
) -> None:
    found = BM25Retriever.build(corpus, *parameters).search([query], k)[0]
    assert _plain(found) == _by_hand(corpus, query, k, *parameters)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_equals_bm25s_up_to_ties(backend: str) -> None:
    corpus = _corpus(400)
    retriever = BM25Retriever.build(corpus)
    documents = _documents(corpus, 2)
    ids, size = list(documents), len(documents)
    oracle = bm25s.BM25(k1=0.9, b=0.6, backend=backend)
    oracle.index(list(documents.values()), show_progress=False)
    for query in ("king", "river song", "film city film river", "song king city"):
        numbers, scores = oracle.retrieve([terms(query)], k=size, show_progress=False)
        expected = sorted((-float(score), ids[number]) for number, score in zip(numbers[0], scores[0]) if score > 0)
        for k in (1, 7, size):
            found = retriever.search([query], k)[0]
            assert [(-hit.score, hit.passage.id) for hit in found] == expected[:k]


@settings(max_examples=60, deadline=None)
@given(_corpora, _texts, st.randoms(use_true_random=False))
def test_order_of_the_passages_does_not_matter(corpus: list[Passage], query: str, choose: random.Random) -> None:
    shuffled = choose.sample(corpus, len(corpus)) + corpus[:2]
    one, other = BM25Retriever.build(corpus), BM25Retriever.build(shuffled)
    assert one.fingerprint == other.fingerprint
    assert one.search([query], 20) == other.search([query], 20)
    assert list(one.passages) == list(other.passages) == sorted(set(corpus), key=lambda p: p.id)


@settings(max_examples=60, deadline=None)
@given(_corpora, _texts)
def test_fewer_hits_are_the_first_of_more(corpus: list[Passage], query: str) -> None:
    retriever = BM25Retriever.build(corpus)
    results = [retriever.search([query], k)[0] for k in range(1, len(corpus) + 3)]
    for fewer, more in pairwise(results):
        assert more[: len(fewer)] == fewer
        assert len(more) - len(fewer) in (0, 1)
    words = set(terms(query))
    assert {hit.passage for hit in results[-1]} == {p for p in corpus if words & {*terms(p.title), *terms(p.text)}}


@settings(max_examples=60, deadline=None)
@given(_corpora, st.lists(_texts, max_size=6), st.integers(1, 5))
def test_a_batch_is_its_queries_one_by_one(corpus: list[Passage], queries: list[str], k: int) -> None:
    retriever = BM25Retriever.build(corpus)
    assert retriever.search(queries, k) == [retriever.search([query], k)[0] for query in queries]


def test_ties_are_broken_by_id_at_every_rank() -> None:
    corpus = [Passage.of(f"Item {i}", ["A red stone."]) for i in range(50)]
    ids = sorted(passage.id for passage in corpus)
    retriever = BM25Retriever.build(corpus)
    for k in (1, 3, 49, 50, 51):
        hits = retriever.search(["stone"], k)[0]
        assert [hit.passage.id for hit in hits] == ids[:k]
        assert [hit.rank for hit in hits] == list(range(min(k, 50)))
        assert len({hit.score for hit in hits}) == 1


def test_of_equal_ids_the_one_with_more_sentences_is_kept() -> None:
    coarse, fine = Passage.of("T", ["One. Two."]), Passage.of("T", ["One.", "Two."])
    assert coarse.id == fine.id
    for corpus in ([coarse, fine], [fine, coarse]):
        hits = BM25Retriever.build(corpus).search(["two"], 5)[0]
        assert [hit.passage.sentences for hit in hits] == [("One.", "Two.")]


def test_queries_that_find_nothing() -> None:
    retriever = BM25Retriever.build(_corpus(20))
    assert retriever.search(["", "   ", "the of", "xyzzy", "?!"], 3) == [[], [], [], [], []]
    assert retriever.search([], 3) == []


def test_a_query_of_ten_thousand_words() -> None:
    corpus = _corpus(40)
    query = " ".join(random.Random(1).choices((*_WORDS, "xyzzy"), k=10_000))
    hits = BM25Retriever.build(corpus).search([query], 5)[0]
    assert _plain(hits) == _by_hand(corpus, query, 5, 0.9, 0.6, 2)


def test_an_empty_corpus_is_refused() -> None:
    with pytest.raises(DataError, match="empty"):
        BM25Retriever.build([])


def test_a_corpus_without_a_single_term_finds_nothing() -> None:
    retriever = BM25Retriever.build([Passage.of("The", ["of and"]), Passage.of("", [])])
    assert retriever.search(["the king"], 3) == [[]]
    assert [passage.title for passage in retriever.titled("the")] == ["The"]


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None])
def test_k_must_be_a_positive_whole_number(k: object) -> None:
    with pytest.raises(ConfigError, match="k must be"):
        BM25Retriever.build(_corpus(5)).search(["king"], k)  # type: ignore[arg-type]


def test_one_text_is_not_a_sequence_of_queries() -> None:
    with pytest.raises(ConfigError, match="list"):
        BM25Retriever.build(_corpus(5)).search("king", 3)


@pytest.mark.parametrize(
    "parameters",
    [{"k1": -0.1}, {"k1": math.inf}, {"k1": math.nan}, {"b": -0.1}, {"b": 1.1}, {"b": math.nan}, {"title_weight": -1}],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(parameters))):
        BM25Retriever.build(_corpus(5), **parameters)  # type: ignore[arg-type]


def test_fingerprint_follows_whatever_can_change_a_result() -> None:
    corpus = _corpus(5)
    split = [Passage(p.id, p.title, tuple(p.text.split(" ", 1))) for p in corpus]
    variants = [
        BM25Retriever.build(corpus),
        BM25Retriever.build(corpus, k1=1.0),
        BM25Retriever.build(corpus, b=0.5),
        BM25Retriever.build(corpus, title_weight=1),
        BM25Retriever.build(corpus[1:]),
        BM25Retriever.build([*corpus, Passage.of("New", ["one"])]),
        BM25Retriever.build(split),
    ]
    assert len({variant.fingerprint for variant in variants}) == len(variants)
    assert variants[0].fingerprint == BM25Retriever.build(corpus[::-1]).fingerprint


def test_titled_ignores_case_and_spaces_and_orders_by_id() -> None:
    corpus = [Passage.of(title, [text]) for text in "abcdefg" for title in ("The Who", "the  WHO ", "Who", "Straße")]
    retriever = BM25Retriever.build(corpus)
    found = retriever.titled(" THE who")
    assert [p.id for p in found] == sorted(p.id for p in corpus if p.title.lower().startswith("the"))
    assert len(found) == 14
    assert len(retriever.titled("STRASSE")) == 7
    assert retriever.titled("The Wh") == ()
    assert retriever.titled("") == ()


def test_title_terms_weigh_more() -> None:
    corpus = [Passage.of("Stone", ["A red river runs here."]), Passage.of("River", ["A red stone lies here."])]
    assert BM25Retriever.build(corpus).search(["stone"], 2)[0][0].passage.title == "Stone"


def test_survives_pickling() -> None:
    retriever = BM25Retriever.build(_corpus(30))
    copy = pickle.loads(pickle.dumps(retriever))
    assert copy.search(["king song"], 9) == retriever.search(["king song"], 9)
    assert copy.fingerprint == retriever.fingerprint
