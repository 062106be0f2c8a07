"""A benchmark whose runs read with another generator than their own, and with fewer passages in the context."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data.errors import ConfigError, ManifestMismatchError
from evidencegym.eval.suite.benchmark import Benchmark
from evidencegym.eval.suite.ground import Ground
from evidencegym.eval.suite.settings import AnalysisSettings, MethodSettings, SourceSettings
from evidencegym.eval.suite.trained import Trained, open_trained
from evidencegym.generation.chat_settings import ChatSettings
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.generation.recording_settings import LIVE, RecordingSettings
from tests.generation.fake_server import FakeServer, serving

from .small_runs import SOURCE, content, without_analyses, write_run

OWN = ExtractiveGenerator.default().fingerprint
METHODS: dict[str, Any] = {"datasets": ["synthetic"], "protocols": ["free"], "baselines": ["fixed_2", "uniform"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "synthetic", ranked=True)


def benchmark(run: Path, out: Path, source: SourceSettings, fit: Any = None, **methods: Any) -> Path:
    """Run a comparison of four questions without analyses; returns the folder of the data set."""
    chosen = MethodSettings(**METHODS | {"runs": str(run), "sample": 4} | methods)
    analyses = AnalysisSettings(**without_analyses(transfer=False))
    Benchmark(chosen, analyses, source, out, 0, fit).run()
    return out / "synthetic"


def chat(server: FakeServer, **more: Any) -> ChatSettings:
    pytest.importorskip("openai", reason="needs the extra chat")
    pytest.importorskip("tenacity", reason="needs the extra chat")
    return ChatSettings(server.url, model="tiny", concurrency=4, retries=0, **more)


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return found


def test_the_generator_of_the_run_may_be_named(run: Path, tmp_path: Path) -> None:
    plain = benchmark(run, tmp_path / "plain", SOURCE)
    named = benchmark(run, tmp_path / "named", replace(SOURCE, generator="packaged"))
    assert content(plain) == content(named) and manifest(named)["generator"] == OWN


def test_a_saved_generator_reads_in_its_place(run: Path, tmp_path: Path) -> None:
    ExtractiveGenerator.default().save(tmp_path / "saved")
    saved = benchmark(run, tmp_path / "out", replace(SOURCE, generator=str(tmp_path / "saved")))
    assert manifest(saved)["generator"] == OWN


def test_a_language_model_is_driven_recorded_and_replayed(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.db"
    with serving() as server:
        settings = chat(server)
        recorded = replace(SOURCE, generator="chat", chat=settings, recording=RecordingSettings("record", file))
        live = benchmark(run, tmp_path / "live", recorded)
        asked = len(server.bodies)
        assert asked
    replayed = replace(SOURCE, generator="chat", recording=RecordingSettings("replay", file))
    assert content(benchmark(run, tmp_path / "replay", replayed)) == content(live)
    noted = manifest(live)
    assert (noted["generator"], noted["unit"]) == (settings.fingerprint, "tokens")
    own = manifest(benchmark(run, tmp_path / "own", SOURCE))
    for key, method in noted["methods"].items():
        assert method["policy"] == own["methods"][key]["policy"]
        assert method["engine"] != own["methods"][key]["engine"]


def test_another_generator_does_not_go_on_in_a_folder(run: Path, tmp_path: Path) -> None:
    benchmark(run, tmp_path, SOURCE)
    with serving() as server:
        other = replace(SOURCE, generator="chat", chat=chat(server))
        with pytest.raises(ManifestMismatchError, match="another generator"):
            benchmark(run, tmp_path, other)
    assert not server.bodies


def test_the_context_is_limited(run: Path, tmp_path: Path) -> None:
    with serving() as server:
        source = replace(SOURCE, generator="chat", chat=chat(server), context_documents=2)
        folder = benchmark(run, tmp_path, source, baselines=["fixed_4"])
        shown = [passages_of(body) for body in server.bodies]
    assert max(shown) == 2
    learned = manifest(folder)["methods"]["free/learned"]
    assert learned["caps"]["context_documents"] == 2 and learned["caps"]["documents_per_retrieval"] == 3
    held = [json.loads(line) for line in (folder / "free" / "fixed_4.jsonl").read_text(encoding="utf-8").splitlines()]
    assert max(len(result["passages"]) for result in held) > 2
    with pytest.raises(ManifestMismatchError, match="another caps"), serving() as server:
        benchmark(run, tmp_path, replace(source, chat=chat(server), context_documents=3), baselines=["fixed_4"])


def passages_of(body: dict[str, Any]) -> int:
    """Return how many passages a request shows, or 0 where it shows snippets."""
    text = str(body["messages"][1]["content"])
    evidence = text[text.index("<evidence>") : text.index("</evidence>")]
    return sum("passage" in json.loads(line) for line in evidence.splitlines()[1:] if line.startswith("{"))


def test_the_run_is_opened_with_what_is_named(run: Path) -> None:
    named = ChatSettings(model="m")
    recording = RecordingSettings("replay", Path("r.db"))
    other = SourceSettings(generator="chat", chat=named, recording=recording, context_documents=6)
    task = open_trained(run, "synthetic", other).settings
    assert (task.generator, task.chat, task.caps.context_documents) == ("chat", named, 6)
    assert task.recording == recording  # the run's generator is not that of the recording
    own = open_trained(run, "synthetic", SourceSettings(recording=recording))
    assert (own.settings.generator, own.settings.recording.backend) == ("packaged", OWN)
    assert own.own_generator and own.settings.caps.context_documents == 12


def test_adaptive_belongs_to_the_run_and_is_fitted_with_its_generator(run: Path, tmp_path: Path) -> None:
    seen = []

    def fit(trained: Trained, ground: Ground, questions: int) -> Any:
        seen.append((trained, ground))
        raise ConfigError("seen")

    with serving() as server:
        recording = RecordingSettings("record", tmp_path / "r.db")
        settings = chat(server)
        source = replace(SOURCE, generator="chat", chat=settings, context_documents=3, recording=recording)
        with pytest.raises(ConfigError, match="seen"):
            benchmark(run, tmp_path / "out", source, fit, baselines=["adaptive"])
    [(trained, ground)] = seen
    assert trained.own_generator and trained.settings.generator == "packaged" and trained.settings.recording == LIVE
    assert trained.settings.caps.context_documents == 12 and trained.generator().fingerprint == OWN
    assert ground.generator.fingerprint == settings.fingerprint


@pytest.mark.parametrize("number", [0, -1])
def test_a_context_without_passages_is_refused(number: int) -> None:
    with pytest.raises(ConfigError, match="context_documents must be at least 1"):
        SourceSettings(context_documents=number)
