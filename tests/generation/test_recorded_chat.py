"""A chat server's responses, good and bad, are replayed when the server is gone."""

from pathlib import Path
from typing import Any

import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.uniform import UniformController
from evidencegym.eval.runner import Method, evaluate
from evidencegym.generation.chat_settings import ChatSettings
from evidencegym.generation.choose import GeneratorSource, load_generator
from evidencegym.generation.recording_settings import RecordingSettings
from evidencegym.generation.recording_store import Recording
from tests.small_world import engine, records

from .fake_server import Response, completion, good, question_of, serving

pytest.importorskip("openai", reason="needs the extra chat")
pytest.importorskip("tenacity", reason="needs the extra chat")

RULES = Rules(operation_set("paper"), Caps(steps=5))
METHOD = Method("uniform", RULES, UniformController(3, avoid=[RULES.operations.stop]))


def mixed(body: dict[str, Any], attempt: int) -> Response:
    """Answer some questions, and nonsense to the others."""
    return Response(completion("no JSON")) if "director" in question_of(body) else good(body, attempt)


def test_an_evaluation_behind_a_server_is_replayed_without_it(tmp_path: Path) -> None:
    made = []
    with serving(mixed) as server:
        chat = ChatSettings(server.url, model="m", concurrency=8, retries=0)
        source = GeneratorSource("chat", chat, recording=RecordingSettings("record", tmp_path / "r.db"))
        generator = load_generator(source)
        assert (generator.concurrency, generator.max_batch, generator.label) == (8, 1, "m")
        made.append(results(generator, tmp_path / "live.jsonl"))
    replay = RecordingSettings("replay", tmp_path / "r.db")
    for _ in range(2):
        replayed = load_generator(GeneratorSource("chat", recording=replay))
        assert replayed.fingerprint == generator.fingerprint
        made.append(results(replayed, tmp_path / f"replay-{len(made)}.jsonl"))
    assert made[0] == made[1] == made[2] and b'"failures"' in made[0]
    counts = Recording(tmp_path / "r.db", read_only=True).counts()
    assert 0 < sum(count.failed for count in counts) < sum(count.responses for count in counts)
    assert all(count.calls == count.responses + count.failed for count in counts)


def results(generator: Any, file: Path) -> bytes:
    evaluate(METHOD, records(), engine(generator), file)
    return file.read_bytes()
