"""Recorded generators: what is recorded is replayed, without a model, the same to the bit."""

import multiprocessing
import pickle
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.workers import Workers
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import (
    BackendUnavailableError,
    ConfigError,
    DataError,
    EvidenceGymError,
    ManifestMismatchError,
    RecordingMissError,
    RequestFailedError,
)
from evidencegym.data.records import Passage
from evidencegym.eval.runner import Method, evaluate
from evidencegym.generation.base import Generator
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.generation.local_settings import LocalSettings
from evidencegym.generation.recording import RecordedGenerator
from evidencegym.generation.recording_settings import RecordingSettings
from evidencegym.generation.recording_store import Recording
from evidencegym.generation.tasks import (
    Answer,
    AnswerTask,
    CompressTask,
    Failed,
    Judgement,
    JudgeTask,
    RewriteTask,
    Snippet,
    Usage,
)
from tests.fakes import OverlapGenerator
from tests.small_world import engine, passages, records
from tests.unreliable import METHODS, UnreliableGenerator, by_hash

SOME = tuple(passages().values())[:4]
TASKS: dict[str, list[Any]] = {
    "answer": [
        AnswerTask("Where was Ilona Varga born?", SOME),
        AnswerTask("Where was Ilona Varga born?", SOME[:2]),
        AnswerTask("Where?", SOME, (Snippet(SOME[0].id, "A film.", 0), Snippet(SOME[1].id, "other", None))),
        AnswerTask("", ()),
    ],
    "judge_sufficiency": [JudgeTask("Where was Ilona Varga born?", SOME), JudgeTask("Odd \ud800 text, naïve?", ())],
    "rewrite": [RewriteTask("Where?", SOME, ("one", "two")), RewriteTask("Where?", SOME)],
    "compress": [CompressTask("Where?", SOME, 2, 64), CompressTask("Where?", SOME)],
}
RULES = Rules(operation_set("paper", compress_in_control=True), Caps(steps=8))
METHOD = Method("uniform", RULES, UniformController(3))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "recordings" / "some.db"


def ask_all(generator: Generator) -> dict[str, list[Any]]:
    return {kind: list(getattr(generator, kind)(tasks)) for kind, tasks in TASKS.items()}


@pytest.mark.parametrize("generator", [OverlapGenerator(), UnreliableGenerator(by_hash(0.5))])
def test_every_response_is_replayed_as_it_was(file: Path, generator: Generator) -> None:
    plain = ask_all(generator)
    recording = RecordedGenerator(generator, Recording(file))
    assert ask_all(recording) == plain and ask_all(recording) == plain
    replayed = RecordedGenerator(None, Recording(file, read_only=True), "replay")
    assert ask_all(replayed) == plain
    assert (replayed.fingerprint, replayed.unit, replayed.label) == ("overlap", "words", type(generator).__name__)


def test_what_is_recorded_is_not_asked_again(file: Path) -> None:
    generator = OverlapGenerator()
    recorded = RecordedGenerator(generator, Recording(file))
    first = TASKS["answer"][:2]
    recorded.answer([*first, *first])
    recorded.answer(TASKS["answer"])
    assert generator.calls == [("answer", 2), ("answer", 2)]
    assert ask_all(recorded)["answer"] == ask_all(OverlapGenerator())["answer"]


def test_requests_that_differ_in_anything_are_kept_apart(file: Path) -> None:
    whole = Passage.of("Ostra", ["It is long. It is cold."])
    cut = Passage.of("Ostra", ["It is long.", "It is cold."])
    tasks = [
        AnswerTask("q", (whole,)),
        AnswerTask("q", (cut,)),
        AnswerTask("q", (whole, cut)),
        AnswerTask("q", (cut, whole)),
        AnswerTask("q ", (whole,)),
        AnswerTask("q", (whole,), (Snippet(whole.id, "long", 0),)),
        AnswerTask("q", (whole,), (Snippet(whole.id, "long", None),)),
    ]
    assert whole.id == cut.id
    recorded = RecordedGenerator(OverlapGenerator(), Recording(file))
    recorded.answer(tasks)
    recorded.judge_sufficiency([JudgeTask("q", (whole,))])
    assert recorded.recording is not None
    assert [count.responses for count in recorded.recording.counts()] == [len(tasks), 1]


