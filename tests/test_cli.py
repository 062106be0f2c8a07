"""The commands: what they print, what they write, what they refuse and how."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evidencegym import cli
from evidencegym.data.locks import locked

SMALL = [
    "--passages",
    "300",
    "--train_questions",
    "24",
    "--dev_questions",
    "10",
    "--fit.trees",
    "10",
    "--fit.jobs",
    "1",
]

TEXTS = {
    "film.txt": "The Glass Orchard\n\nIt is a 1987 film directed by Ilse Varn. It was shot in Torvik.",
    "director.txt": "Ilse Varn\n\nShe was a film director, born in Kellermouth. She studied at Sorne College.",
    "town.txt": "Kellermouth\n\nKellermouth is a harbour town on the river Ask. It has 12,000 inhabitants.",
    "other.md": "# Tern Island\n\nTern Island is an uninhabited island known for its lighthouse.",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run trained on a tiny synthetic world."""
    out = tmp_path_factory.mktemp("run")
    assert cli.main(["train", "--out", str(out), *SMALL]) == 0
    return out


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must be refused and return what it says on standard error."""
    assert cli.main(arguments) == 1
    message = capsys.readouterr().err
    assert message.startswith("evidencegym: error: ") or "evidencegym: error: " in message
    return message


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a run that must be the same for the same seed: all but seconds."""
    files = (f for f in folder.rglob("*") if f.is_file() and "timings" not in f.name)
    return {str(f.relative_to(folder)): f.read_bytes() for f in files}


def test_training_and_evaluating_twice_gives_the_same_bytes(run: Path, tmp_path: Path) -> None:
    arguments = ["--out", str(tmp_path / "again"), *SMALL]
    assert cli.main(["train", *arguments]) == 0
    assert content(tmp_path / "again" / "controller") == content(run / "controller")
    assert content(tmp_path / "again" / "collection") == content(run / "collection")
    evaluations = []
    for out in (run, tmp_path / "again"):
        assert cli.main(["evaluate", "--out", str(out), *SMALL[:6]]) == 0
        evaluations.append(content(out / "evaluation"))
    assert evaluations[0] == evaluations[1]
    assert "equal/learned.jsonl" in evaluations[0]


