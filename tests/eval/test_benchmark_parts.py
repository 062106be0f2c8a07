"""Parts of a benchmark on small worlds: protocols, regret, importance, samples, transfer, classifier, command."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencegym import cli
from evidencegym.actions.caps import Caps
from evidencegym.actions.engine import Engine
from evidencegym.actions.rules import Rules
from evidencegym.configs import path
from evidencegym.controllers.base import Controller, Decision, best_valid
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import ConfigError, ManifestMismatchError
from evidencegym.data.support_scores import support_recall
from evidencegym.envs.build import build_retriever, build_rules, load_records
from evidencegym.envs.rollout import rollout
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.oracle import attainable, plan
from evidencegym.eval.report_analysis import read_analysis
from evidencegym.eval.results import read_results
from evidencegym.eval.runner import Method, run_method
from evidencegym.eval.suite.baselines import baselines_of
from evidencegym.eval.suite.contender import Contender
from evidencegym.eval.suite.folder import BenchmarkFolder
from evidencegym.eval.suite.ground import open_ground, sample
from evidencegym.eval.suite.importance import importance_table
from evidencegym.eval.suite.plan import Plan
from evidencegym.eval.suite.protocol_comparison import compare_protocol
from evidencegym.eval.suite.protocols import PROTOCOLS
from evidencegym.eval.suite.regret import measure_regret
from evidencegym.eval.suite.settings import AnalysisSettings, MethodSettings
from evidencegym.eval.suite.summary import DataSetSummary, Summary
from evidencegym.eval.suite.trained import Trained, open_trained
from evidencegym.eval.suite.variants import transfer_table
from evidencegym.training.adaptive import prepare_adaptive
from tests.controllers.models import FEATURES, OPERATIONS, forest
from tests.fakes import OverlapGenerator
from tests.ranking.small_rankers import world_records, world_retriever
from tests.small_world import engine, records

from .small_runs import SOURCE, content, write_run
from .small_scores import scores

SETTINGS = TaskSettings()
EVERY = ["fixed_1", "fixed_4", "uniform", "ircot", "self_ask", "s2g", "corag"]


def contender(policy: object, **settings: object) -> Contender:
    task = replace(SETTINGS, **settings)  # type: ignore[arg-type]
    return Contender("regret", "free", task, policy, {}, engine(), records())  # type: ignore[arg-type]


@pytest.mark.parametrize(("protocol", "documents"), [("equal", 12), ("equal_with_checks", 12), ("equal_6", 6)])
def test_no_method_ends_with_more_documents_and_none_stops(protocol: str, documents: int) -> None:
    rules = build_rules(PROTOCOLS[protocol](SETTINGS))
    methods = baselines_of(EVERY, protocol, 4, [0], FEATURES, OPERATIONS, None)
    policies = {"learned": forest(), **{name: policy for name, policy, _ in methods}}
    assert "fixed_1" not in policies and len(policies) == len(EVERY)
    for name, policy in policies.items():
        searched = Engine(world_retriever(), OverlapGenerator())
        found = run_method(Method(name, rules, policy), world_records(), searched)
        held = [len(result["passages"]) for result in found]
        assert max(held) == documents, name
        assert {result["end"] for result in found} == {"cap"}


def test_probes_are_allowed_where_the_protocol_says_so() -> None:
    [(_, s2g, _)] = baselines_of(["s2g"], "equal", 4, [0], FEATURES, OPERATIONS, None)
    used = {
        protocol: run_method(Method("s2g", build_rules(PROTOCOLS[protocol](SETTINGS)), s2g), records(), engine())
        for protocol in ("equal", "equal_with_checks")
    }
    counts = {name: sum("sufficiency_check" in r["operations"] for r in found) for name, found in used.items()}
    assert counts["equal"] == 0 < counts["equal_with_checks"]


def test_protocols_follow_the_caps_and_what_the_task_disables() -> None:
    task = replace(SETTINGS, caps=Caps(steps=3, documents_per_retrieval=2), disabled=["gap_query"])
    longer = PROTOCOLS["equal_with_checks"](task)
    assert (longer.caps.steps, longer.caps.documents) == (6, 6)
    assert longer.disabled == ["gap_query", "stop_answer"]
    few = replace(SETTINGS, operations=["retrieve_more", "stop_answer"])
    assert PROTOCOLS["equal"](few).disabled == ["stop_answer"] and PROTOCOLS["free"](few) is few


def test_adaptive_needs_its_classifier() -> None:
    with pytest.raises(ConfigError, match="needs its fitted classifier"):
        list(baselines_of(["adaptive"], "free", 4, [0], FEATURES, OPERATIONS, None))


def test_smaller_samples_lie_within_larger_ones() -> None:
    everything = records()
    few, more = sample(everything, 3, 0), sample(everything, 5, 0)
    assert len(few) == 3 and set(few) <= set(more)
    assert more == [record for record in everything if record in more]
    assert sample(everything, 0, 0) == sample(everything, 99, 0) == everything
    assert len({tuple(r.uid for r in sample(everything, 3, seed)) for seed in range(20)}) > 1


def test_what_is_attainable_from_the_start_is_what_the_oracle_finds() -> None:
    rules, golds = Rules(), [record.gold for record in records() if record.gold]
    starts = [rules.start(record.question) for record in records()]
    planned = plan(records(), rules, engine())
    expected = [support_recall(gold, episode.final.passages) for gold, episode in zip(golds, planned)]
    assert attainable(starts, golds, rules, engine()) == expected
    ended = [episode.final for episode in planned]
    assert attainable(ended, golds, rules, engine()) == expected


def test_regret_is_measured_once_and_adds_up(tmp_path: Path) -> None:
    chosen, file = contender(UniformController(3)), tmp_path / "free.jsonl"
    found = measure_regret(chosen, file, batch=3)
    episodes = rollout([record.question for record in records()], Rules(), engine(), UniformController(3))
    for record, line, episode in zip(records(), found, episodes):
        assert record.gold is not None
        assert line["recall"] == [support_recall(record.gold, state.passages) for state in episode.states]
        assert line["bound"] == sorted(line["bound"], reverse=True) and line["bound"][-1] == line["recall"][-1]
        assert all(bound >= recall for bound, recall in zip(line["bound"], line["recall"]))
        assert line["operations"] == [step.operation for step in episode.steps]
    whole = file.read_bytes()
    file.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]) + b'{"torn')
    assert measure_regret(chosen, file) == found and file.read_bytes() == whole
    with pytest.raises(ConfigError, match="regret is that of a policy"):
        measure_regret(contender(None), file)


class Countdown(Controller):
    """Values retrieving the less, the more retrievals there were, and stopping at a half."""

    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Decision:
        values = np.where(mask > 0, -1.0, np.nan)
        values[:, OPERATIONS.index("retrieve_more")] += 2 - features[:, FEATURES.index("retrievals")] / 5
        values[:, OPERATIONS.index("stop_answer")] += 1.5
        return Decision(best_valid(values, mask), values)


def test_features_that_decide_nothing_have_no_importance() -> None:
    table = importance_table(contender(Countdown()), FEATURES, seed=1)
    rows = table.as_dict()["rows"]
    assert sorted(row["feature"] for row in rows) == sorted(FEATURES)
    assert rows[0]["feature"] == "retrievals" and rows[0]["changed"] > 0 and rows[0]["lost"] > 0
    assert {(row["changed"], row["lost"]) for row in rows[1:]} == {(0.0, 0.0)}
    assert importance_table(contender(Countdown()), FEATURES, seed=1) == table
    drawn = importance_table(contender(UniformController(0)), FEATURES).as_dict()["rows"]
    assert {row["changed"] for row in drawn} == {0.0} and drawn[0]["lost"] is None
    with pytest.raises(ConfigError, match="that of a controller"):
        importance_table(contender(None), FEATURES)


def test_transfer_takes_controller_and_ranker_from_elsewhere_and_the_reader_from_here(tmp_path: Path) -> None:
    own = open_trained(write_run(tmp_path / "own"), "synthetic", SOURCE)
    other = open_trained(write_run(tmp_path / "other", seed=2, ranked=True), "synthetic", SOURCE)
    ground = open_ground("synthetic", own, 0, 0)
    methods = MethodSettings(datasets=["synthetic"], protocols=["equal"], baselines=[])
    analyses = AnalysisSettings(ablations=[], oracle=False)
    made = list(Plan(ground, methods, analyses, {"elsewhere": other}, None, None, 0).contenders())
    assert [one.key for one in made] == ["equal/learned", "equal_transfer/from_elsewhere"]
    learned, moved = made
    assert moved.settings.ranker == str(tmp_path / "other" / "ranker") and learned.settings.ranker == "none"
    assert moved.noted == {"policy": "forest", "fingerprint": other.controller().fingerprint} != learned.noted
    assert moved.engine.generator is learned.engine.generator and moved.engine.ranker is not None
    assert moved.settings.disabled == learned.settings.disabled == ["stop_answer", "sufficiency_check"]


def test_the_classifier_is_fitted_once_for_a_run(tmp_path: Path) -> None:
    run = open_trained(write_run(tmp_path / "run"), "synthetic", SOURCE)
    questions, retriever = load_records(run.settings, "train"), build_retriever(run.settings)
    assert len(questions) == run.settings.train_questions == 6

    def prepare(number: int = 5) -> str:
        return prepare_adaptive(run.folder, run.settings, questions, retriever, run.seed, number).fingerprint

    first, made = prepare(), content(run.folder / "adaptive")
    assert prepare() == first and content(run.folder / "adaptive") == made
    manifest = json.loads(made["manifest.json"])
    assert sum(manifest["labels"].values()) == 5 and manifest["rules"]["ranked"] is False
    with pytest.raises(ManifestMismatchError, match="classifier fitted with another fitted_on"):
        prepare(4)


def test_a_manifest_without_rules_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    file = run / "controller" / "manifest.json"
    manifest = json.loads(file.read_text())
    del manifest["rules"]
    file.write_text(json.dumps(manifest))
    with pytest.raises(ManifestMismatchError, match="does not say how it was trained"):
        open_trained(run, "synthetic", SOURCE)


def test_the_command_runs_the_shipped_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "synthetic", ranked=True)
    out = ["--runs", str(tmp_path / "{dataset}"), "--out", str(tmp_path / "out"), "--passages", "300"]
    small = ["--dev_questions", "4", "--baselines", "[adaptive,fixed_4]", "--protocols", "[equal]", "--oracle", "false"]
    assert cli.main(["benchmark", "--config", "benchmark_synthetic", *out, *small]) == 0
    printed = capsys.readouterr().out
    assert "| learned |" in printed and "| adaptive |" in printed
    assert (tmp_path / "synthetic" / "adaptive" / "manifest.json").exists()
    assert read_analysis(tmp_path / "out" / "synthetic" / "analysis" / "tests_equal.json").rows
    tracked = (tmp_path / "out" / "tracking" / "metrics.jsonl").read_text()
    assert "benchmark/synthetic/equal/learned/support_recall" in tracked


@pytest.mark.parametrize("name", ["benchmark", "benchmark_synthetic"])
def test_the_shipped_configurations_are_read(name: str) -> None:
    parsed = cli.build_parser().parse_args(["benchmark", "--config", str(path(name))]).benchmark
    assert parsed.datasets and parsed.protocols and np.all(np.array(parsed.cost_grid) > 0)


def test_runs_and_engines_are_those_of_the_folder(tmp_path: Path) -> None:
    trained: Trained = open_trained(write_run(tmp_path / "run", ranked=True), "synthetic", SOURCE)
    ground = open_ground("synthetic", trained, 0, 0)
    plain, ranked = ground.engine("none"), ground.engine(trained.settings.ranker)
    assert isinstance(plain, Engine) and plain.ranker is None and ranked.ranker is not None
    assert ground.engine("none") is plain and ground.engine(trained.settings.ranker) is ranked


def test_the_transfer_matrix_has_rows_trained_on_and_columns_run_on() -> None:
    own, moved = (scores(name, support_recall=value, answer_f1=0.5) for name, value in (("learned", 1.0), ("x", 0.25)))
    summary = Summary(
        [
            DataSetSummary(ran, (compare_protocol(ran, "free", {"learned": own}),), (table,))
            for ran, other in (("hotpotqa", "musique"), ("musique", "hotpotqa"))
            for table in [transfer_table("free", ran, own, {f"from_{other}": moved})]
        ]
    )
    lines = summary.headline().splitlines()
    assert "| trained on | hotpotqa | musique |" in lines
    assert "| hotpotqa | 1.000 / 0.500 | 0.250 / 0.500 |" in lines
    assert "| musique | 0.250 / 0.500 | 1.000 / 0.500 |" in lines


def test_a_variant_is_fitted_beside_the_controller_of_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--passages", "300", "--train_questions", "8", "--fit.trees", "5", "--fit.jobs", "1"]
    run = ["train", "--out", str(tmp_path / "run"), *small]
    assert cli.main(run) == 0
    own = content(tmp_path / "run" / "controller")
    assert cli.main([*run, "--fit.targets", "q_lambda", "--variant", "q_lambda"]) == 0
    assert content(tmp_path / "run" / "controller") == own
    trained = open_trained(tmp_path / "run", "synthetic", SOURCE)
    assert list(trained.others()) == ["q_lambda"]
    other = trained.controller(folder=trained.others()["q_lambda"])
    assert other.manifest["fit"]["targets"] == "q_lambda" and other.fingerprint != trained.controller().fingerprint
    for refused in (["--variant", "a/b"], ["--variant", "a", "--evaluate", "true"]):
        assert cli.main([*run, *refused]) == 1
        assert "takes a name without a folder" in capsys.readouterr().err


def test_blocks_of_questions_change_no_byte(tmp_path: Path) -> None:
    whole = [contender(UniformController(1)), replace(contender(forest()), name="forest")]
    whole.append(replace(whole[0], name="part", records=records()[2:7:2]))
    for number, block in enumerate((512, 3)):
        folder = BenchmarkFolder(tmp_path / str(number), {"dataset": "synthetic"})
        folder.begin(whole)
        folder.run(whole, block=block)
    assert content(tmp_path / "0") == content(tmp_path / "1")
    found = [result["uid"] for result in read_results(tmp_path / "1" / "regret" / "part.jsonl")]
    assert found == [record.uid for record in records()[2:7:2]]


def test_a_method_that_was_noted_but_never_run_may_change(tmp_path: Path) -> None:
    folder = BenchmarkFolder(tmp_path, {"dataset": "synthetic"})
    folder.begin([contender(UniformController(1))])
    other = replace(contender(UniformController(2)), noted={"seed": 2})
    folder.begin([other])
    folder.run([other])
    with pytest.raises(ManifestMismatchError, match=r"regret/free was begun with another policy; delete .*free\.jsonl"):
        BenchmarkFolder(tmp_path, {"dataset": "synthetic"}).begin([contender(UniformController(1))])
    with pytest.raises(ManifestMismatchError, match="holds a benchmark with another dataset"):
        BenchmarkFolder(tmp_path, {"dataset": "musique"})
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(ManifestMismatchError, match="holds results without manifest"):
        BenchmarkFolder(tmp_path, {"dataset": "synthetic"})


def test_a_line_deleted_by_hand_comes_back_in_its_place(tmp_path: Path) -> None:
    chosen, folder = replace(contender(UniformController(1)), protocol="free"), BenchmarkFolder(tmp_path, {})
    folder.begin([chosen])
    folder.run([chosen])
    file = folder.file("free", chosen.name)
    before = file.read_bytes()
    file.write_bytes(b"".join(before.splitlines(keepends=True)[1:]))
    folder.run([chosen])
    assert file.read_bytes() == before
    lines = measure_regret(chosen, tmp_path / "regret.jsonl")
    left = (tmp_path / "regret.jsonl").read_bytes().splitlines(keepends=True)[2:]
    (tmp_path / "regret.jsonl").write_bytes(b"".join(left))
    assert measure_regret(chosen, tmp_path / "regret.jsonl") == lines


def test_two_methods_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = [contender(UniformController(1)), contender(UniformController(1))]
    with pytest.raises(ConfigError, match="several methods are called regret/free; name each of seeds, caps and cost_"):
        BenchmarkFolder(tmp_path, {}).begin(twice)
    assert not (tmp_path / "manifest.json").exists()


def test_methods_that_are_compared_run_on_the_same_questions(tmp_path: Path) -> None:
    capped = replace(contender(UniformController(1)), protocol="caps")
    folder = BenchmarkFolder(tmp_path, {"dataset": "synthetic"})
    folder.begin([capped])
    few = {"records": records()[:3], "name": "other"}
    folder.begin([replace(capped, **few)])  # nothing was run yet
    folder.run([capped])
    for protocol in ("caps", "frontier"):
        with pytest.raises(
            ManifestMismatchError, match=f"{protocol}/other would run on other questions than caps/free"
        ):
            folder.begin([replace(capped, protocol=protocol, **few)])
    folder.begin([replace(capped, protocol=protocol, **few) for protocol in ("oracle", "free_ablations")])


def test_retriever_and_encoder_are_those_of_the_training(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    file = run / "controller" / "manifest.json"
    manifest = json.loads(file.read_text())
    chosen = replace(SETTINGS.retrieval, frontier="dense", targeted="bm25")
    encoder = replace(SETTINGS.encoder, model="someone/encoder", max_tokens=64)
    file.write_text(json.dumps(manifest | {"retrieval_source": chosen.source(), "encoder_source": encoder.source()}))
    settings = open_trained(run, "synthetic", SOURCE).settings
    assert settings.retrieval == chosen and settings.encoder == encoder


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"protocols": []}, "at least one of datasets, one of seeds and one of protocols"),
        ({"datasets": ["musique", "musique"]}, "datasets must not repeat a value"),
        ({"seeds": [1, 1]}, "seeds must not repeat a value, found 1, 1"),
        ({"protocols": ["free", "free"]}, "protocols must not repeat a value"),
    ],
)
def test_methods_that_cannot_run_are_refused(given: dict[str, list[object]], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        MethodSettings(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [{"caps": [2, 2]}, {"cost_grid": [float("nan")]}, {"cost_grid": [float("inf")]}])
def test_analyses_that_cannot_run_are_refused(given: dict[str, list[float]]) -> None:
    with pytest.raises(ConfigError, match=r"must not repeat a value|cost_grid above 0 .* and finite"):
        AnalysisSettings(**given)  # type: ignore[arg-type]


def test_the_folder_of_a_run_is_no_place_for_a_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "synthetic")
    given = ["benchmark", "--datasets", "[synthetic]", "--runs", f"{tmp_path}/{{dataset}}", "--out", out]
    assert cli.main(given) == 1
    assert "--out is the folder of a run" in capsys.readouterr().err
