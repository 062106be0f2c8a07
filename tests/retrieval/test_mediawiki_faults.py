"""What wikis and networks do wrong: a search is tried again, or fails with the reason, and nothing else leaks."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="needs the extra wiki")
pytest.importorskip("tenacity", reason="needs the extra wiki")

from evidencegym.data.errors import RequestFailedError
from evidencegym.retrieval import mediawiki_client
from evidencegym.retrieval.external import ExternalSearch
from tests.generation.fake_server import Response
from tests.retrieval.mediawiki_server import Fault, MediaWikiServer, WikiPage, good, reported, serving
from tests.retrieval.small_wiki import small_wiki, source, titles

QUERY = "Who was Ada Lovelace?"


@pytest.fixture(name="server")
def _server() -> Iterator[MediaWikiServer]:
    with serving(small_wiki()) as running:
        yield running


def once(response: Response) -> Fault:
    """Return a fault that goes away."""
    return lambda parameters, attempt: response if attempt == 0 else None


def always(response: Response) -> Fault:
    """Return a fault that stays."""
    return lambda parameters, attempt: response


PASSING = {
    "429": Response(b"slow down", 429, {"Retry-After": "0.01"}),
    "429 without a wait": Response(b"slow down", 429),
    "503": Response(b"<html>busy</html>", 503),
    "500": Response(b"", 500),
    "ratelimited": reported("ratelimited"),
    "maxlag": reported("maxlag", Retry_After="0.01"),
    "readonly": reported("readonly"),
    "internal": reported("internal_api_error_DBQueryError"),
    "malformed": Response(b'{"query": {"pages": [{'),
    "html": Response(b"<html>Wikimedia error</html>"),
    "not UTF-8": Response(b'{"query": {"pages": "\xff\xfe"}}'),
    "a list": Response(b"[]"),
    "deep": Response(b"[" * 100_000),
    "a long number": Response(b'{"query": ' + b"1" * 10_000 + b"}"),
    "empty": Response(b""),
    "dropped": Response(b"x" * 1000, drop=True),
    "not gzip": Response(b"x" * 1000, headers={"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("name", PASSING)
def test_a_fault_that_goes_away_is_not_noticed(server: MediaWikiServer, tmp_path: Path, name: str) -> None:
    server.fault = once(PASSING[name])
    wikis = source(server, tmp_path)
    assert titles(wikis, QUERY) == ["Ada Lovelace"]
    assert wikis.requests == len(server.requests) == 4


@pytest.mark.parametrize("name", PASSING)
def test_a_fault_that_stays_fails_the_search(server: MediaWikiServer, tmp_path: Path, name: str) -> None:
    server.fault = always(PASSING[name])
    with pytest.raises(RequestFailedError, match=r"127\.0\.0\.1.*3 attempts at most"):
        titles(source(server, tmp_path), QUERY)
    assert len(server.requests) == 3
    server.fault = lambda parameters, attempt: None
    assert titles(source(server, tmp_path), QUERY) == ["Ada Lovelace"], "a fault must not be cached"


FINAL = {
    "403": (Response(b"who are you", 403), "answers 403"),
    "404": (Response(b"", 404), "answers 404"),
    "redirect": (Response(b"", 301, {"Location": "http://127.0.0.1:9/w/api.php"}), "sends on to .*127.0.0.1:9"),
    "an error": (reported("badvalue"), "reports 'badvalue': 'because of badvalue'"),
    "an odd error": (good({"error": ["no"]}), "reports ''"),
    "no query": (good({"batchcomplete": True}), "'query' is missing"),
    "query is a list": (good({"query": []}), "'query' must be an object"),
    "pages by id": (good({"query": {"pages": {"1": {}}}}), "'pages' must be a list"),
    "a page is a text": (good({"query": {"pages": ["Ada Lovelace"]}}), "a page must be an object"),
    "a page without namespace": (good({"query": {"pages": [{"title": "Ada Lovelace"}]}}), "'ns' is missing"),
    "a title is a number": (good({"query": {"pages": [{"ns": 0, "title": 3}]}}), "'title' must be a string"),
    "odd redirects": (good({"query": {"redirects": [{"from": "A"}], "pages": []}}), "'to' is missing"),
    "odd properties": (
        good({"query": {"pages": [{"ns": 0, "title": "Ada Lovelace", "pageprops": []}]}}),
        "'pageprops' must be an object",
    ),
}


@pytest.mark.parametrize("name", FINAL)
def test_what_cannot_be_mended_is_not_tried_again(server: MediaWikiServer, tmp_path: Path, name: str) -> None:
    response, reason = FINAL[name]
    server.fault = always(response)
    with pytest.raises(RequestFailedError, match=reason):
        titles(source(server, tmp_path), QUERY)
    assert len(server.requests) == 1
    server.fault = lambda parameters, attempt: None
    assert titles(source(server, tmp_path), QUERY) == ["Ada Lovelace"], "a fault must not be cached"


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ({"ns": 0, "title": "Ada Lovelace"}, "TextExtracts"),
        ({"ns": 0, "title": "Ada Lovelace", "extract": 3}, "'extract' must be a string"),
    ],
)
def test_a_page_must_have_an_extract(server: MediaWikiServer, tmp_path: Path, page: object, reason: str) -> None:
    def fault(parameters: dict[str, str], attempt: int) -> Response | None:
        return good({"query": {"pages": [page]}}) if "explaintext" in parameters else None

    server.fault = fault
    with pytest.raises(RequestFailedError, match=reason):
        titles(source(server, tmp_path), QUERY)


@pytest.mark.parametrize("found", [{}, {"search": {}}, {"search": ["Ada"]}, {"search": [{"title": None}]}])
def test_results_of_another_shape_fail_the_search(server: MediaWikiServer, tmp_path: Path, found: object) -> None:
    def fault(parameters: dict[str, str], attempt: int) -> Response | None:
        return good({"query": found}) if "list" in parameters else None

    server.fault = fault
    with pytest.raises(RequestFailedError, match="not what was asked for"):
        titles(source(server, tmp_path), "Who was Nobody Atall?")


def test_links_of_another_shape_fail_the_search(server: MediaWikiServer, tmp_path: Path) -> None:
    def fault(parameters: dict[str, str], attempt: int) -> Response | None:
        page = {"ns": 0, "title": "Mercury", "links": ["Sun"]}
        return good({"query": {"pages": [page]}}) if parameters.get("prop") == "links" else None

    server.fault = fault
    with pytest.raises(RequestFailedError, match="a link must be an object"):
        titles(source(server, tmp_path), "What is Mercury?")


def test_the_wait_that_a_wiki_asks_for_is_kept(server: MediaWikiServer, tmp_path: Path) -> None:
    server.fault = once(reported("maxlag", Retry_After="0.2"))
    titles(source(server, tmp_path, max_wait=1.0), QUERY)
    assert server.times[1] - server.times[0] >= 0.2


def test_a_wiki_that_asks_for_a_longer_wait_is_left_alone(server: MediaWikiServer, tmp_path: Path) -> None:
    server.fault = always(Response(b"", 429, {"Retry-After": "3600"}))
    with pytest.raises(RequestFailedError, match="429"):
        titles(source(server, tmp_path), QUERY)
    assert len(server.requests) == 1


def test_a_silent_server_is_not_waited_for(server: MediaWikiServer, tmp_path: Path) -> None:
    server.fault = always(Response(b"{}", sleep=0.5))
    with pytest.raises(RequestFailedError, match=r"no whole response .* within 0\.1 s, 2 attempts"):
        titles(source(server, tmp_path, timeout=0.1, retries=1), QUERY)


def test_no_server_at_all(tmp_path: Path) -> None:
    with serving(small_wiki()) as gone:
        pass
    with pytest.raises(RequestFailedError, match=r"connection to .* failed"):
        titles(source(gone, tmp_path), QUERY)


def test_a_page_too_large_to_read_is_read_as_far_as_its_first_section(
    server: MediaWikiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mediawiki_client, "MAX_BYTES", 5_000)
    server.wiki.pages["Ada Lovelace"] = WikiPage("Ada Lovelace was first.\n\n\n== Life ==\n" + "She lived. " * 1_000)
    for network in (True, False):
        wikis = source(server, tmp_path, network=network)
        [[hit]] = wikis.find([ExternalSearch(QUERY, 5)])
        assert hit.passage.text == "Ada Lovelace was first."
    assert len(server.requests) == 3


def test_a_page_whose_first_section_is_too_large_fails_the_search(
    server: MediaWikiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mediawiki_client, "MAX_BYTES", 5_000)
    server.wiki.pages["Ada Lovelace"] = WikiPage("She lived. " * 1_000)
    with pytest.raises(RequestFailedError, match="longer than 5,000 bytes"):
        titles(source(server, tmp_path), QUERY)


def test_no_more_requests_are_under_way_than_allowed(server: MediaWikiServer, tmp_path: Path) -> None:
    server.fault = lambda parameters, attempt: Response(good(server.wiki.answer(parameters)).body, sleep=0.01)
    wikis = source(server, tmp_path)
    queries = ["Who was Lord Byron?", "What is Titanic?", QUERY, "Who was Freddie Mercury?"]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: titles(wikis, query), queries))
    assert found == [["Lord Byron"], ["Titanic"], ["Ada Lovelace"], ["Freddie Mercury"]]
    assert server.most == 1
    assert wikis.pages_loaded == 4
