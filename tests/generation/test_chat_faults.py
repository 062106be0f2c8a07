"""Faults of a server, one kind after the other: every episode ends, costs are what the server says, nothing is lost."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.records import content_hash
from evidencegym.eval.comparison import compare
from evidencegym.eval.report import write_report
from evidencegym.eval.results import failures_of
from evidencegym.eval.runner import Method, evaluate
from evidencegym.generation.chat import ChatGenerator
from evidencegym.generation.chat_settings import ChatSettings
from tests.small_world import engine, records

from .fake_server import (
    COMPLETION_TOKENS,
    PROMPT_TOKENS,
    FakeServer,
    Response,
    Script,
    completion,
    error,
    good,
    good_text,
    kind_of,
    question_of,
    serving,
)

pytest.importorskip("openai", reason="needs the extra chat")
pytest.importorskip("tenacity", reason="needs the extra chat")

TIME_OUT = "time-out"
TIMEOUT = 1.5
PATIENT: dict[str, Any] = {"timeout": TIMEOUT, "retries": 5}  # a busy machine may be late with a good response, too
OPERATIONS = {"judge": "sufficiency_check", "rewrite": "rewrite_query", "compress": "compress", "answer": "answer"}
SETTINGS: dict[str, Any] = {"model": "m", "timeout": 30.0, "retries": 1, "max_wait": 0.01, "concurrency": 8}
RULES = Rules(operation_set("paper"), Caps(steps=5))
METHOD = Method("uniform", RULES, UniformController(3, avoid=[RULES.operations.stop]))

# Each is what the server sends instead of a good response; False where the server's own account of the tokens is lost.
FAULTS: dict[str, tuple[Script, bool]] = {
    "429": (lambda body, _: error(429, retry_after="0"), False),
    "500": (lambda body, _: error(500), False),
    TIME_OUT: (lambda body, _: Response(completion(good_text(body)), sleep=1.5 * TIMEOUT), False),
    "half a body": (lambda body, _: Response(completion(good_text(body))[:150]), False),
    "not UTF-8": (lambda body, _: Response(completion(good_text(body)).replace(b"assistant", b"\xff\xfe")), False),
    "dropped": (lambda body, _: Response(completion(good_text(body)), drop=True), False),
    "an HTML page": (lambda body, _: Response(b"<html>busy</html>", headers={"Content-Type": "text/html"}), False),
    "no usage": (lambda body, _: Response(completion(good_text(body), usage=None)), False),
    "no choices": (lambda body, _: Response(completion(None, choices=[])), True),
    "half a JSON": (lambda body, _: Response(completion(good_text(body)[:-3])), True),
    "wrong keys": (lambda body, _: Response(completion('{"reply": "x"}')), True),
    "empty": (lambda body, _: Response(completion("")), True),
    "null": (lambda body, _: Response(completion(None)), True),
    "ten times too long": (lambda body, _: Response(completion(too_long(body))), True),
    "lone surrogate": (lambda body, _: Response(completion('{"answer\ud800": "x"}')), True),
}


def too_long(body: dict[str, Any]) -> str:
    """Return a reply whose every text is ten times as long as allowed."""
    read = json.loads(good_text(body))
    return json.dumps(
        {key: "word " * 700 if isinstance(value, str) else [{"word": 1}] * 120 for key, value in read.items()}
    )


def task_of(body: dict[str, Any]) -> str:
    """Return what names the task of a request, be it the first or the attempt at repair."""
    return json.dumps(body["messages"][:2])


def struck(body: dict[str, Any]) -> bool:
    """Say whether the task is one of the half that the fault hits."""
    return int(content_hash(kind_of(body), question_of(body)), 16) % 2 == 0


def run(server: FakeServer, file: Path, **more: Any) -> list[dict[str, Any]]:
    chat = ChatGenerator(ChatSettings(base_url=server.url, **SETTINGS | more))
    return evaluate(METHOD, records(), engine(chat, cache_size=0), file)


def whole(response: Response) -> bool:
    return response.status == 200 and not response.drop and response.sleep < TIMEOUT


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    with serving() as server:
        return run(server, tmp_path_factory.mktemp("clean") / "r.jsonl")


def test_the_clean_run_asks_for_everything(clean: list[dict[str, Any]]) -> None:
    asked = {name for result in clean for name, cost in result["ledger"].items() if cost["generator_calls"]}
    assert asked == set(OPERATIONS.values()) and not failures_of(clean)


@pytest.mark.parametrize("name", FAULTS)
def test_a_lasting_fault_fails_its_tasks_and_nothing_else(name: str, tmp_path: Path) -> None:
    fault, accounted = FAULTS[name]
    calls: Counter[str] = Counter()
    tasks: dict[str, tuple[str, bool]] = {}
    paid = 0

    def script(body: dict[str, Any], attempt: int) -> Response:
        nonlocal paid
        response = fault(body, attempt) if struck(body) else good(body, attempt)
        tasks[task_of(body)] = OPERATIONS[kind_of(body)], struck(body)
        calls[task_of(body)] += whole(response)
        paid += whole(response) and (accounted or not struck(body))
        return response

    with serving(script) as server:
        more = {"timeout": TIMEOUT, "retries": 0} if name == TIME_OUT else {}
        found = run(server, tmp_path / "free" / "uniform.jsonl", **more)
    assert [result["uid"] for result in found] == [record.uid for record in records()]
    assert all(result["end"] in ("stop", "cap") and result["metrics"] for result in found)
    failed = Counter(operation for operation, hit in tasks.values() if hit)
    assert failures_of(found) == failed and len(failed) >= 3
    cost = {key: sum(result["cost"][key] for result in found) for key in found[0]["cost"]}
    assert cost["prompt_tokens"] == PROMPT_TOKENS * paid and cost["completion_tokens"] == COMPLETION_TOKENS * paid
    assert cost["generator_calls"] == sum(max(1, calls[task]) for task in tasks)
    assert all(len(reason) < 500 and "\n" not in reason for result in found for _, reason in result.get("failures", ()))
    told(found, failed, tmp_path)


def told(found: list[dict[str, Any]], failed: Counter[str], folder: Path) -> None:
    """Check that comparison and report say what failed."""
    assert compare("x", {"uniform": found}, "uniform").failures["uniform"] == dict(failed)
    (folder / "manifest.json").write_text('{"kind": "evaluation", "dataset": "small"}', encoding="utf-8")
    written = write_report(folder, folder / "report.html").markdown.read_text(encoding="utf-8")
    table = written.split("#### Failures")[1].split("\n\n")[2].splitlines()
    head, row = ([cell.strip() for cell in table[line].strip("| ").split("|")] for line in (0, 2))
    told = dict(zip(head, row))
    assert {name: int(told[name.replace("_", "\\_") if name not in told else name]) for name in failed} == dict(failed)


@pytest.mark.parametrize("name", FAULTS)
def test_a_passing_fault_leaves_no_trace_but_its_cost(name: str, tmp_path: Path, clean: list[dict[str, Any]]) -> None:
    fault, _ = FAULTS[name]
    hit: set[str] = set()

    def script(body: dict[str, Any], attempt: int) -> Response:
        if struck(body) and task_of(body) not in hit:
            hit.add(task_of(body))
            return fault(body, attempt)
        return good(body, attempt)

    with serving(script) as server:
        found = run(server, tmp_path / "r.jsonl", **(PATIENT if name == TIME_OUT else {}))
    assert hit and not failures_of(found)
    for result, expected in zip(found, clean):
        assert {**result, "cost": 0, "ledger": 0, "steps": 0} == {**expected, "cost": 0, "ledger": 0, "steps": 0}


def test_a_killed_run_goes_on_and_asks_only_what_it_lacks(tmp_path: Path, clean: list[dict[str, Any]]) -> None:
    file = tmp_path / "r.jsonl"
    with serving() as server:
        chat = ChatGenerator(ChatSettings(base_url=server.url, **SETTINGS))
        evaluate(METHOD, records()[:3], engine(chat, cache_size=0), file)
        before = len(server.bodies)
        assert run(server, file) == clean
        assert sum(result["cost"]["generator_calls"] for result in clean[3:]) == len(server.bodies) - before
