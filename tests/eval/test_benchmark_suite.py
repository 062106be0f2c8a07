"""The benchmark as a whole: what it writes, that it resumes and grows, what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest

from evidencegym.actions.workers import Workers
from evidencegym.data.errors import ConfigError, DataError, ManifestMismatchError
from evidencegym.eval.report import write_report
from evidencegym.eval.report_analysis import read_analysis
from evidencegym.eval.results import read_results
from evidencegym.eval.suite.settings import AnalysisSettings, MethodSettings

from .small_runs import benchmark, content, without_analyses, write_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "synthetic", ranked=True)


@pytest.fixture(scope="module")
def out(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("benchmark")
    benchmark(runs, made, {"baselines_with_ranker": True})
    return made


def methods_of(folder: Path) -> list[str]:
    return sorted(file.stem for file in folder.glob("*.jsonl") if "timings" not in file.name)


def test_it_writes_a_file_a_method_and_protocol(out: Path) -> None:
    place = out / "synthetic"
    compared = ["fixed_4", "fixed_4+ranker", "learned", "s2g", "s2g+ranker"]
    drawn = [f"uniform{ranker}-seed{seed}" for ranker in ("+ranker", "") for seed in (0, 1)]
    assert methods_of(place / "free") == methods_of(place / "equal") == sorted(compared + drawn)
    capped = [f"{name}-steps2" for name in ("learned", "s2g", "uniform-seed0", "uniform-seed1")]
    assert methods_of(place / "caps") == capped
    assert methods_of(place / "frontier") == ["retrievals-0.5", "tokens-0.5"]
    ablated = ["no_gap_query", "no_ranker", "no_veto", "uniform-seed0", "uniform-seed1"]
    assert methods_of(place / "free_ablations") == ablated and not (place / "equal_ablations").exists()
    assert methods_of(place / "oracle") == methods_of(place / "regret") == ["equal", "free"]


def test_it_writes_the_analyses(out: Path) -> None:
    found = {file.stem for file in (out / "synthetic" / "analysis").iterdir()}
    per_protocol = {f"{name}_{p}" for name in ("tests", "slices", "operations", "regret") for p in ("free", "equal")}
    single = {"ablations_free", "stops_free", "caps", "frontier_retrievals", "frontier_tokens", "frontier_area"}
    assert found == per_protocol | single | {"equal_recall", "importance", "oracle"}


def test_every_method_of_a_protocol_holds_the_same_questions_and_the_analyses_a_part(out: Path) -> None:
    place = out / "synthetic"
    uids = [result["uid"] for result in read_results(place / "free" / "learned.jsonl")]
    assert len(uids) == 8
    assert [result["uid"] for result in read_results(place / "equal" / "s2g.jsonl")] == uids
    some = [result["uid"] for result in read_results(place / "caps" / "learned-steps2.jsonl")]
    assert len(some) == 5 and some == [uid for uid in uids if uid in some]
    few = [result["uid"] for result in read_results(place / "oracle" / "free.jsonl")]
    assert len(few) == 3 and set(few) <= set(some)


def test_the_summary_holds_the_means_of_the_files(out: Path) -> None:
    summary = json.loads((out / "summary.json").read_text())["synthetic"]["protocols"]
    for protocol in ("free", "equal"):
        results = read_results(out / "synthetic" / protocol / "learned.jsonl")
        means = summary[protocol]["means"]["learned"]
        for name in ("support_recall", "answer_f1", "answer_em"):
            expected = np.mean([result["metrics"][name] for result in results])
            assert means[name]["mean"] == pytest.approx(expected)
        spent = [result["cost"]["prompt_tokens"] + result["cost"]["completion_tokens"] for result in results]
        assert means["tokens"]["mean"] == pytest.approx(np.mean(spent))
        assert means["documents"]["mean"] == pytest.approx(np.mean([len(result["passages"]) for result in results]))


def test_seeds_are_one_method_whose_values_are_their_mean(out: Path) -> None:
    summary = json.loads((out / "summary.json").read_text())["synthetic"]["protocols"]["free"]
    assert {name for name in summary["means"] if "uniform" in name} == {"uniform", "uniform+ranker"}
    assert summary["seeds"] == {"uniform": 2, "uniform+ranker": 2}
    place = out / "synthetic" / "free"
    seeds = [read_results(place / f"uniform-seed{seed}.jsonl") for seed in (0, 1)]
    found = [result["metrics"]["support_recall"] for results in seeds for result in results]
    assert summary["means"]["uniform"]["support_recall"]["mean"] == pytest.approx(np.mean(found))


def test_the_family_of_tests_is_all_baselines_of_a_protocol(out: Path) -> None:
    analysis = read_analysis(out / "synthetic" / "analysis" / "tests_free.json")
    assert [row["baseline"] for row in analysis.rows] == [
        "fixed_4", "fixed_4+ranker", "s2g", "s2g+ranker", "uniform", "uniform+ranker",
    ]  # fmt: skip
    assert "family of 12 tests" in analysis.asks
    for row in analysis.rows:
        assert row["answer_f1_p"] <= row["answer_f1_p_holm"] <= 1
    place = out / "synthetic" / "free"
    learned, base = (read_results(place / f"{name}.jsonl") for name in ("learned", "fixed_4"))
    differences = [a["metrics"]["answer_f1"] - b["metrics"]["answer_f1"] for a, b in zip(learned, base)]
    assert analysis.rows[0]["answer_f1"] == pytest.approx(np.mean(differences), abs=1e-6)


def test_the_summary_is_markdown(out: Path) -> None:
    text = (out / "summary.md").read_text()
    assert text.startswith("# Benchmark\n\n**Free stopping**: support recall / F1 / retrievals\n")
    assert "### Equal documents: learned minus each baseline" in text and "### Cap sweep" in text
    assert "### Feature importance" in text and "### Free stopping: first stop" in text


def test_a_report_shows_it(out: Path, tmp_path: Path) -> None:
    written = write_report(out, tmp_path / "report.html")
    assert written.data_sets == ("synthetic",)
    assert "Cost at equal quality" in written.markdown.read_text()


def test_an_interrupted_benchmark_goes_on_to_the_same_bytes(runs: Path, out: Path, tmp_path: Path) -> None:
    seen: list[str] = []

    def interrupt(name: str, done: int, total: int) -> None:
        seen.append(name)
        if len(seen) in {9, 30}:
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            benchmark(runs, tmp_path, {"baselines_with_ranker": True}, progress=interrupt)
    assert not (tmp_path / "summary.md").exists()
    torn = tmp_path / "synthetic" / "free" / "learned.jsonl"
    torn.write_bytes(torn.read_bytes()[:-500])
    benchmark(runs, tmp_path, {"baselines_with_ranker": True})
    assert content(tmp_path) == content(out)


def test_running_again_changes_no_byte(runs: Path, out: Path) -> None:
    before = content(out)
    benchmark(runs, out, {"baselines_with_ranker": True})
    assert content(out) == before


def test_workers_change_no_result(runs: Path, tmp_path: Path) -> None:
    chosen = {"protocols": ["equal"], "baselines": ["uniform"]}
    benchmark(runs, tmp_path / "one", chosen, without_analyses())
    benchmark(runs, tmp_path / "two", chosen, without_analyses(), workers=Workers(2, "threading"))
    assert content(tmp_path / "one" / "synthetic") == content(tmp_path / "two" / "synthetic")
    assert (tmp_path / "two" / "index" / "synthetic").is_dir()


def test_it_grows_method_by_method(runs: Path, tmp_path: Path) -> None:
    few = without_analyses()
    benchmark(runs, tmp_path, {"protocols": ["equal"], "baselines": ["s2g"]}, few)
    assert methods_of(tmp_path / "synthetic" / "equal") == ["learned", "s2g"]
    summary = benchmark(runs, tmp_path, {"protocols": ["equal_6"], "baselines": ["ircot"]}, few)
    summary = benchmark(runs, tmp_path, {"protocols": ["equal"], "baselines": ["ircot"]}, few)
    [own] = summary.data_sets
    assert [list(comparison.means) for comparison in own.comparisons] == [
        ["learned", "ircot", "s2g"], ["learned", "ircot"],
    ]  # fmt: skip
    assert [len(comparison.tests) for comparison in own.comparisons] == [4, 2]


def test_a_method_made_from_something_else_is_refused_by_name(runs: Path, tmp_path: Path) -> None:
    few = without_analyses()
    chosen = {"protocols": ["equal"], "baselines": ["uniform"]}
    copy = tmp_path / "runs" / "synthetic"
    write_run(copy)
    benchmark(copy, tmp_path / "out", chosen, few)
    before = content(tmp_path / "out")
    with pytest.raises(ManifestMismatchError, match="equal/learned was begun with another policy; delete"):
        benchmark(copy, tmp_path / "out", {**chosen, "cost_weight": 0.5}, few)
    write_run(copy, seed=5)
    with pytest.raises(ManifestMismatchError, match="equal/learned was begun with another policy; delete"):
        benchmark(copy, tmp_path / "out", chosen, few)
    write_run(copy, ranked=True)
    with pytest.raises(ManifestMismatchError, match="equal/learned was begun with another engine, rules; delete"):
        benchmark(copy, tmp_path / "out", chosen, few)
    with pytest.raises(ManifestMismatchError, match="holds a benchmark with another n_questions, questions"):
        benchmark(copy, tmp_path / "out", {**chosen, "sample": 3}, few)
    with pytest.raises(ManifestMismatchError, match="holds a benchmark with another seed"):
        benchmark(copy, tmp_path / "out", chosen, few, seed=1)
    assert content(tmp_path / "out") == before


def test_further_controllers_of_a_run_are_ablations(tmp_path: Path) -> None:
    run = write_run(tmp_path / "synthetic")
    write_run(run, seed=4, name="controllers/q_lambda")
    chosen = {"protocols": ["free"], "baselines": []}
    benchmark(run, tmp_path / "out", chosen, without_analyses(ablations=["controllers"]))
    assert methods_of(tmp_path / "out" / "synthetic" / "free_ablations") == ["q_lambda"]
    analysis = read_analysis(tmp_path / "out" / "synthetic" / "analysis" / "ablations_free.json")
    assert [row["what"] for row in analysis.rows] == ["nothing", "another controller of the run"]


def test_a_run_without_a_ranker_is_an_ablation(runs: Path, tmp_path: Path) -> None:
    unranked = write_run(tmp_path / "unranked", seed=2)
    chosen = {"protocols": ["equal"], "baselines": [], "unranked": str(unranked)}
    wanted = without_analyses(ablations=["unranked", "no_ranker"], ablation_protocols=["equal"], analysis_questions=2)
    benchmark(runs, tmp_path / "out", chosen, wanted)
    made = json.loads((tmp_path / "out" / "synthetic" / "manifest.json").read_text())["methods"]
    learned, default, own = (made[f"equal{key}"] for key in ("/learned", "_ablations/no_ranker", "_ablations/unranked"))
    assert learned["rules"]["ranked"] and not default["rules"]["ranked"] and not own["rules"]["ranked"]
    assert learned["policy"] == default["policy"] != own["policy"]
    assert default["engine"] == own["engine"] != learned["engine"]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no trained controller; run `evidencegym train` first"):
        benchmark(tmp_path / "nothing", tmp_path / "out")
    run = write_run(tmp_path / "synthetic")
    with pytest.raises(ManifestMismatchError, match="expected a run of musique, found one of synthetic"):
        benchmark(run, tmp_path / "out", {"datasets": ["musique"]})


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (MethodSettings, {"protocols": ["equals"]}, "unknown protocols: equals; there are: free, equal"),
        (
            MethodSettings,
            {"baselines": ["fixed_0"]},
            "unknown baselines: fixed_0; there are: fixed_K, crag, crag_K, ircot",
        ),
        (MethodSettings, {"baselines": ["s2g", "s2g"]}, "must not repeat"),
        (MethodSettings, {"runs": "runs/mine"}, "must hold {dataset} where there are several"),
        (MethodSettings, {"sample": -1}, "sample must be at least 0"),
        (AnalysisSettings, {"ablations": ["no_luck"]}, "unknown ablations: no_luck"),
        (AnalysisSettings, {"cost_grid": [0.0]}, "cost_grid above 0"),
        (AnalysisSettings, {"caps": [0]}, "caps must be at least 1"),
        (AnalysisSettings, {"epsilon": 2.0}, "epsilon must be in"),
    ],
)
def test_settings_out_of_range_are_refused(kind: type, settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        kind(**settings)
