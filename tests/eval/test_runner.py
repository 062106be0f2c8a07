"""Running methods: resumable, the same bytes, refused under other settings."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evidencegym.actions.rules import Rules
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import DataError, ManifestMismatchError
from evidencegym.data.records import Record
from evidencegym.eval.runner import Method, evaluate, open_evaluation, run_method
from tests.small_world import engine, records

METHOD = Method("uniform", Rules(), UniformController(1))


def run(file: Path, **settings: Any) -> list[dict[str, Any]]:
    return evaluate(METHOD, records(), engine(), file, **settings)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("whole") / "r.jsonl"
    run(file)
    return file.read_bytes()


def test_results_hold_what_an_episode_was(tmp_path: Path) -> None:
    found = run(tmp_path / "r.jsonl")
    assert [result["id"] for result in found] == [record.id for record in records()]
    assert found == json.loads(json.dumps(run_method(METHOD, records(), engine())))
    for result, record in zip(found, records()):
        assert record.gold is not None
        assert result["question"] == record.question.text
        assert result["gold"]["answers"] == list(record.gold.answers) and result["gold"]["hops"] == record.gold.hops
        assert result["operations"] == [step["operation"] for step in result["steps"]]
        assert result["cost"]["retrievals"] == sum(cost["retrievals"] for cost in result["ledger"].values())
        assert len(result["passages"]) == sum(len(step["brought"]) for step in result["steps"])
        assert set(result["metrics"]) >= {"support_recall", "answer_f1", "answer_em", "full_support"}
        assert "second" not in json.dumps(result)


def test_seconds_lie_in_a_file_of_their_own(tmp_path: Path) -> None:
    run(tmp_path / "r.jsonl", batch=3)
    notes = [json.loads(line) for line in (tmp_path / "r.timings.jsonl").read_text().splitlines()]
    assert [note["questions"] for note in notes] == [3, 3, 2] and all(note["seconds"] >= 0 for note in notes)


def test_the_same_run_is_the_same_bytes_whatever_the_batch(whole: bytes, tmp_path: Path) -> None:
    for batch in (1, 3, 64):
        run(tmp_path / f"{batch}.jsonl", batch=batch)
        assert (tmp_path / f"{batch}.jsonl").read_bytes() == whole


def test_a_torn_run_goes_on_and_gives_the_same_bytes(whole: bytes, tmp_path: Path) -> None:
    file, random = tmp_path / "r.jsonl", Random(0)
    for size in [0, 1, len(whole) - 1, len(whole), *(random.randrange(len(whole)) for _ in range(20))]:
        file.write_bytes(whole[:size])
        asked: list[tuple[int, int]] = []
        found = run(file, batch=2, progress=lambda *n: asked.append(n))  # noqa: B023
        assert file.read_bytes() == whole and len(found) == 8
        assert len(asked) == (8 - whole[:size].count(b"\n") + 1) // 2 and all(total == 8 for _, total in asked)


def test_only_what_is_missing_is_run(whole: bytes, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    lines = whole.splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3] + lines[4:]))
    found = run(file)
    assert [result["id"] for result in found] == [record.id for record in records()]
    assert file.read_bytes() == b"".join(lines)


def test_questions_that_share_an_id_are_kept_apart(tmp_path: Path) -> None:
    gold = records()[0].gold
    assert gold is not None
    twins = [Record(record.question, replace(gold, answers=(str(n),))) for n, record in enumerate(records()[:2])]
    found = evaluate(METHOD, twins, engine(), tmp_path / "r.jsonl")
    assert [result["question"] for result in found] == [twin.question.text for twin in twins]
    assert evaluate(METHOD, twins, engine(), tmp_path / "r.jsonl") == found


def test_questions_without_gold_have_no_metrics(tmp_path: Path) -> None:
    [found] = evaluate(METHOD, [Record(records()[0].question)], engine(), tmp_path / "r.jsonl")
    assert "metrics" not in found and "gold" not in found and found["answer"]


def test_the_oracle_is_a_method_without_policy(tmp_path: Path) -> None:
    found = evaluate(Method("oracle", Rules()), records(), engine(), tmp_path / "r.jsonl")
    assert all(result["metrics"]["support_recall"] == 1.0 for result in found)


def test_a_damaged_line_is_told(whole: bytes, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    lines = whole.splitlines(keepends=True)
    for damaged in (b'{"uid": "x"\n', b"7\n", b"\xff\xfe\n", b"[1]\n", b'{"id": "x"}\n', b"\n"):
        file.write_bytes(b"".join([*lines[:2], damaged, *lines[2:]]))
        with pytest.raises(DataError, match=r"r\.jsonl, record 3: damaged line .*delete it to have its question"):
            run(file)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_a_full_disk_is_told_and_loses_nothing(
    code: int, whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, real, calls = tmp_path / "r.jsonl", os.fsync, []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 5:
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - 40)
            raise OSError(code, os.strerror(code))
        real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DataError, match=f"r.jsonl: cannot write .{os.strerror(code)}"):
            run(file, batch=2)
    assert whole.startswith(file.read_bytes()) and file.read_bytes().count(b"\n") == 5
    run(file, batch=2)
    assert file.read_bytes() == whole


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="cannot write"):
        run(tmp_path / "file" / "r.jsonl")
    with pytest.raises(DataError, match="cannot"):
        run(tmp_path)


def test_an_evaluation_of_other_settings_is_refused(tmp_path: Path) -> None:
    open_evaluation(tmp_path, {"seed": 1, "caps": {"steps": 4}, "rules": (True, False)})
    open_evaluation(tmp_path, {"seed": 1, "caps": {"steps": 4}, "rules": (True, False)})
    with pytest.raises(ManifestMismatchError, match="holds an evaluation with another caps, seed; use another folder"):
        open_evaluation(tmp_path, {"seed": 2, "caps": {"steps": 5}, "rules": [True, False]})
    with pytest.raises(ManifestMismatchError, match="another rules"):
        open_evaluation(tmp_path, {"seed": 1, "caps": {"steps": 4}})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text('{"kind": "collection"}')
    with pytest.raises(ManifestMismatchError, match="expected a saved evaluation, found collection"):
        open_evaluation(tmp_path / "other", {})
