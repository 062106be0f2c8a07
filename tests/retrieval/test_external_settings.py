"""From settings to the source that is searched when the corpus does not do."""

import builtins
import json
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data.errors import BackendUnavailableError, ConfigError, DataError
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.external import ExternalSearch, LocalSource
from evidencegym.retrieval.external_settings import HALF, MEDIAWIKI, ExternalSettings, open_source
from evidencegym.retrieval.mediawiki import MediaWikiSource
from evidencegym.retrieval.mediawiki_settings import WIKIPEDIA, MediaWikiSettings


def test_nothing_is_searched_and_nobody_asked_by_default() -> None:
    assert open_source(ExternalSettings()) is None
    assert ExternalSettings().mediawiki.network is False


def test_a_path_is_a_second_corpus(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"title": "Ada", "text": "Ada was first."}\n')
    for source_type, expected in (("", "local_corpus"), ("government", "government")):
        source = open_source(ExternalSettings(str(tmp_path), source_type))
        assert isinstance(source, LocalSource)
        [[hit]] = source.find([ExternalSearch("Ada", 3)])
        assert (hit.passage.title, hit.source) == ("Ada", expected)


def test_the_retriever_of_a_second_corpus_may_be_another(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"title": "Ada", "text": "Ada was first."}\n')
    made = []

    def retriever(passages: Any) -> BM25Retriever:
        made.append(BM25Retriever.build(passages, k1=2.0))
        return made[0]

    source = open_source(ExternalSettings(str(tmp_path)), retriever)
    assert isinstance(source, LocalSource)
    assert source.retriever is made[0]


def test_what_cannot_be_opened() -> None:
    with pytest.raises(DataError, match="no such file"):
        open_source(ExternalSettings("nowhere/to/be/found"))
    with pytest.raises(ConfigError, match="cut from the corpus"):
        open_source(ExternalSettings(HALF))
    with pytest.raises(ConfigError, match=r"external\.where"):
        ExternalSettings(" ")


def test_wikis_are_opened_with_a_cache_alone(tmp_path: Path) -> None:
    settings = ExternalSettings(MEDIAWIKI, mediawiki=MediaWikiSettings(cache=tmp_path))
    source = open_source(settings)
    assert isinstance(source, MediaWikiSource)
    assert (source.source, source.concurrency, source.max_batch) == ("user_generated", 1, 1)
    marked = open_source(ExternalSettings(MEDIAWIKI, "unknown", settings.mediawiki))
    assert isinstance(marked, MediaWikiSource)
    assert marked.source == "unknown"


def test_wikis_are_asked_only_by_somebody(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mediawiki\.contact"):
        MediaWikiSource(MediaWikiSettings(network=True, cache=tmp_path))


@pytest.mark.parametrize("package", ["httpx", "tenacity"])
def test_without_the_extra_wikis_cannot_be_asked(package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == package:
            raise ImportError(f"no {name}")
        return found(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(BackendUnavailableError, match="extra 'wiki'"):
        MediaWikiSource(MediaWikiSettings(network=True, contact="a@b.c", cache=tmp_path))
    MediaWikiSource(MediaWikiSettings(cache=tmp_path))


@pytest.mark.parametrize(
    "settings",
    [
        ExternalSettings(),
        ExternalSettings(HALF),
        ExternalSettings("a/path", "blog"),
        ExternalSettings(MEDIAWIKI, mediawiki=MediaWikiSettings(sites=(WIKIPEDIA, "http://x.y/api.php"), pages=3)),
    ],
)
def test_settings_come_back_from_a_manifest(settings: ExternalSettings) -> None:
    assert ExternalSettings.of(json.loads(json.dumps(settings.source()))) == settings


def test_a_manifest_never_allows_requests(tmp_path: Path) -> None:
    asked = MediaWikiSettings(network=True, contact="a@b.c", cache=tmp_path, retries=0)
    assert ExternalSettings.of(ExternalSettings(MEDIAWIKI, mediawiki=asked).source()) == ExternalSettings(MEDIAWIKI)
    assert ExternalSettings.of(None) == ExternalSettings()
    for odd in ({"wher": "none"}, {"mediawiki": {"page": 3}}):
        with pytest.raises(ConfigError, match="manifest"):
            ExternalSettings.of(odd)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"retries": -1}, "retries"),
        ({"maxlag": -2}, "maxlag"),
        ({"concurrency": 0}, "concurrency"),
        ({"pages": 0}, "pages"),
        ({"pages": 51}, "at most 50"),
        ({"results": 51}, "at most 50"),
        ({"timeout": 0.0}, "timeout"),
        ({"max_wait": -1.0}, "max_wait"),
        ({"contact": "a\r\nX-Header: b"}, "one line"),
        ({"contact": "é@b.c"}, "ASCII"),
        ({"sites": ()}, "at least one"),
        ({"namespaces": ()}, "at least one"),
        ({"sites": ("en.wikipedia.org",)}, "must be like"),
        ({"sites": ("ftp://x.y/api.php",)}, "must be like"),
        ({"sites": ("http://me:secret@x.y/api.php",)}, "no password"),
        ({"sites": ("http://[x/api.php",)}, "no URL"),
    ],
)
def test_settings_out_of_range_are_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        MediaWikiSettings(**changes)
    assert "secret" not in str(caught.value)
