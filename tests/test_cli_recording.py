"""Commands with a recorded generator: the replay writes the same bytes and loads no generator."""

from dataclasses import replace
from pathlib import Path

import pytest

from evidencegym import cli
from evidencegym.actions.workers import Workers
from evidencegym.data.errors import RecordingMissError
from evidencegym.eval.suite.benchmark import Benchmark
from evidencegym.eval.suite.settings import AnalysisSettings, MethodSettings
from evidencegym.generation import choose
from evidencegym.generation.choose import FIT, GeneratorSource
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.generation.fit import CrossFitted
from evidencegym.generation.recording_settings import RecordingSettings
from evidencegym.generation.recording_store import Recording
from evidencegym.generation.tasks import JudgeTask
from evidencegym.training.generators import MADE_FROM, _made_from, prepare_generators
from tests.eval.small_runs import SOURCE, without_analyses, write_run
from tests.small_world import records, retriever
from tests.test_cli import SMALL, TEXTS, content


def no_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a replay must load no generator")

    monkeypatch.setattr(choose, "_loaded", refuse)


def recorded(mode: str, file: Path) -> list[str]:
    return ["--recording.mode", mode, "--recording.file", str(file)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose training and evaluation were recorded."""
    out = tmp_path_factory.mktemp("run")
    arguments = ["train", "--out", str(out), *SMALL, "--evaluate", "true"]
    assert cli.main([*arguments, *recorded("record", out / "r.db")]) == 0
    return out


def test_training_and_evaluation_are_replayed_to_the_bit(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, replayed = tmp_path / "plain", tmp_path / "replayed"
    assert cli.main(["train", "--out", str(plain), *SMALL, "--evaluate", "true"]) == 0
    no_generator(monkeypatch)
    replay = [*recorded("replay", run / "r.db"), "--recording.used", str(tmp_path / "used.db")]
    assert cli.main(["train", "--out", str(replayed), *SMALL, "--evaluate", "true", *replay]) == 0
    for part in ("collection", "controller", "evaluation"):
        assert content(plain / part) == content(run / part) == content(replayed / part) != {}
    counts = [Recording(file, read_only=True).counts() for file in (run / "r.db", tmp_path / "used.db")]
    assert counts[0] == counts[1] != []


def test_a_question_is_recorded_and_replayed(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "texts"
    corpus.mkdir()
    for name, text in TEXTS.items():
        (corpus / name).write_text(text, encoding="utf-8")
    ask = [
        "answer",
        "--corpus",
        str(corpus),
        "--run",
        str(run),
        "--json",
        "--question",
        "Who directed The Glass Orchard?",
    ]
    assert cli.main(ask) == 0
    printed = [capsys.readouterr().out]
    assert cli.main([*ask, *recorded("record", tmp_path / "r.db")]) == 0
    printed.append(capsys.readouterr().out)
    no_generator(monkeypatch)
    assert cli.main([*ask, *recorded("replay", tmp_path / "r.db")]) == 0
    printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]
    assert cli.main([*ask[:-1], "Who else?", *recorded("replay", tmp_path / "r.db")]) == 1
    assert "holds no response to" in capsys.readouterr().err
    assert cli.main([*ask, *recorded("replay", tmp_path / "nowhere.db")]) == 1
    assert "no such recording" in capsys.readouterr().err


def test_a_benchmark_is_replayed_to_the_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_run(tmp_path / "run")
    methods = MethodSettings(
        ["synthetic"], str(folder), protocols=["free"], baselines=["uniform", "s2g"], cost_weight=0.0
    )
    analyses = AnalysisSettings(**without_analyses(transfer=False))
    made = []
    for mode in ("live", "record", "replay"):
        if mode == "replay":
            no_generator(monkeypatch)
        kept = RecordingSettings() if mode == "live" else RecordingSettings(mode, tmp_path / "r.db")  # type: ignore[arg-type]
        source = replace(SOURCE, recording=kept)
        Benchmark(methods, analyses, source, tmp_path / mode, 0, no_adaptive).run(None, Workers())
        made.append(content(tmp_path / mode))
    assert made[0] == made[1] == made[2] != {}
    assert sum(count.responses for count in Recording(tmp_path / "r.db", read_only=True).counts()) > 8


def no_adaptive(*_: object) -> None:
    raise AssertionError("adaptive is not among the baselines")


def test_cross_fitted_generators_are_recorded_under_their_own_names(tmp_path: Path) -> None:
    reader = ExtractiveGenerator.default()
    CrossFitted(reader, (reader, reader), 3).save(tmp_path / "generator")
    (tmp_path / "generator" / MADE_FROM).write_text(_made_from(records(), retriever(), 3))
    tasks = [JudgeTask(record.question.text, ()) for record in records()]
    found = []
    for mode in ("record", "replay"):
        source = GeneratorSource(FIT, recording=RecordingSettings(mode, tmp_path / "r.db"))  # type: ignore[arg-type]
        made = prepare_generators(source, records(), retriever(), tmp_path / "generator", 3)
        assert made.full.fingerprint == made.of(records()[0]).fingerprint == reader.fingerprint
        assert made.of(records()[0]) is made.of(records()[0])
        found.append(made.of(records()[0]).judge_sufficiency(tasks))
    assert found[0] == found[1] == reader.judge_sufficiency(tasks)
    with pytest.raises(RecordingMissError):
        made.full.judge_sufficiency([JudgeTask("Another?", ())])
