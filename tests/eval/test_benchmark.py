"""The benchmark as a whole, on the small corpus."""

import json
from pathlib import Path

import pytest

from evidencegym.controllers.action_rows import row_names
from evidencegym.controllers.forest import ForestController
from evidencegym.data.errors import ManifestMismatchError
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.benchmark import Benchmark, run_benchmark
from evidencegym.eval.comparison import column
from evidencegym.eval.results import read_results
from tests.controllers.models import COSTS, FEATURES, OPERATIONS, forest, trees
from tests.small_world import engine, records

SETTINGS = TaskSettings()


def run(folder: Path, controller: ForestController | None = None, seed: int = 0, **settings: object) -> Benchmark:
    task = TaskSettings(**settings) if settings else SETTINGS  # type: ignore[arg-type]
    return run_benchmark(task, records(), engine(), controller or forest(), folder, seed)


def content(folder: Path) -> dict[str, bytes]:
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and "timings" not in file.name)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("benchmark")
    run(made)
    return made


def test_it_writes_everything_it_compares(folder: Path) -> None:
    methods = {
        "equal": ["fixed-4", "learned", "oracle", "uniform"],
        "free": ["fixed-1", "fixed-2", "fixed-3", "fixed-4", "learned", "oracle", "uniform"],
        "matched": ["uniform-1", "uniform-2", "uniform-3", "uniform-4"],
    }
    files = {f"{protocol}/{name}.jsonl" for protocol, names in methods.items() for name in names}
    files |= {"comparison.json", "tables.md", "environment.json", "manifest.json"}
    assert set(content(folder)) == files
    numbers = json.loads((folder / "comparison.json").read_text())
    assert set(numbers) == {"equal", "free", "matched"}
    results = read_results(folder / "equal" / "learned.jsonl")
    assert numbers["equal"]["means"]["learned"]["support_recall"]["mean"] == pytest.approx(
        column(results, "support_recall").mean()
    )
    assert set(numbers["equal"]["differences"]) == {"uniform", "fixed-4", "oracle"}
    assert set(numbers["matched"]["support_recall"]) == {"fixed-k", "uniform"}
    assert "python" in json.loads((folder / "environment.json").read_text())


def test_the_oracle_bounds_every_method(folder: Path) -> None:
    for protocol in ("equal", "free"):
        bound = column(read_results(folder / protocol / "oracle.jsonl"), "support_recall")
        for file in sorted((folder / protocol).glob("*.jsonl")):
            if "timings" not in file.name:
                assert (bound >= column(read_results(file), "support_recall")).all()


def test_running_again_changes_no_byte_and_a_rest_is_completed(folder: Path, tmp_path: Path) -> None:
    run(tmp_path)
    assert content(tmp_path) == content(folder)
    (tmp_path / "free" / "uniform.jsonl").unlink()
    (tmp_path / "comparison.json").unlink()
    learned = tmp_path / "equal" / "learned.jsonl"
    learned.write_bytes(learned.read_bytes()[:-700])
    run(tmp_path)
    assert content(tmp_path) == content(folder)


def test_another_controller_seed_or_task_is_refused(folder: Path) -> None:
    before = content(folder)
    with pytest.raises(ManifestMismatchError, match="another controller; "):
        run(folder, forest(seed=3))
    with pytest.raises(ManifestMismatchError, match="another controller, cost_weight"):
        run(folder, forest(cost_weight=0.5))
    with pytest.raises(ManifestMismatchError, match="another seed"):
        run(folder, seed=1)
    with pytest.raises(ManifestMismatchError, match="another rules"):
        run(folder, disabled=["gap_query"], closed_book=True)
    with pytest.raises(ManifestMismatchError, match="another n_questions, questions"):
        run_benchmark(SETTINGS, records()[:3], engine(), forest(), folder)
    assert content(folder) == before


def test_the_tables_are_markdown(folder: Path) -> None:
    text = (folder / "tables.md").read_text()
    assert "synthetic, at equal documents (8 questions" in text and "synthetic, free stopping" in text
    assert "Support recall at matched mean retrievals" in text
    assert text.count("| learned |") == 2 and text.endswith("|\n")


def test_progress_names_protocol_and_method(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    run_benchmark(SETTINGS, records(), engine(), forest(), tmp_path, progress=lambda *n: seen.append(n))
    assert ("equal: learned", 8, 8) in seen and ("matched: uniform-4", 8, 8) in seen


def test_a_note_in_the_manifest_makes_no_other_controller(folder: Path) -> None:
    width = len(row_names(FEATURES, OPERATIONS))
    same = ForestController(trees(width, 0), FEATURES, OPERATIONS, COSTS, manifest={"note": "other"})
    assert content(run(folder, same).folder) == content(folder)