def test_numbers_of_numpy_come_back_as_numbers(file: Path) -> None:
    class Typed(OverlapGenerator):
        def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer]:
            usage = Usage(int(np.int64(3)), np.int64(2))  # type: ignore[arg-type]
            return [Answer("a", ((SOME[0].id, np.int64(1)),), np.float32(0.1), usage) for _ in tasks]  # type: ignore[arg-type]

        def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> list[Judgement]:
            return [Judgement(np.bool_(True), "", np.float64(1 / 3)) for _ in tasks]  # type: ignore[arg-type]

    recorded = RecordedGenerator(Typed(), Recording(file))
    [answer] = recorded.answer(TASKS["answer"][:1])
    assert answer == Answer("a", ((SOME[0].id, 1),), float(np.float32(0.1)), Usage(3, 2))
    [judgement] = recorded.judge_sufficiency(TASKS["judge_sufficiency"][:1])
    assert judgement == Judgement(True, "", 1 / 3) and judgement.sufficient is True  # type: ignore[union-attr]


def test_a_miss_names_kind_question_backend_and_file(file: Path) -> None:
    RecordedGenerator(OverlapGenerator(), Recording(file)).answer(TASKS["answer"][:1])
    replayed = RecordedGenerator(None, Recording(file, read_only=True), "replay")
    with pytest.raises(RecordingMissError) as miss:
        replayed.rewrite([RewriteTask("Which lamp?", SOME)])
    for part in ("'rewrite'", "4 passages", "'Which lamp?'", "OverlapGenerator", "overlap", str(file), "record"):
        assert part in str(miss.value)
    with pytest.raises(RecordingMissError):
        replayed.answer(TASKS["answer"])
    assert not issubclass(RecordingMissError, RequestFailedError), "an episode must not go on after a miss"


def test_a_generator_that_is_given_is_not_asked_when_replaying(file: Path) -> None:
    RecordedGenerator(OverlapGenerator(), Recording(file)).answer(TASKS["answer"])
    generator = OverlapGenerator()
    assert ask_all_answers(RecordedGenerator(generator, Recording(file, read_only=True), "replay"))
    with pytest.raises(RecordingMissError):
        RecordedGenerator(generator, Recording(file, read_only=True), "replay").compress(TASKS["compress"])
    assert generator.calls == []


def ask_all_answers(generator: Generator) -> list[Any]:
    return list(generator.answer(TASKS["answer"]))


def test_live_keeps_nothing(file: Path) -> None:
    generator = OverlapGenerator()
    live = RecordedGenerator(generator, Recording(file), "live")
    assert ask_all(live) == ask_all(OverlapGenerator()) == ask_all(RecordedGenerator(generator, None, "live"))
    assert Recording(file).counts() == []


def test_attributes_pass_through_and_replaying_needs_no_threads(file: Path) -> None:
    generator = UnreliableGenerator(by_hash(0), concurrency=7, max_batch=3)
    recorded = RecordedGenerator(generator, Recording(file))
    assert (recorded.concurrency, recorded.max_batch) == (7, 3)
    assert (recorded.fingerprint, recorded.unit, recorded.label) == ("overlap", "words", "UnreliableGenerator")
    recorded.answer(TASKS["answer"])
    replayed = RecordedGenerator(None, Recording(file, read_only=True), "replay")
    assert (replayed.concurrency, replayed.max_batch) == (0, None)


@pytest.mark.parametrize("remote", [(0, None), (4, 1), (2, 3)])
@pytest.mark.parametrize("raising", [False, True])
def test_an_evaluation_is_replayed_to_the_bit(tmp_path: Path, remote: tuple[int, int | None], raising: bool) -> None:
    file = tmp_path / "r.db"
    failing = UnreliableGenerator(by_hash(0.3), raising, *remote)
    made: list[bytes] = []
    for name, generator in {
        "plain": lambda: failing,
        "recorded": lambda: RecordedGenerator(failing, Recording(file)),
        "replayed": lambda: RecordedGenerator(None, Recording(file, read_only=True), "replay"),
    }.items():
        results = tmp_path / f"{name}.jsonl"
        evaluate(METHOD, records(), engine(generator()), results, batch=3)
        made.append(results.read_bytes())
    assert made[0] == made[1] == made[2]
    assert b'"failures"' in made[0]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_record_and_replay(tmp_path: Path, backend: str) -> None:
    crew = Workers(2, backend)
    made = []
    reader = ExtractiveGenerator.default()
    for mode, generator in (("record", reader), ("replay", None)):
        recorded = RecordedGenerator(generator, Recording(tmp_path / "r.db", mode == "replay"), mode)  # type: ignore[arg-type]
        evaluate(METHOD, records(), engine(recorded), tmp_path / f"{mode}.jsonl", batch=2, workers=crew)
        made.append((tmp_path / f"{mode}.jsonl").read_bytes())
    evaluate(METHOD, records(), engine(reader), tmp_path / "plain.jsonl")
    assert made[0] == made[1] == (tmp_path / "plain.jsonl").read_bytes()