def test_policy_iteration_goes_on_in_the_same_folder(run: Path, corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    arguments = ["train", "--out", str(tmp_path / "run"), *SMALL, "--fit.targets", "fitted_q", "--iterate.rounds", "1"]
    assert cli.main([*arguments, "--fit.cost_weight", "0.05", "--fit.continuation_threshold", "fitted"]) == 0
    found = json.loads((tmp_path / "run" / "iterations" / "decisions.json").read_text())
    assert [noted["round"] for noted in found["rounds"]] == [0, 1] and found["return"]["cost_weight"] == 0.05
    assert content(tmp_path / "run" / "collection") == content(run / "collection")
    question = "Where was the director of The Glass Orchard born?"
    asked = ["answer", "--corpus", str(corpus), "--question", question, "--run", str(tmp_path / "run")]
    assert cli.main(asked) == 0


def test_answer_prints_answer_passages_and_trace(run: Path, corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    question = "Where was the director of The Glass Orchard born?"
    assert cli.main(["answer", "--corpus", str(corpus), "--question", question, "--run", str(run)]) == 0
    printed = capsys.readouterr().out
    for part in ("Answer: ", "Supporting passages:", "step 1: retrieve_more", "could run:", "brought:", "cost:"):
        assert part in printed
    assert "The Glass Orchard" in printed


def test_answer_as_json_holds_the_trace_and_no_gold(
    run: Path, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["answer", "--corpus", str(corpus), "--question", "Who directed The Glass Orchard?", "--run", str(run)]
    assert cli.main([*arguments, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["steps"] and record["operations"] and "gold" not in record and "metrics" not in record
    assert set(record["steps"][0]["values"]) == set(record["steps"][0]["valid"])


def test_a_question_of_ten_thousand_words_is_answered(run: Path, corpus: Path) -> None:
    question = "Where was the director of The Glass Orchard born and " + "why " * 10_000
    assert cli.main(["answer", "--corpus", str(corpus), "--question", question, "--run", str(run)]) == 0


@pytest.mark.parametrize("question", ["", "   "])
def test_an_empty_question_is_refused(
    run: Path, corpus: Path, question: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["answer", "--corpus", str(corpus), "--question", question, "--run", str(run)]
    assert "question is empty" in refusal(arguments, capsys)


def test_an_empty_corpus_is_refused(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    arguments = ["answer", "--corpus", str(tmp_path / "empty"), "--question", "Who?", "--run", str(run)]
    assert str(tmp_path / "empty") in refusal(arguments, capsys)


def test_a_text_that_is_not_utf8_is_named(run: Path, corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (corpus / "latin.txt").write_bytes("Käse".encode("latin-1"))
    arguments = ["answer", "--corpus", str(corpus), "--question", "Who?", "--run", str(run)]
    assert "latin.txt" in refusal(arguments, capsys)


def test_a_missing_run_says_what_to_do(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["answer", "--corpus", str(corpus), "--question", "Who?", "--run", str(tmp_path / "none")]
    assert "quickstart" in refusal(arguments, capsys)


def test_missing_official_files_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = refusal(["train", "--dataset", "hotpotqa", "--data", str(tmp_path), "--out", str(tmp_path / "o")], capsys)
    assert "hotpot_train_v1.1.json" in message


def test_a_file_of_another_data_set_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "train.json"
    file.write_text('[{"_id": "1", "question": "q?", "answer": "a"}]')
    arguments = ["train", "--dataset", "musique", "--train_file", str(file), "--dev_file", str(file)]
    message = refusal([*arguments, "--out", str(tmp_path / "o")], capsys)
    assert "train.json" in message and "musique" in message.lower()


def test_where_the_data_lies_must_be_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("EVIDENCEGYM_DATA", raising=False)
    message = refusal(["train", "--dataset", "musique", "--out", str(tmp_path)], capsys)
    assert "EVIDENCEGYM_DATA" in message


def test_a_controller_of_another_operation_set_is_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    operations = "--operations=[retrieve_more,gap_query,sufficiency_check,stop_answer]"
    message = refusal(["evaluate", "--out", str(run), operations, *SMALL[:6]], capsys)
    assert "other operations" in message and "bridge_entity_expand" in message


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--operations", "[retrieve_more,teleport,stop_answer]"], "teleport"),
        (["--operations", "everything"], "everything"),
        (["--caps.steps", "-1"], "caps.steps"),
        (["--caps.documents_per_retrieval", "0"], "caps.documents_per_retrieval"),
        (["--dataset", "squad"], "squad"),
        (["--passages", "0"], "passages"),
        (["--fit.targets", "magic"], "magic"),
        (["--fit.seed", "-1"], "fit.seed"),
        (["--fit.discount", "2"], "discount"),
        (["--fit.cost_weights", '{"coffee": 1.0}'], "coffee"),
        (["--fit.continuation_threshold", "lenient"], "lenient"),
        (["--iterate.rounds", "-1"], "iterate.rounds"),
        (["--iterate.epsilon", "2"], "iterate.epsilon"),
        (["--collect.episodes", "0"], "episodes"),
        (["--generator", "nowhere"], "nowhere"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(
    arguments: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = cli.main(["train", "--out", str(tmp_path / "out"), *arguments])
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code in {1, 2}
    assert named in capsys.readouterr().err


@pytest.mark.parametrize("text", ["caps:\n  stepz: 3\n", "datset: musique\n"])
def test_an_unknown_key_of_a_configuration_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(text)
    with pytest.raises(SystemExit) as stop:
        cli.main(["train", "--config", str(file)])
    assert stop.value.code == 2
    assert text.strip().split("\n")[-1].split(":")[0].strip() in capsys.readouterr().err


@pytest.mark.parametrize("name", ["hotpotqa", "2wikimultihopqa", "musique"])
def test_shipped_configurations_are_found_by_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["train", "--config", name, "--print_config"])
    assert stop.value.code == 0
    assert f"dataset: {name}" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["quickstart", "collect", "train", "evaluate", "answer", "score"])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    assert stop.value.code == 0
    assert "usage: evidencegym" in capsys.readouterr().out


def test_collect_killed_at_a_random_moment_and_resumed_gives_the_same_rows(run: Path, tmp_path: Path) -> None:
    """The moments are spread over the collection, so that some kill falls between the parts of one batch."""
    command = [sys.executable, "-P", "-m", "evidencegym.cli", "collect", "--out", str(tmp_path / "killed"), *SMALL[:6]]
    parts = tmp_path / "killed" / "collection" / "parts"
    for wanted in (1, 9, 17):
        process = subprocess.Popen(
            [*command, "--collect.batch", "8"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and len(list(parts.glob("*.parquet"))) < wanted:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0
    rows = "collection/rows.parquet"
    assert (tmp_path / "killed" / rows).read_bytes() == (run / rows).read_bytes()


def test_a_fitted_generator_is_not_reused_for_other_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["collect", "--out", str(tmp_path), "--generator", "fit", "--passages", "300"]
    assert cli.main([*arguments, "--train_questions", "8"]) == 0
    assert "fitted on other questions" in refusal([*arguments, "--train_questions", "9"], capsys)


def test_answer_refuses_another_generator_than_that_of_training(
    run: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    manifest = copy / "controller" / "manifest.json"
    noted = json.loads(manifest.read_text()) | {"generator": "another"}
    manifest.write_text(json.dumps(noted))
    arguments = ["answer", "--corpus", str(corpus), "--question", "Who?", "--run", str(copy)]
    assert "another generator" in refusal(arguments, capsys)


@pytest.mark.parametrize("part", ["collection", "evaluation"])
def test_results_whose_manifest_is_gone_are_not_adopted(
    run: Path, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    assert cli.main(["evaluate", "--out", str(copy), *SMALL[:6]]) == 0
    (copy / part / "manifest.json").unlink()
    command = "collect" if part == "collection" else "evaluate"
    assert "without manifest.json" in refusal([command, "--out", str(copy), *SMALL[:6]], capsys)


def test_two_processes_do_not_write_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with locked(tmp_path):
        assert "another process" in refusal(["collect", "--out", str(tmp_path), *SMALL[:6]], capsys)


@pytest.mark.parametrize("given", [["--config", "musique"], ["--config=musique"]])
def test_a_folder_of_that_name_does_not_hide_a_shipped_configuration(
    given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "musique").mkdir()
    monkeypatch.chdir(tmp_path)
    assert cli.with_shipped_config(["train", *given])[-1].endswith("musique.yaml")


def test_an_unknown_configuration_lists_those_that_ship(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        "2wikimultihopqa, benchmark, benchmark_encoder, benchmark_gate, benchmark_synthetic, hotpotqa, multi_step"
        in refusal(["train", "--config", "nope"], capsys)
    )


@pytest.mark.skipif(os.name != "posix", reason="uses /dev/null as a folder that cannot be made")
def test_a_run_folder_that_cannot_be_written_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    message = refusal(["collect", "--out", "/dev/null/run", *SMALL[:6]], capsys)
    assert "/dev/null/run" in message and "cannot write" in message
