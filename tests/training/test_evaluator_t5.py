"""Training CRAG's evaluator on a tiny T5: it learns, the same seed gives the same bytes, and a killed run goes on."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import roc_auc_score

from evidencegym.confidence.base import EvaluateTask
from evidencegym.confidence.files import load_evaluator
from evidencegym.data.errors import ConfigError, DataError, ManifestMismatchError
from evidencegym.data.manifests import read_manifest
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.training.evaluator_t5 import T5Training, T5TrainSettings, train_t5
from tests.confidence.classifiers import tiny_cross_encoder, tiny_t5
from tests.training.separable import separable

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers", reason="needs the extra local")
    pytest.importorskip("torch", reason="needs the extra local")
    return tiny_t5(tmp_path_factory.mktemp("start") / "t5", head=False)


def settings(start: Path, **changed: Any) -> T5TrainSettings:
    quick = {"epochs": 3, "learning_rate": 3e-3, "batch_size": 8, "max_length": 64, "device": "cpu"}
    return T5TrainSettings(**{"model": str(start), **quick, **changed})


def train(start: Path, out: Path, count: int = 8, progress: Any = None, **changed: Any) -> T5Training:
    return train_t5(separable(count, seed=1), out, settings(start, **changed), progress)


def test_it_learns_to_tell_supporting_passages_from_others(start: Path, tmp_path: Path) -> None:
    done = train(start, tmp_path / "evaluator", count=40, epochs=6)
    assert (done.pairs, done.relevant) == (200, 80)
    assert done.losses[-1] < 0.5 * done.losses[0]
    held_out = separable(20, seed=2)
    retriever = BM25Retriever.build([passage for record in held_out for passage in record.context])
    evaluator = load_evaluator(done.folder, retriever)
    assert evaluator.thresholds is None
    tasks = [EvaluateTask(r.question.text, r.question.key, r.context) for r in held_out]
    scores = [score for row in evaluator.score(tasks) for score in row]
    labels = [p.id in r.gold.support_ids for r in held_out if r.gold for p in r.context]
    assert roc_auc_score(labels, scores) > 0.9


def test_the_same_seed_gives_the_same_folder(start: Path, tmp_path: Path) -> None:
    first, second = (train(start, tmp_path / name) for name in "ab")
    other = train(start, tmp_path / "c", seed=1)
    assert first.losses == second.losses != other.losses
    files = sorted(file.name for file in first.folder.iterdir())
    assert {"manifest.json", WEIGHTS, "config.json", "tokenizer.json"} <= set(files)
    assert [(first.folder / f).read_bytes() for f in files] == [(second.folder / f).read_bytes() for f in files]
    assert read_manifest(first.folder, "evaluator")["settings"]["model"] == "."
    assert not (tmp_path / "a.training").exists()


def test_a_folder_that_is_done_is_left_alone(start: Path, tmp_path: Path) -> None:
    first = train(start, tmp_path / "a", epochs=1)
    before = (first.folder / WEIGHTS).stat().st_mtime_ns
    assert train(start, tmp_path / "a", epochs=1, device="auto") == first
    assert (first.folder / WEIGHTS).stat().st_mtime_ns == before


SCRIPT = """
import os, signal, sys
from pathlib import Path
from tests.training.test_evaluator_t5 import train

def progress(done, total):
    if done == 2 * total // 3 + 1:  # within the last epoch
        os.kill(os.getpid(), signal.SIGKILL)

train(Path(sys.argv[1]), Path(sys.argv[2]), progress=progress)
"""


def test_a_killed_training_goes_on_to_the_same_weights(start: Path, tmp_path: Path) -> None:
    whole = train(start, tmp_path / "whole")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])}
    command = [sys.executable, "-P", "-c", SCRIPT, str(start), str(tmp_path / "killed")]
    killed = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert not (tmp_path / "killed").exists() and (tmp_path / "killed.training" / "state.pt").exists()
    seen: list[int] = []
    again = train(start, tmp_path / "killed", progress=lambda done, total: seen.append(done))
    assert seen == [11, 12, 13, 14, 15]  # five steps an epoch, two epochs kept
    assert again.losses == whole.losses
    assert (again.folder / WEIGHTS).read_bytes() == (whole.folder / WEIGHTS).read_bytes()


def stop(done: int, total: int) -> None:
    if done > total // 2:
        raise KeyboardInterrupt


def test_what_was_kept_of_another_training_or_is_damaged_is_refused(start: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "a", progress=stop)
    with pytest.raises(ManifestMismatchError, match="training of other questions or settings"):
        train(start, tmp_path / "a", seed=2)
    state = tmp_path / "a.training" / "state.pt"
    state.write_bytes(state.read_bytes()[:200])
    with pytest.raises(DataError, match=r"state\.pt: damaged state of a training .*delete it"):
        train(start, tmp_path / "a")


def test_a_folder_of_something_else_is_never_replaced(start: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="exists and is not a saved evaluator"):
        train(start, tmp_path, epochs=1)


def test_a_model_of_another_kind_is_refused(start: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected a T5 sequence classifier, .* is a bert"):
        train(tiny_cross_encoder(tmp_path / "bert"), tmp_path / "a")


@pytest.mark.parametrize(
    "wrong",
    [{"epochs": 0}, {"learning_rate": 0.0}, {"batch_size": 0}, {"max_length": 4}, {"negatives": -1}, {"seed": -1}],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    [(name, value)] = wrong.items()
    with pytest.raises(ConfigError, match=rf"{name}\b.* found .*{value}"):
        T5TrainSettings(**wrong)