def test_it_is_sent_to_another_process_by_name(file: Path) -> None:
    recorded = RecordedGenerator(OverlapGenerator(), Recording(file))
    assert ask_all(pickle.loads(pickle.dumps(recorded))) == ask_all(OverlapGenerator())
    replayed = pickle.loads(pickle.dumps(RecordedGenerator(None, Recording(file, read_only=True), "replay")))
    assert ask_all(replayed) == ask_all(OverlapGenerator()) and replayed.mode == "replay"


class Numbered(OverlapGenerator):
    """A generator that never answers twice alike."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._asked = 0
        self._name = name

    def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer]:
        self._asked += 1
        return [Answer(f"{self._name} {self._asked}") for _ in tasks]


def _write(file: Path, name: str, meeting: Any, out: Any) -> None:
    """Answer 150 questions from one end; after 40 the two wait for each other, so that neither is done alone."""
    recorded = RecordedGenerator(Numbered(name), Recording(file))
    order = list(range(150) if name == "left" else range(149, -1, -1))
    found = {number: _text(recorded, number) for number in order[:40]}
    meeting.wait(60)
    found |= {number: _text(recorded, number) for number in order[40:]}
    out.put([found[number] for number in range(150)])


def _text(recorded: Generator, number: int) -> str:
    [answer] = recorded.answer([AnswerTask(f"question {number}", SOME)])
    return answer.text if isinstance(answer, Answer) else answer.reason


def test_processes_that_write_at_once_get_the_same_responses(file: Path) -> None:
    context = multiprocessing.get_context("fork")
    out, meeting = context.Queue(), context.Barrier(2)
    workers = [context.Process(target=_write, args=(file, name, meeting, out)) for name in ("left", "right")]
    for worker in workers:
        worker.start()
    first, second = out.get(timeout=60), out.get(timeout=60)
    for worker in workers:
        worker.join(timeout=60)
        assert worker.exitcode == 0
    assert first == second and len(first) == 150
    assert {text.split()[0] for text in first} == {"left", "right"}, "both must have written at once"
    replayed = RecordedGenerator(None, Recording(file, read_only=True), "replay")
    assert [_text(replayed, number) for number in range(150)] == first


def _open(file: Path, begin: Any) -> None:
    begin.wait(60)
    _text(RecordedGenerator(Numbered("any"), Recording(file)), 0)


def test_processes_that_make_the_file_at_once_all_open_it(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for trial in range(10):
        begin = context.Event()
        workers = [context.Process(target=_open, args=(tmp_path / f"{trial}.db", begin)) for _ in range(4)]
        for worker in workers:
            worker.start()
        begin.set()
        for worker in workers:
            worker.join(timeout=60)
        assert [worker.exitcode for worker in workers] == [0] * 4


def _record_on(file: Path) -> None:
    recorded = RecordedGenerator(Numbered("killed"), Recording(file))
    for number in range(1_000_000):
        _text(recorded, number)


def test_a_killed_process_leaves_whole_responses(file: Path) -> None:
    worker = multiprocessing.get_context("fork").Process(target=_record_on, args=(file,))
    worker.start()
    end = time.monotonic() + 60
    while time.monotonic() < end and not (file.exists() and _count(file) > 20):
        time.sleep(0.01)
    worker.kill()
    worker.join(timeout=60)
    kept = _count(file)
    replayed = RecordedGenerator(None, Recording(file, read_only=True), "replay")
    assert [_text(replayed, number) for number in range(kept)] == [f"killed {n + 1}" for n in range(kept)] and kept > 20
    assert _text(RecordedGenerator(Numbered("next"), Recording(file)), kept) == "next 1"


def _count(file: Path) -> int:
    try:
        return sum(count.responses for count in Recording(file, read_only=True).counts())
    except DataError:  # the other process has not made it yet
        return 0


def _answer_in_child(recorded: Generator, out: Any) -> None:
    out.put(_text(recorded, 0))


def test_a_forked_process_opens_the_file_anew(file: Path) -> None:
    recorded = RecordedGenerator(Numbered("parent"), Recording(file))
    before = _text(recorded, 0)
    context = multiprocessing.get_context("fork")
    out = context.Queue()
    child = context.Process(target=_answer_in_child, args=(recorded, out))
    child.start()
    assert out.get(timeout=60) == before
    child.join(timeout=60)
    assert child.exitcode == 0 and _text(recorded, 1) == "parent 2"


def test_threads_share_a_recording(file: Path) -> None:
    recorded = RecordedGenerator(Numbered("thread"), Recording(file))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: _text(recorded, number % 40), range(400)))
    assert found == found[:40] * 10 and len(set(found)) == 40


def test_a_batch_that_fails_as_a_whole_is_halved_by_the_engine_and_kept_task_by_task(file: Path) -> None:
    bad = TASKS["judge_sufficiency"][0]
    failing = UnreliableGenerator(lambda task: task == bad, raising=True)
    recorded = RecordedGenerator(failing, Recording(file))
    with pytest.raises(RequestFailedError):
        recorded.judge_sufficiency(TASKS["judge_sufficiency"])
    replies = engine(recorded).execute(TASKS["judge_sufficiency"])
    assert replies == engine(failing).execute(TASKS["judge_sufficiency"])
    assert replies[0].response == Failed("not served")
    replayed = RecordedGenerator(None, Recording(file, read_only=True), "replay")
    assert engine(replayed).execute(TASKS["judge_sufficiency"]) == replies


def test_what_ends_a_run_is_not_recorded(file: Path) -> None:
    class Gone(OverlapGenerator):
        def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer]:
            raise BackendUnavailableError("gone")

    recorded = RecordedGenerator(Gone(), Recording(file))
    with pytest.raises(BackendUnavailableError):
        recorded.answer(TASKS["answer"])
    assert Recording(file).counts() == []


def test_too_few_responses_are_refused(file: Path) -> None:
    class Short(OverlapGenerator):
        def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer]:
            return super().answer(tasks)[:-1]

    with pytest.raises(ValueError, match="shorter"):
        RecordedGenerator(Short(), Recording(file)).answer(TASKS["answer"])
    assert Recording(file).counts() == []


class Other(OverlapGenerator):
    @property
    def fingerprint(self) -> str:
        return "other"


def test_backends_are_kept_apart_and_one_is_named(file: Path) -> None:
    for generator in (OverlapGenerator(), Other()):
        RecordedGenerator(generator, Recording(file)).answer(TASKS["answer"])
    with pytest.raises(ConfigError, match=r"other \(Other\), overlap \(OverlapGenerator\)"):
        RecordedGenerator(None, Recording(file), "replay")
    assert RecordedGenerator(None, Recording(file), "replay", "other").label == "Other"
    with pytest.raises(ManifestMismatchError, match="nobody"):
        RecordedGenerator(None, Recording(file), "replay", "nobody")
    with pytest.raises(ManifestMismatchError, match="it has none"):
        RecordedGenerator(None, Recording(file.with_name("empty.db")), "replay")


@pytest.mark.parametrize("mode", ["live", "record", "replay"])
def test_a_mode_needs_its_parts(mode: Any) -> None:
    with pytest.raises(ConfigError, match="needs"):
        RecordedGenerator(None, None, mode)


def test_settings_say_where_and_how(file: Path) -> None:
    calls: list[str] = []

    def load() -> Generator:
        calls.append("loaded")
        return OverlapGenerator()

    assert type(RecordingSettings().load(load)) is OverlapGenerator
    expected = ask_all(RecordingSettings("record", file).load(load))
    assert calls == ["loaded"] * 2
    used = file.with_name("used.db")
    replayed = RecordingSettings("replay", file, used=used).load(load)
    assert list(replayed.answer(TASKS["answer"])) == expected["answer"]
    assert calls == ["loaded"] * 2, "replaying must not load the generator"
    assert [(count.kind, count.responses) for count in Recording(used).counts()] == [("answer", 4)]
    assert ask_all(RecordingSettings("replay", file).of(OverlapGenerator())) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "record"},
        {"mode": "replay"},
        {"file": Path("a")},
        {"mode": "record", "file": Path("a"), "backend": "b"},
    ],
)
def test_settings_that_contradict_each_other_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="recording"):
        RecordingSettings(**wrong)


def test_every_method_of_the_protocol_is_recorded() -> None:
    assert (
        set(METHODS)
        == set(TASKS)
        == {n for n in Generator.__abstractmethods__ if getattr(RecordedGenerator, n) is not getattr(Generator, n)}
        - {
            "fingerprint",
            "unit",
        }
    )


def test_a_missing_file_is_an_error_of_the_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such recording"):
        RecordingSettings("replay", tmp_path / "nowhere.db").load(OverlapGenerator)
    assert list(tmp_path.iterdir()) == [] and issubclass(DataError, EvidenceGymError)


DOCS = Path(__file__).parents[2] / "docs"


def test_the_code_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    [block] = re.findall(r"```python\n(.*?)```", (DOCS / "recording.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(block, "docs/recording.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "True ExtractiveGenerator\n"


@pytest.mark.parametrize(("kind", "prefix"), [(RecordingSettings, "recording"), (LocalSettings, "local")])
def test_every_setting_is_documented(kind: Any, prefix: str) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md")))
    assert [f.name for f in fields(kind) if f"`{prefix}.{f.name}`" not in pages] == []
