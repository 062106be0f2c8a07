"""The commands with a language model behind a server: collect, train, evaluate, answer."""

import json
from pathlib import Path

import pytest

from evidencegym import cli
from tests.generation.fake_server import FakeServer, error, serving
from tests.test_cli import SMALL, TEXTS

pytest.importorskip("openai", reason="needs the extra chat")
pytest.importorskip("tenacity", reason="needs the extra chat")

TINY = ["--passages", "300", "--train_questions", "12", "--dev_questions", "4", "--fit.trees", "5", "--fit.jobs", "1"]
KEY = "sk-this-is-secret"


def chat(server: FakeServer) -> list[str]:
    return [
        "--generator",
        "chat",
        "--chat.base_url",
        server.url,
        "--chat.model",
        "tiny-instruct",
        "--chat.retries",
        "0",
    ]


def test_a_run_with_a_chat_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    out, texts = tmp_path / "run", tmp_path / "texts"
    texts.mkdir()
    for name, text in TEXTS.items():
        (texts / name).write_text(text, encoding="utf-8")
    asking = ["answer", "--run", str(out), "--corpus", str(texts), "--question", "Where was Ilse Varn born"]
    with serving() as server:
        assert cli.main(["train", "--out", str(out), *TINY, *chat(server), "--evaluate", "true"]) == 0
        assert {body["model"] for body in server.bodies} == {"tiny-instruct"}
        capsys.readouterr()
        assert cli.main([*asking, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["answer"] == "born"
    manifest = json.loads((out / "controller" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["generator_source"] == "chat" and manifest["chat_source"]["model"] == "tiny-instruct"
    assert json.loads((out / "evaluation" / "manifest.json").read_text(encoding="utf-8"))["unit"] == "tokens"
    assert not any(KEY.encode() in file.read_bytes() for file in out.rglob("*") if file.is_file())
    with serving() as elsewhere:
        assert cli.main([*asking, *chat(elsewhere)]) == 0
        assert elsewhere.bodies
    assert cli.main([*asking, "--generator", "packaged"]) == 0


def test_a_controller_trained_without_a_model_drives_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert cli.main(["train", "--out", str(out), *SMALL]) == 0
    with serving() as server:
        assert cli.main(["evaluate", "--out", str(out), *TINY[:6], *chat(server)]) == 0
    assert "trained with another generator" in capsys.readouterr().err


def test_what_is_missing_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["collect", "--out", str(tmp_path / "a"), *TINY[:6], "--generator", "chat"]) == 1
    assert "--chat.model" in capsys.readouterr().err
    with serving(lambda body, _: error(404, "no such model")) as server:
        assert cli.main(["collect", "--out", str(tmp_path / "b"), *TINY[:6], *chat(server)]) == 1
    message = capsys.readouterr().err
    assert "evidencegym: error: " in message and "tiny-instruct" in message and "Traceback" not in message


def test_settings_can_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    nested = "extra: {chat_template_kwargs: {enable_thinking: false}}"
    file.write_text(f"generator: chat\nchat:\n  model: m\n  max_tokens: {{answer: 64}}\n  {nested}\n", encoding="utf-8")
    parser = cli.build_parser()
    given = ["collect", "--config", str(file), "--chat.timeout", "9", "--chat.max_tokens", '{"judge": 90}']
    chosen = parser.instantiate(parser.parse_args(given)).collect.chat
    assert (chosen.model, chosen.timeout, chosen.max_tokens) == ("m", 9.0, {"judge": 90})
    assert chosen.extra == {"chat_template_kwargs": {"enable_thinking": False}}
    assert isinstance(chosen.fingerprint, str)
