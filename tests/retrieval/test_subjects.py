"""Passages about a name, and how rare a term is: what rankers ask of a corpus."""

from math import log
from pathlib import Path

import pytest

from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Passage
from evidencegym.retrieval.base import Hit, Retriever
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.context import ContextRetriever

MADE = [
    Passage.of("Oslo", ("Oslo is a capital.",)),
    Passage.of("OSLO  (film)", ("A film.",)),
    Passage.of("Oslo (film) (1931)", ("An older film.",)),
    Passage.of("Oslo(ship)", ("A ship.",)),
    Passage.of("Greater Oslo", ("A region around Oslo.",)),
    Passage.of("Straße (road)", ("A road.",)),
    Passage.of("(What's the Story)", ("An album.",)),
    Passage.of("", ("No title.",)),
    Passage.of("The Amber Trio (band)", ("A band.",)),
    Passage.of("Amber Trio", ("Three gems.",)),
    Passage.of("The", ("An article.",)),
]
BUILT = BM25Retriever.build(MADE)


@pytest.fixture(params=["built", "mapped", "read", "context"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Retriever, str]:
    """Return the same corpus behind each retriever, with the pool to name."""
    if request.param == "context":
        return ContextRetriever({"own": MADE, "other": MADE[:1], "none": []}), "own"
    if request.param == "built":
        return BUILT, ""
    BUILT.save(tmp_path / "index")
    return BM25Retriever.load(tmp_path / "index", mmap=request.param == "mapped"), ""


def titles(found: tuple[Passage, ...]) -> set[str]:
    return {passage.title for passage in found}


def test_brackets_case_and_spaces_do_not_matter_to_what_a_passage_is_about(corpus: tuple[Retriever, str]) -> None:
    retriever, pool = corpus
    about = {"Oslo", "OSLO  (film)", "Oslo (film) (1931)"}
    assert titles(retriever.about("oslo", pool)) == titles(retriever.about(" OSLO ", pool)) == about
    assert titles(retriever.about("STRASSE", pool)) == {"Straße (road)"}
    assert titles(retriever.about("(what's the story)", pool)) == {"(What's the Story)"}
    assert titles(retriever.about("", pool)) == {""}
    for name in ("Oslo (film)", "film", "Osl", "Oslo is", "nobody"):
        assert retriever.about(name, pool) == ()


def test_passages_about_a_name_are_ordered_by_id(corpus: tuple[Retriever, str]) -> None:
    retriever, pool = corpus
    ids = [passage.id for passage in retriever.about("Oslo", pool)]
    assert ids == sorted(ids) and len(ids) == 3


def test_a_leading_article_does_not_matter_to_what_a_passage_is_about(corpus: tuple[Retriever, str]) -> None:
    retriever, pool = corpus
    for name in ("Amber Trio", "the amber trio", "The Amber Trio"):
        assert titles(retriever.about(name, pool)) == {"The Amber Trio (band)", "Amber Trio"}
    assert titles(retriever.about("The", pool)) == {"The"}
    assert titles(retriever.titled("Amber Trio", pool)) == {"Amber Trio"}


def test_titles_are_still_found_as_they_are_written(corpus: tuple[Retriever, str]) -> None:
    retriever, pool = corpus
    assert titles(retriever.titled("oslo (FILM)", pool)) == {"OSLO  (film)"}
    assert titles(retriever.titled("oslo", pool)) == {"Oslo"}


def test_rarity_is_the_inverse_document_frequency_over_that_of_an_unknown_term(corpus: tuple[Retriever, str]) -> None:
    retriever, pool = corpus

    def idf(frequency: int) -> float:
        return log(1 + (len(MADE) - frequency + 0.5) / (frequency + 0.5))

    holding = {"oslo": 5, "film": 2, "capital": 1, "xyzzy": 0, "": 0, "the": 0}
    for term, frequency in holding.items():
        assert retriever.rarity(term, pool) == pytest.approx(idf(frequency) / idf(0), abs=1e-12)
    assert 0 < retriever.rarity("oslo", pool) < retriever.rarity("capital", pool) < retriever.rarity("xyzzy", pool) == 1


def test_contexts_know_their_own_passages_alone() -> None:
    retriever = ContextRetriever({"own": MADE, "other": MADE[:1], "none": []})
    assert titles(retriever.about("oslo", "other")) == {"Oslo"}
    assert retriever.about("oslo", "none") == () and retriever.rarity("oslo", "none") == 1.0
    assert retriever.rarity("oslo", "other") != retriever.rarity("oslo", "own")
    for ask in (retriever.about, retriever.rarity):
        with pytest.raises(ConfigError, match="no context for the question key 'nobody'"):
            ask("oslo", "nobody")


def test_a_retriever_that_knows_nothing_of_it_falls_back() -> None:
    class Plain(Retriever):
        @property
        def fingerprint(self) -> str:
            return "plain"

        def search(self, queries, k, pools=None) -> list[list[Hit]]:  # type: ignore[no-untyped-def]
            return [[] for _ in queries]

        def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
            return BUILT.titled(title)

    assert Plain().about("oslo") == BUILT.titled("oslo") and Plain().rarity("oslo") == 1.0
