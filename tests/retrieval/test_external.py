"""What every external source keeps to."""

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data.errors import ConfigError, RequestFailedError
from evidencegym.data.records import Passage
from evidencegym.retrieval.base import Hit, Retriever
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.delegating import DelegatingRetriever
from evidencegym.retrieval.external import ExternalSearch, ExternalSource, LocalSource
from evidencegym.retrieval.mediawiki import MediaWikiSource
from evidencegym.retrieval.mediawiki_settings import MediaWikiSettings
from tests.retrieval.mediawiki_server import Wiki, WikiPage, serving
from tests.retrieval.small_wiki import source

TWINS = [(f"Twin {letter}", "A twin is one of two. The word is old.") for letter in "FEHG"]
TEXTS = [
    *TWINS,
    ("Ada Lovelace", "Ada Lovelace was a mathematician. Her father was Lord Byron."),
    ("Lord Byron", "Lord Byron was a poet. He was the father of Ada Lovelace."),
    ("Titanic", "The Titanic was a ship that sank in 1912."),
]
SEARCHES = [
    ExternalSearch("Was Ada Lovelace the daughter of Lord Byron?", 3),
    ExternalSearch("What are Twin E, Twin F, Twin G and Twin H?", 4),
    ExternalSearch("Titanic", 1, "When did Titanic sink?"),
    ExternalSearch("nothing of the kind", 3),
    ExternalSearch("", 3),
]
Make = Callable[[str], ExternalSource]


def local(mark: str) -> LocalSource:
    return LocalSource(BM25Retriever.build([Passage.of(*_sentences(text)) for text in TEXTS]), mark)


def _sentences(text: tuple[str, str]) -> tuple[str, list[str]]:
    return text[0], [f"{sentence.rstrip('.')}." for sentence in text[1].split(". ")]


@pytest.fixture(name="make", params=["local", "mediawiki"])
def _make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    if request.param == "local":
        yield local
        return
    for package in ("httpx", "tenacity"):
        pytest.importorskip(package, reason="needs the extra wiki")
    with serving(Wiki({title: WikiPage(text) for title, text in TEXTS})) as server:
        asked = source(server, tmp_path).settings
        yield lambda mark: MediaWikiSource(asked, mark)


def test_hits_are_counted_ordered_and_marked(make: Make) -> None:
    found = make("blog").find(SEARCHES)
    assert len(found) == len(SEARCHES)
    for search, hits in zip(SEARCHES, found):
        assert len(hits) <= search.k
        assert [hit.rank for hit in hits] == list(range(len(hits)))
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.passage.id))
        assert {hit.source for hit in hits} <= {"blog"}
        assert len({hit.passage.id for hit in hits}) == len(hits)
    assert [bool(hits) for hits in found] == [True, True, True, False, False]
    assert found[2][0].passage.title == "Titanic"


def test_ties_go_by_passage_id(make: Make) -> None:
    [hits] = make("blog").find([ExternalSearch("twin", 4, "What are Twin E, Twin F, Twin G and Twin H?")])
    assert len({hit.score for hit in hits}) == 1
    assert [hit.passage.id for hit in hits] == sorted(Passage.of(*_sentences(text)).id for text in TWINS)


def test_fewer_hits_are_the_beginning_of_more(make: Make) -> None:
    wide = ExternalSearch(SEARCHES[0].query, 10)
    [many], [few] = (make("blog").find([replace(wide, k=k)]) for k in (10, 2))
    assert few == many[:2]


def test_a_batch_gives_what_its_searches_give(make: Make) -> None:
    source = make("blog")
    assert source.find(SEARCHES) == [source.find([search])[0] for search in SEARCHES]
    assert source.find([]) == []


def test_another_source_of_the_same_finds_the_same(make: Make) -> None:
    assert make("blog").find(SEARCHES) == make("blog").find(SEARCHES)


def test_the_fingerprint_tells_sources_apart(make: Make) -> None:
    assert make("blog").fingerprint == make("blog").fingerprint != make("government").fingerprint


def test_a_source_goes_to_another_process(make: Make) -> None:
    source = make("blog")
    there = pickle.loads(pickle.dumps(source))
    assert (there.fingerprint, there.find(SEARCHES)) == (source.fingerprint, source.find(SEARCHES))


def test_at_least_one_passage_must_be_asked_for(make: Make) -> None:
    with pytest.raises(ConfigError, match="k must be"):
        make("blog").find([ExternalSearch("Titanic", 0)])


class _Failing(DelegatingRetriever):
    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        raise RequestFailedError("gone")


def test_a_second_corpus_that_cannot_be_searched_fails_the_search() -> None:
    base: Retriever = local("blog").retriever
    with pytest.raises(RequestFailedError, match="gone"):
        LocalSource(_Failing(base)).find(SEARCHES[:1])


def test_the_fingerprint_of_wikis_follows_what_can_change_a_result(tmp_path: Path) -> None:
    settings = MediaWikiSettings(cache=tmp_path)

    def fingerprint(changed: MediaWikiSettings) -> str:
        return MediaWikiSource(changed).fingerprint

    prints = {fingerprint(settings)}
    telling: list[dict[str, Any]] = [{"sites": ("http://x.y/api.php",)}, {"namespaces": (0, 4)}, {"pages": 2}]
    telling += [{"max_chars": 9}, {"entities": 1}, {"results": 1}, {"disambiguations": 0}]
    prints |= {fingerprint(replace(settings, **change)) for change in telling}
    assert len(prints) == 1 + len(telling)
    silent: list[dict[str, Any]] = [{"timeout": 1.0}, {"retries": 0}, {"maxlag": -1}, {"contact": "x@y.z"}]
    for change in (*silent, {"concurrency": 4}):
        assert fingerprint(replace(settings, **change)) == fingerprint(settings)


def test_the_code_of_the_page_on_external_search_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[2] / "docs" / "external_search.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        compile(block, page.name, "exec")
    exec(blocks[0], {})
    assert capsys.readouterr().out == "Ada Lovelace local_corpus\n"


def test_every_setting_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "external_search.md").read_text(encoding="utf-8")
    table = text.split("| `external.mediawiki.` |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.split("\n")[2:]))) == {
        each.name for each in fields(MediaWikiSettings)
    }
