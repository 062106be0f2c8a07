"""Tracking: the local files, W&B's offline files read back, failures that no run dies of, the sweep file."""

import json
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from evidencegym import cli, configs
from evidencegym.data.errors import BackendUnavailableError, ConfigError
from evidencegym.training.local_tracker import LocalTracker, Tracker
from evidencegym.training.run_metrics import sample, tracked_run
from evidencegym.training.tracking import Trackers, tracked

SMALL = ["--passages", "300", "--train_questions", "12", "--dev_questions", "8"]
FIT = ["--fit.trees", "5", "--fit.jobs", "1"]
KEY = "0123456789abcdef" * 3
SWEEP = Path(configs.__file__).parent / "sweep.yaml"


class Recorder(Tracker):
    """Keeps what it is told; fails in the method named."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.told: list[tuple[str, Any]] = []

    def _take(self, method: str, *what: Any) -> None:
        if method == self.failing:
            raise OSError(28, "No space left on device")
        self.told.append((method, what))

    def config(self, settings: Mapping[str, Any]) -> None:
        self._take("config", settings)

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._take("log", metrics, step)

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self._take("table", name, columns, rows)

    def artifact(self, name: str, folder: Path, kind: str) -> None:
        self._take("artifact", name, folder, kind)

    def finish(self, failed: bool = False) -> None:
        self._take("finish", failed)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def records(file: Path) -> Iterator[Any]:
    """Yield the records of a .wandb file: a header of 7 bytes, then a LevelDB log of protocol buffers."""
    messages: Any = import_module("wandb.proto.wandb_internal_pb2")
    content, at, body = file.read_bytes(), 7, b""
    while at + 7 <= len(content):
        if (left := 32768 - at % 32768) < 7:
            at += left
            continue
        _, length, kind = struct.unpack("<IHB", content[at : at + 7])
        body += content[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in {1, 4}:  # a whole record, or its last part
            record = messages.Record()
            record.ParseFromString(body)
            body = b""
            yield record


def offline_files(run: Path) -> list[Path]:
    return sorted((run / "tracking").glob("wandb/offline-run-*/*.wandb"))


def noted_config(found: Sequence[Any]) -> dict[str, Any]:
    return {u.key: json.loads(u.value_json) for r in found if r.HasField("config") for u in r.config.update}


def history(found: Sequence[Any]) -> dict[str, Any]:
    items = [item for record in found if record.HasField("history") for item in record.history.item]
    return {"/".join(item.nested_key): json.loads(item.value_json) for item in items}


def steps(found: Sequence[Any]) -> list[int]:
    return [record.history.step.num for record in found if record.HasField("history")]


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """W&B as on a machine where it was never used."""
    for name in ("WANDB_MODE", "WANDB_RUN_ID", "WANDB_SWEEP_ID", "WANDB_PROJECT", "WANDB_DIR", "WANDB_RESUME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"WANDB_{name}_DIR", str(tmp_path / "wandb" / name))


def test_local_files_hold_what_was_noted_and_a_second_process_appends(tmp_path: Path) -> None:
    for value in (1.0, 2.0):
        with tracked(tmp_path) as trackers:
            trackers.config({"lambda": value})
            trackers.log({"f1": value})
            trackers.table("episodes", ["question", "F1"], [["Où\u2028?", value]])
    folder = tmp_path / "tracking"
    assert lines(folder / "metrics.jsonl") == [
        {"step": 0, "metrics": {"f1": 1.0}},
        {"step": 1, "metrics": {"f1": 2.0}},
    ]
    assert json.loads((folder / "config.json").read_text()) == {"lambda": 2.0}
    assert lines(folder / "tables" / "episodes.jsonl") == [{"question": "Où\u2028?", "F1": 2.0}]
    assert [line["step"] for line in lines(folder / "timings.jsonl")] == [0, 1]


def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    tracker = LocalTracker(tmp_path)
    tracker.log({"f1": 0.5}, 4)
    with (tmp_path / "metrics.jsonl").open("a") as out:
        out.write('{"step": 5, "metr')
    assert tracker.next_step() == 5
    assert [line["step"] for line in lines(tmp_path / "metrics.jsonl")] == [4]


def test_a_local_artifact_lists_the_files_but_no_lock(tmp_path: Path) -> None:
    saved = tmp_path / "controller"
    (saved / "inner").mkdir(parents=True)
    for name in ("manifest.json", "inner/arrays.npz", ".lock"):
        (saved / name).write_text("x")
    LocalTracker(tmp_path / "t").artifact("controller-x", saved, "model")
    noted = json.loads((tmp_path / "t" / "artifacts.json").read_text())
    assert noted == {"controller-x": {"kind": "model", "files": ["inner/arrays.npz", "manifest.json"]}}


@pytest.mark.parametrize("method", ["config", "log", "table", "artifact", "finish"])
def test_a_tracker_that_fails_is_given_up_with_one_warning(method: str, tmp_path: Path) -> None:
    warnings: list[str] = []
    healthy = Recorder()
    trackers = Trackers({"disk": Recorder(method), "other": healthy}, warn=warnings.append)
    for _ in range(2):
        trackers.config({})
        trackers.log({})
        trackers.table("t", [], [])
        trackers.artifact("a", tmp_path, "model")
    trackers.finish()
    assert len(warnings) == 1 and "disk" in warnings[0] and "No space left" in warnings[0]
    assert [name for name, _ in healthy.told] == ["config", "log", "table", "artifact"] * 2 + ["finish"]
    assert [what[1] for name, what in healthy.told if name == "log"] == [0, 1]


def test_local_files_that_cannot_be_read_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "tracking").mkdir()
    (tmp_path / "tracking" / "metrics.jsonl").write_text("not JSON\n")
    warnings: list[str] = []
    with tracked(tmp_path, warn=warnings.append) as trackers:
        trackers.log({"f1": 1.0})
    assert len(warnings) == 1 and "local files" in warnings[0]


def test_files_of_a_run_that_are_missing_stop_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from evidencegym.envs.settings import TaskSettings

    with tracked_run(tmp_path, TaskSettings(), {"seed": 3}) as tracker:
        tracker.training()
        tracker.evaluation()
    assert capsys.readouterr().err.count("could not be tracked") == 2
    assert json.loads((tmp_path / "tracking" / "config.json").read_text())["seed"] == 3


def test_a_run_that_fails_is_finished_as_failed(tmp_path: Path) -> None:
    recorder = Recorder()
    with pytest.raises(KeyboardInterrupt), tracked(tmp_path) as trackers:
        trackers.trackers["recorder"] = recorder
        raise KeyboardInterrupt
    assert recorder.told == [("finish", (True,))]


def test_a_negative_number_of_episodes_is_refused(tmp_path: Path) -> None:
    from evidencegym.envs.settings import TaskSettings

    with pytest.raises(ConfigError, match="tracking_episodes"), tracked_run(tmp_path, TaskSettings(), {}, episodes=-1):
        pass


def test_the_sample_of_episodes_is_the_same_whatever_the_order() -> None:
    results = [{"uid": f"q{i}"} for i in range(50)]
    chosen = sample(results, 7)
    assert len(chosen) == 7 and chosen == [r for r in results if r in chosen]
    assert sample(results[::-1], 7) == chosen[::-1]
    assert sample(results, 99) == results


def test_without_the_extra_the_command_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with (
        pytest.raises(BackendUnavailableError, match=r"pip install 'evidencegym\[wandb\]'"),
        tracked(tmp_path, "wandb"),
    ):
        pass
    assert cli.main(["evaluate", "--out", str(tmp_path), "--tracking", "wandb"]) == 1


def test_without_tracking_wandb_is_not_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from evidencegym.training.tracking import tracked\n"
        f"with tracked(Path({str(tmp_path)!r})) as t: t.log({{'a': 1.0}})\n"
        "print('wandb' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


def test_a_service_that_is_not_there_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb", reason="needs the extra wandb")

    def dead(**_: Any) -> None:
        raise wandb.errors.CommError("no such service\nand much more")

    monkeypatch.setattr(wandb, "init", dead)
    warnings: list[str] = []
    with tracked(tmp_path, "wandb", "online", warnings.append) as trackers:
        trackers.log({"f1": 1.0})
    assert warnings == ["tracking with W&B failed (no such service); the run goes on without it"]
    assert lines(tmp_path / "tracking" / "metrics.jsonl") == [{"step": 0, "metrics": {"f1": 1.0}}]


@pytest.mark.parametrize(
    ("mode", "environment", "expected"),
    [
        (None, {}, "offline"),
        (None, {"WANDB_MODE": "disabled"}, "disabled"),
        (None, {"WANDB_SWEEP_ID": "s"}, "online"),
        ("offline", {"WANDB_MODE": "online", "WANDB_SWEEP_ID": "s"}, "offline"),
        ("online", {}, "online"),
    ],
)
def test_nothing_goes_online_unasked(
    mode: Any, environment: dict[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = pytest.importorskip("wandb", reason="needs the extra wandb")
    given: dict[str, Any] = {}
    monkeypatch.setattr(wandb, "init", lambda **options: given.update(options))
    for name, value in {**environment, "WANDB_PROJECT": "own", "WANDB_RUN_ID": "agent1"}.items():
        monkeypatch.setenv(name, value)
    with tracked(tmp_path, "wandb", mode, lambda _: None):
        pass
    assert given["mode"] == expected
    assert given["id"] == "agent1" and given["resume"] == "allow" and "project" not in given


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run trained by one process and evaluated by another, both tracked by W&B without account or network."""
    pytest.importorskip("wandb", reason="needs the extra wandb")
    out = tmp_path_factory.mktemp("run")
    directories = {f"WANDB_{name}_DIR": str(out.parent / f"{out.name}-{name}") for name in ("DATA", "CACHE", "CONFIG")}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**directories, "WANDB_API_KEY": KEY}.items():
            patch.setenv(name, value)
        for name in ("WANDB_MODE", "WANDB_RUN_ID", "WANDB_SWEEP_ID", "WANDB_PROJECT", "WANDB_DIR", "WANDB_RESUME"):
            patch.delenv(name, raising=False)
        for command in (["train", *FIT], ["evaluate", "--cost_weight", "0.1", "--tracking_episodes", "5"]):
            arguments = [*command, *SMALL, "--out", str(out), "--tracking", "wandb"]
            done = subprocess.run(
                [sys.executable, "-P", "-m", "evidencegym.cli", *arguments],
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            assert done.returncode == 0, done.stderr
            assert "tracked" not in done.stderr and "tracking" not in done.stderr
    return out


def test_two_processes_write_one_run(run: Path) -> None:
    first, second = (list(records(file)) for file in offline_files(run))
    stored = json.loads((run / "tracking" / "wandb_run.json").read_text())["id"]
    runs = [record.run for found in (first, second) for record in found if record.HasField("run")]
    assert [r.run_id for r in runs] == [stored, stored] and all(r.resume and r.project == "evidencegym" for r in runs)
    assert steps(first) == [0] and steps(second) == [1]
    assert [line["step"] for line in lines(run / "tracking" / "metrics.jsonl")] == [0, 1]


def test_the_configuration_is_that_of_the_command(run: Path) -> None:
    trained, evaluated = (noted_config(list(records(file))) for file in offline_files(run))
    controller = json.loads((run / "controller" / "manifest.json").read_text())
    assert trained["fit"]["trees"] == 5 and trained["caps"]["steps"] == 4 and trained["seed"] == 0
    assert trained["train_questions"] == 12 and "numpy" in trained["versions"]
    assert trained["controller"]["generator"] == controller["generator"]
    assert trained["controller"]["data"] == controller["data"] and trained["collection"]["retriever"]
    assert evaluated["cost_weight"] == 0.1 and evaluated["evaluation"]["n_questions"] == 8


def test_the_metrics_are_those_of_the_local_file(run: Path) -> None:
    for file, line in zip(offline_files(run), lines(run / "tracking" / "metrics.jsonl")):
        found = history(list(records(file)))
        assert line["metrics"] and {name: found[name] for name in line["metrics"]} == line["metrics"]


def test_the_metrics_are_those_of_the_run(run: Path) -> None:
    import pyarrow.parquet as pq

    trained, evaluated = (line["metrics"] for line in lines(run / "tracking" / "metrics.jsonl"))
    rows = pq.read_table(run / "collection" / "rows.parquet").to_pylist()
    gains = [r["support_recall_after"] - r["support_recall"] for r in rows if r["operation"] == "retrieve_more"]
    assert trained["train/rows"] == len(rows) and trained["train/operations/retrieve_more/rows"] == len(gains)
    assert trained["train/operations/retrieve_more/mean_gain"] == pytest.approx(sum(gains) / len(gains))
    comparison = json.loads((run / "evaluation" / "comparison.json").read_text())
    for protocol in ("equal", "free"):
        for method, columns in comparison[protocol]["means"].items():
            for name, interval in columns.items():
                assert evaluated[f"evaluation/{protocol}/{method}/{name}"] == interval["mean"]
                assert evaluated[f"evaluation/{protocol}/{method}/{name}_low"] == interval["low"]
    results = lines(run / "evaluation" / "free" / "learned.jsonl")
    answered = [result["ledger"]["answer"]["prompt_tokens"] for result in results]
    assert evaluated["evaluation/free/learned/operations/answer/prompt_tokens"] == pytest.approx(sum(answered) / 8)


def test_the_sweep_looks_at_a_metric_that_is_tracked(run: Path) -> None:
    metric = yaml.safe_load(SWEEP.read_text(encoding="utf-8"))["metric"]
    assert metric["name"] in lines(run / "tracking" / "metrics.jsonl")[1]["metrics"]


def test_the_costs_of_the_operations_add_up_to_the_retrievals(run: Path) -> None:
    comparison = json.loads((run / "evaluation" / "comparison.json").read_text())
    costs = lines(run / "tracking" / "tables" / "operation_costs.jsonl")
    for method, columns in comparison["free"]["means"].items():
        own = [row["retrievals"] for row in costs if row["protocol"] == "free" and row["method"] == method]
        assert sum(own) == pytest.approx(columns["retrievals"]["mean"])


def test_the_table_of_episodes_is_read_back(run: Path) -> None:
    found = history(list(records(offline_files(run)[1])))
    table = json.loads((offline_files(run)[1].parent / "files" / found["episodes/path"]).read_text(encoding="utf-8"))
    local = lines(run / "tracking" / "tables" / "episodes.jsonl")
    assert len(table["data"]) == found["episodes/nrows"] == len(local) == 5
    assert [dict(zip(table["columns"], row)) for row in table["data"]] == local
    results = {r["question"]: r for r in lines(run / "evaluation" / "free" / "learned.jsonl")}
    for row in local:
        result = results[row["question"]]
        assert row["answer"] == result["answer"] and row["F1"] == result["metrics"]["answer_f1"]
        assert row["gold"] == " | ".join(result["gold"]["answers"])
        assert row["operations"].split(" > ") == result["operations"]


def test_the_controller_is_an_artifact(run: Path) -> None:
    artifacts = [r.artifact for r in records(offline_files(run)[0]) if r.HasField("artifact")]
    (controller,) = [a for a in artifacts if a.type == "model"]
    assert controller.name == "controller-synthetic"
    for content in controller.manifest.contents:
        assert Path(content.local_path).read_bytes() == (run / "controller" / content.path).read_bytes()
    assert sorted(c.path for c in controller.manifest.contents) == ["arrays.npz", "manifest.json"]


def test_the_key_of_the_account_is_written_nowhere(run: Path) -> None:
    written = [file for file in run.rglob("*") if file.is_file()]
    assert written and [file for file in written if KEY.encode() in file.read_bytes()] == []


def test_the_sweep_is_no_configuration() -> None:
    assert SWEEP.is_file()
    with pytest.raises(ConfigError) as refused:
        configs.path("sweep")
    assert str(refused.value).count("sweep") == 1


def test_a_point_of_the_sweep_is_a_command_that_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The arguments are made as W&B's agent makes them, and the shell hands them to a stand-in that prints them."""
    utils = pytest.importorskip("wandb.sdk.launch.sweeps.utils", reason="needs the extra wandb")
    if sys.platform == "win32":
        pytest.skip("the sweep's command needs a POSIX shell")
    sweep = yaml.safe_load(SWEEP.read_text(encoding="utf-8"))
    point = {name: {"value": parameter["values"][-1]} for name, parameter in sweep["parameters"].items()}
    arguments = utils.create_sweep_command_args({"args": point})["args"]
    command = [part for word in sweep["command"] for part in (arguments if word == "${args}" else [word])]
    stand_in = tmp_path / "evidencegym"
    stand_in.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    stand_in.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "RUN": str(tmp_path / "a run"), "WANDB_RUN_ID": "p1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
    config = cli.build_parser().parse_args(cli.with_shipped_config(done.stdout.splitlines()))["evaluate"]
    assert config.cost_weight == 0.5 and config.caps.steps == 4 and config.tracking == "wandb"
    assert config.out == tmp_path / "a run" / "sweep" / "p1" and config.dataset == "hotpotqa"
