"""The file of a recording: sharing it, making it smaller, and files that are none."""

import gzip
import json
import sqlite3
from pathlib import Path

import pytest

from evidencegym import cli
from evidencegym.data.errors import ConfigError, DataError
from evidencegym.generation.recording import RecordedGenerator
from evidencegym.generation.recording_files import export_recording, import_recording
from evidencegym.generation.recording_store import Backend, Recording
from evidencegym.generation.recording_tools import prune
from evidencegym.generation.recording_values import Entry, request_json, response_of
from evidencegym.generation.tasks import AnswerTask
from tests.fakes import OverlapGenerator
from tests.generation.test_recording import SOME, TASKS, Other, ask_all
from tests.unreliable import UnreliableGenerator, by_hash


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A recording of two backends, with failures."""
    made = tmp_path / "some.db"
    with Recording(made) as recording:
        ask_all(RecordedGenerator(UnreliableGenerator(by_hash(0.5)), recording))
        RecordedGenerator(Other(), recording).answer(TASKS["answer"])
    return made


def kinds(file: Path) -> list[tuple[str, str, int]]:
    with Recording(file, read_only=True) as recording:
        return [count[:3] for count in recording.counts()]


@pytest.mark.parametrize("name", ["shared.jsonl", "shared.jsonl.gz"])
def test_a_recording_that_is_shared_is_the_same(file: Path, tmp_path: Path, name: str) -> None:
    with Recording(file, read_only=True) as recording:
        assert export_recording(recording, tmp_path / name) == 14
    with Recording(tmp_path / "copy.db") as copy:
        assert import_recording(copy, tmp_path / name) == 14
        assert import_recording(copy, tmp_path / name) == 0
        export_recording(copy, tmp_path / f"again-{name}")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
    assert kinds(tmp_path / "copy.db") == kinds(file)
    replayed = RecordedGenerator(None, Recording(tmp_path / "copy.db"), "replay", "overlap")
    assert ask_all(replayed) == ask_all(UnreliableGenerator(by_hash(0.5)))


def test_no_text_of_the_corpus_stands_in_a_recording(file: Path, tmp_path: Path) -> None:
    with Recording(file, read_only=True) as recording:
        export_recording(recording, tmp_path / "shared.jsonl")
    text = (tmp_path / "shared.jsonl").read_text()
    assert SOME[1].title in text and SOME[1].sentences[1] not in text


def test_counts_add_up(file: Path) -> None:
    with Recording(file, read_only=True) as recording:
        counts = recording.counts()
    expected = ask_all(UnreliableGenerator(by_hash(0.5)))
    for count in (found for found in counts if found.backend == "overlap"):
        responses = expected[count.kind]
        assert count.responses == len(responses)
        assert count.failed == sum(hasattr(r, "reason") for r in responses)
        assert count.prompt_tokens == sum(r.usage.prompt_tokens for r in responses)
        assert count.completion_tokens == sum(r.usage.completion_tokens for r in responses)
    assert 0 < sum(count.failed for count in counts) < 10


def test_the_first_response_stays(tmp_path: Path) -> None:
    backend, request = Backend("b", "words", "B"), request_json(AnswerTask("q", SOME))
    with Recording(tmp_path / "r.db") as recording:
        made = [Entry("rewrite", request, f'{{"query":"{q}","usage":[0,0]}}') for q in "ab"]
        assert recording.put(backend, made) == 1
        assert recording.put(backend, made[1:]) == 0
        assert recording.get("b", [made[0].key]) == {made[0].key: made[0].response}
        assert recording.get("c", [made[0].key]) == {}


def test_pruning_a_backend(file: Path) -> None:
    assert "4 responses removed" in prune(file, backend="other")
    assert {kind[0] for kind in kinds(file)} == {"overlap"}
    assert [b.fingerprint for b in Recording(file, read_only=True).backends()] == ["overlap"]
    with pytest.raises(ConfigError, match="no backend other; there are: overlap"):
        prune(file, backend="other")


def test_pruned_failures_are_asked_again(file: Path) -> None:
    prune(file, failures=True)
    generator = OverlapGenerator()
    assert ask_all(RecordedGenerator(generator, Recording(file))) == ask_all(OverlapGenerator())
    failed = sum(hasattr(r, "reason") for found in ask_all(UnreliableGenerator(by_hash(0.5))).values() for r in found)
    assert sum(size for _, size in generator.calls) == failed > 0


def test_pruning_what_was_not_used(file: Path, tmp_path: Path) -> None:
    used = tmp_path / "used.db"
    with Recording(file, read_only=True) as recording, Recording(used) as small:
        replayed = RecordedGenerator(None, recording, "replay", "overlap")
        RecordedGenerator(replayed, small).answer(TASKS["answer"][:3])
    assert "11 responses removed" in prune(file, unused_by=used)
    assert kinds(file) == kinds(used) == [("overlap", "answer", 3)]


def test_pruning_needs_to_know_what_and_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="what is to go"):
        prune(tmp_path / "nowhere.db")
    with pytest.raises(DataError, match="no such recording"):
        prune(tmp_path / "nowhere.db", failures=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("read_only", [True, False])
def test_what_is_no_recording_is_refused_and_left_alone(tmp_path: Path, read_only: bool) -> None:
    text, other = tmp_path / "text.db", tmp_path / "other.db"
    text.write_text("some notes " * 200)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
    connection.close()
    for file in (text, other):
        before = file.read_bytes()
        with pytest.raises(DataError, match="recording"):
            Recording(file, read_only)
        assert file.read_bytes() == before
    with pytest.raises(DataError):
        Recording(tmp_path, read_only)


def test_a_recording_in_a_folder_that_cannot_be_written_is_replayed(file: Path) -> None:
    file.parent.chmod(0o555)
    file.chmod(0o444)
    try:
        assert ask_all(RecordedGenerator(None, Recording(file, read_only=True), "replay", "overlap"))
        read = Recording(file, read_only=True)
        with pytest.raises(DataError, match="cannot be used"):
            read.remove_failures()
    finally:
        file.parent.chmod(0o755)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"task":"answer","request":{},"response":{"text":1}}', "not a line of a recording"),
        ('{"task":"dance","request":{},"response":{"usage":[0,0]}}', "not a line of a recording"),
        ('{"task":"answer"}', "not a line of a recording"),
        ('{"backend":{"fingerprint":"a"}}', "not a line of a recording"),
        ('{"task":', "cannot be read"),
        ("[]", "not a line of a recording"),
    ],
)
def test_damaged_lines_are_named(file: Path, tmp_path: Path, line: str, message: str) -> None:
    shared = tmp_path / "shared.jsonl"
    with Recording(file, read_only=True) as recording:
        export_recording(recording, shared)
    lines = shared.read_text().splitlines()
    shared.write_text("\n".join([*lines[:2], line, *lines[2:]]))
    with Recording(tmp_path / "copy.db") as copy, pytest.raises(DataError, match=message) as found:
        import_recording(copy, shared)
    assert found.value.file == str(shared)


def test_other_files_are_not_imported(tmp_path: Path) -> None:
    (tmp_path / "plain.jsonl").write_text('{"kind": "something"}\n')
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"kind"' * 500)[:-9])
    with Recording(tmp_path / "r.db") as recording:
        for name in ("plain.jsonl", "cut.jsonl.gz", "nowhere.jsonl"):
            with pytest.raises(DataError):
                import_recording(recording, tmp_path / name)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"usage":[0]}', '{"usage":[0,0],"query":3}', '{"usage":["a","b"],"query":"q"}']
)
def test_only_responses_are_read_as_responses(text: str) -> None:
    with pytest.raises(ValueError, match="not a response"):
        response_of("rewrite", text)


def test_the_commands(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared, copy = tmp_path / "shared.jsonl.gz", tmp_path / "copy.db"
    assert cli.main(["recording", "info", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "| Other | other | answer | 4 | 0 |" in shown and "| UnreliableGenerator | overlap | rewrite | 2 |" in shown
    assert cli.main(["recording", "export", str(file), str(shared)]) == 0
    assert json.loads(gzip.decompress(shared.read_bytes()).splitlines()[0])["kind"] == "evidencegym recording"
    assert cli.main(["recording", "import", str(copy), str(shared)]) == 0
    assert "14 new responses" in capsys.readouterr().out
    assert cli.main(["recording", "prune", str(copy), "--backend", "other", "--failures"]) == 0
    assert cli.main(["recording", "info", str(copy)]) == 0
    assert "other" not in capsys.readouterr().out
    assert cli.main(["recording", "prune", str(copy)]) == 1
    assert "what is to go" in capsys.readouterr().err
