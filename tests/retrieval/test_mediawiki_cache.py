"""The cache of wikis' responses, and searching in it alone."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="needs the extra wiki")
pytest.importorskip("tenacity", reason="needs the extra wiki")

from evidencegym.data.errors import ConfigError, RequestFailedError
from evidencegym.retrieval.external import ExternalSearch
from evidencegym.retrieval.mediawiki_cache import CachedResponse, ResponseCache, WikiRequest
from tests.retrieval.mediawiki_server import MediaWikiServer, WikiPage, serving
from tests.retrieval.small_wiki import small_wiki, source, titles

SEARCHES = [
    ExternalSearch(query, 4)
    for query in ("Who was Ada Lovelace?", "Which planet is Mercury?", "Who was Nobody Atall?", "a mathematician")
]


@pytest.fixture(name="server")
def _server() -> Iterator[MediaWikiServer]:
    with serving(small_wiki()) as running:
        yield running


def test_the_same_search_is_asked_once_and_gives_the_same(server: MediaWikiServer, tmp_path: Path) -> None:
    first = source(server, tmp_path).find(SEARCHES)
    sent = len(server.requests)
    server.wiki.pages["Ada Lovelace"] = WikiPage("Ada Lovelace was somebody else.")
    again = source(server, tmp_path)
    assert again.find(SEARCHES) == first
    assert (len(server.requests), again.requests) == (sent, 0)
    assert again.pages_loaded > 0


def test_the_cache_does_without_the_network(server: MediaWikiServer, tmp_path: Path) -> None:
    first = source(server, tmp_path).find(SEARCHES)
    sent = len(server.requests)
    assert source(server, tmp_path, network=False, contact="").find(SEARCHES) == first
    assert len(server.requests) == sent


def test_a_miss_without_the_network_says_what_to_do(server: MediaWikiServer, tmp_path: Path) -> None:
    source(server, tmp_path).find(SEARCHES)
    sent = len(server.requests)
    with pytest.raises(RequestFailedError, match=r"holds no response .*Lord Byron.*mediawiki.network true"):
        titles(source(server, tmp_path, network=False), "Who was Lord Byron?")
    assert len(server.requests) == sent


def test_how_a_wiki_is_asked_is_no_part_of_what(server: MediaWikiServer, tmp_path: Path) -> None:
    first = source(server, tmp_path).find(SEARCHES)
    sent = len(server.requests)
    changed = source(server, tmp_path, maxlag=-1, timeout=9.0, contact="other@example.org", concurrency=3)
    assert changed.find(SEARCHES) == first
    assert len(server.requests) == sent


def test_without_network_and_cache_nothing_can_be_found(server: MediaWikiServer, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds nothing of them.*mediawiki.network true"):
        source(server, tmp_path, network=False)


def test_a_damaged_file_is_written_anew(server: MediaWikiServer, tmp_path: Path) -> None:
    first = source(server, tmp_path).find(SEARCHES)
    for number, file in enumerate(sorted((tmp_path / "wiki").glob("*/*.json"))):
        content = file.read_bytes()
        file.write_bytes([content[: len(content) // 2], b"", b"[]", b'{"api": 3}', b"\xff"][number % 5])
    assert source(server, tmp_path).find(SEARCHES) == first
    assert source(server, tmp_path, network=False).find(SEARCHES) == first


def test_a_file_of_another_request_is_not_taken_for_this_one(tmp_path: Path) -> None:
    cache, one, other = ResponseCache(tmp_path), WikiRequest.of("a", {"b": "c"}), WikiRequest.of("a", {"b": "d"})
    cache.put(one, CachedResponse({"query": {}}))
    [file] = tmp_path.glob("*/*.json")
    cache.put(other, CachedResponse({"query": {"x": 1}}))
    [second] = set(tmp_path.glob("*/*.json")) - {file}
    second.write_bytes(file.read_bytes())
    assert cache.get(one) == CachedResponse({"query": {}})
    assert cache.get(other) is None


def test_a_response_comes_back_as_it_was(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "new")
    for number, body in enumerate(({"query": {"é": "\ud800\u2028"}}, None)):
        request = WikiRequest.of("a", {"n": str(number)})
        assert cache.get(request) is None
        cache.put(request, CachedResponse(body))
        assert ResponseCache(tmp_path / "new").get(request) == CachedResponse(body)


def test_threads_write_one_request_at_once(tmp_path: Path) -> None:
    request = WikiRequest.of("a", {"b": "c"})
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: ResponseCache(tmp_path).put(request, CachedResponse({"n": number})), range(40)))
    assert ResponseCache(tmp_path).get(request) is not None
    assert len(list(tmp_path.glob("*/*"))) == 1


WRITER = """
import sys
from pathlib import Path
from evidencegym.retrieval.mediawiki_cache import CachedResponse, ResponseCache, WikiRequest
for number in range(60):
    body = {"text": sys.argv[2] * 200_000}
    ResponseCache(Path(sys.argv[1])).put(WikiRequest.of("a", {"b": "c"}), CachedResponse(body))
"""


def test_processes_that_write_at_once_leave_whole_responses(tmp_path: Path) -> None:
    cache, request = ResponseCache(tmp_path), WikiRequest.of("a", {"b": "c"})
    cache.put(request, CachedResponse({"text": ""}))
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), letter]) for letter in "xy"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        held = cache.get(request)
        assert held is not None
        assert held.body is not None
        seen.add((len(held.body["text"]), held.body["text"][:1]))
    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen <= {(0, ""), (200_000, "x"), (200_000, "y")}


def test_a_folder_that_cannot_be_written_fails_the_search(server: MediaWikiServer, tmp_path: Path) -> None:
    (tmp_path / "wiki").write_text("a file")
    with pytest.raises(RequestFailedError, match="could not be kept"):
        titles(source(server, tmp_path), "Who was Ada Lovelace?")


def test_the_variable_moves_the_cache(server: MediaWikiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "EVIDENCEGYM_CACHE", str(tmp_path))
    titles(source(server, tmp_path, cache=None), "Who was Ada Lovelace?")
    files = list((tmp_path / "mediawiki").glob("*/*.json"))
    assert {json.loads(file.read_text())["api"] for file in files} == {server.url}
