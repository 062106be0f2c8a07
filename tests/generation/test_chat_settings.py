"""Settings of a chat server: what is refused, what changes a reply, and what is said where the extra is missing."""

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from evidencegym.data.errors import BackendUnavailableError, ConfigError
from evidencegym.generation.chat import ChatGenerator
from evidencegym.generation.chat_settings import ChatSettings
from evidencegym.generation.choose import GeneratorSource


def test_the_fingerprint_is_of_what_changes_a_reply() -> None:
    plain = ChatSettings(model="m")
    for same in ({"base_url": "https://b.example/v1"}, {"timeout": 1.0}, {"concurrency": 1}, {"key_variable": "X"}):
        assert replace(plain, **same).fingerprint == plain.fingerprint  # type: ignore[arg-type]
    others: list[dict[str, Any]] = [{"model": "n"}, {"label": "q4"}, {"seed": 1}, {"temperature": 0.5}]
    others += [{"structured": "off"}, {"logprobs": True}, {"max_tokens": {"answer": 9}}, {"extra": {"top_k": 1}}]
    made = {replace(plain, **other).fingerprint for other in others}
    assert len(made) == len(others) and plain.fingerprint not in made
    assert ChatSettings.of(json.loads(json.dumps(plain.source()))) == plain


@pytest.mark.parametrize(
    "bad",
    [
        {"timeout": 0.0},
        {"retries": -1},
        {"concurrency": 0},
        {"max_tokens": {"answers": 3}},
        {"max_tokens": {"answer": 0}},
        {"base_url": "localhost:8000"},
        {"base_url": "ftp://a/v1"},
        {"base_url": "https://me:secret@a/v1"},
        {"base_url": "https://a/v1?key=secret"},
        {"base_url": "http://[a/v1"},
    ],
)
def test_settings_that_cannot_be_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as refused:
        ChatSettings(**{"model": "m", **bad})
    assert "secret" not in str(refused.value)


def test_a_model_must_be_named() -> None:
    with pytest.raises(ConfigError, match=r"--chat\.model"):
        ChatGenerator(ChatSettings())


@pytest.mark.parametrize("package", ["openai", "tenacity"])
def test_without_the_extra_it_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(BackendUnavailableError, match="extra 'chat'"):
        ChatGenerator(ChatSettings(model="m"))


def test_a_manifest_names_the_server_only_where_it_is_used() -> None:
    used = GeneratorSource("chat", ChatSettings(model="m", label="q4"))
    assert GeneratorSource.of(json.loads(json.dumps(used.noted()))) == used
    assert GeneratorSource("packaged", ChatSettings(model="m")).noted() == {"generator_source": "packaged"}
    with pytest.raises(ConfigError, match="chat server"):
        ChatSettings.of({"modell": "m"})
