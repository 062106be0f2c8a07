"""Rows of the Hugging Face hub: every known form becomes the record that the official file gives."""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evidencegym.data import datasets, hub
from evidencegym.data.errors import BackendUnavailableError, ConfigError, DataError
from evidencegym.data.files import read_items

HOTPOTQA: dict[str, Any] = {
    "_id": "1",
    "question": "Who wrote Ő?",
    "answer": "Ada",
    "type": "bridge",
    "level": "easy",
    "supporting_facts": [["Ő", 0], ["Ada", 3]],
    "context": [["Ő", ["By Ada.", ""]], ["B", []], ["Ada", [" Ada wrote."]]],
}
TWOWIKI = {key: value for key, value in HOTPOTQA.items() if key != "level"} | {"evidences": [["Ő", "author", "Ada"]]}
MUSIQUE: dict[str, Any] = {
    "id": "2hop__1_2",
    "question": "Who?",
    "answer": "Ada",
    "answer_aliases": ["Ada L."],
    "answerable": False,
    "paragraphs": [
        {"idx": 0, "title": "A", "paragraph_text": "Ada wrote.", "is_supporting": True},
        {"idx": 1, "title": "A", "paragraph_text": "Ada read.", "is_supporting": False},
    ],
    "question_decomposition": [
        {"id": 1, "question": "q", "answer": "a", "paragraph_support_idx": 0},
        {"id": 2, "question": "#1 q", "answer": "b", "paragraph_support_idx": None},
    ],
}
OFFICIAL = {"hotpotqa": HOTPOTQA, "2wikimultihopqa": TWOWIKI, "musique": MUSIQUE}


def columns(rows: list[list[Any]], *names: str) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def columnar(raw: dict[str, Any], sentences: str = "sentences") -> dict[str, Any]:
    """Return a record as `hotpotqa/hotpot_qa` has it: `id`, and lists as columns."""
    row = {"id": raw["_id"]} | {key: value for key, value in raw.items() if key != "_id"}
    row["supporting_facts"] = columns(raw["supporting_facts"], "title", "sent_id")
    row["context"] = columns(raw["context"], "title", sentences)
    return row


def in_json(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose nested fields are JSON text."""
    return {key: json.dumps(value) if isinstance(value, list) else value for key, value in raw.items()}


def turned(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {key: [row[key] for row in rows] for key in rows[0]}


TRIPLES = [{"fact": "Ő", "relation": "author", "entity": "Ada"}]
PARAGRAPHS = [{"title": title, "content": sentences} for title, sentences in TWOWIKI["context"]]
STORED: list[tuple[str, dict[str, Any]]] = [
    *((name, in_json(raw)) for name, raw in OFFICIAL.items()),
    ("hotpotqa", columnar(HOTPOTQA)),
    ("2wikimultihopqa", columnar(TWOWIKI)),
    ("2wikimultihopqa", columnar(TWOWIKI, "content") | {"evidences": turned(TRIPLES)}),
    ("2wikimultihopqa", in_json(TWOWIKI) | {"evidences": json.dumps(TRIPLES)}),
    ("2wikimultihopqa", columnar(TWOWIKI) | {"context": PARAGRAPHS, "level": None}),
    ("musique", MUSIQUE),
    ("musique", MUSIQUE | {key: turned(MUSIQUE[key]) for key in ("paragraphs", "question_decomposition")}),
]
# Arrow has no list of a string and a number, so two official forms cannot be stored in a table.
FORMS = [*STORED, ("hotpotqa", HOTPOTQA), ("2wikimultihopqa", TWOWIKI)]


@pytest.mark.parametrize(("name", "row"), FORMS)
def test_every_form_gives_the_official_record(name: str, row: dict[str, Any]) -> None:
    parse = datasets.DATASETS[name].parse
    expected = parse(OFFICIAL[name])
    found = parse(hub.official(name, row))
    assert found == expected
    assert [p.sentences for p in found.context] == [p.sentences for p in expected.context]


def test_null_fields_of_a_test_set_are_left_out() -> None:
    hidden: dict[str, Any] = {
        "answer": None,
        "type": None,
        "evidences": None,
        "supporting_facts": {"title": [], "sent_id": []},
    }
    row = columnar(HOTPOTQA) | hidden
    gold = datasets.DATASETS["hotpotqa"].parse(hub.official("hotpotqa", row)).gold
    assert gold is not None
    assert (gold.answers, gold.supporting_facts, gold.type) == ((), (), "")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"context": "not JSON"}, "'context' must be a list or JSON text"),
        ({"context": {"title": ["A"], "sentences": []}}, "'context' must hold columns of one length"),
        ({"context": {"title": "A"}}, "'context' must hold columns"),
        ({"context": {"title": ["A"], "words": [["x"]]}}, "fields title, sentences/content, found title, words"),
        ({"supporting_facts": {"title": ["A"]}}, "'supporting_facts' must have the fields title, sent_id"),
    ],
)
def test_other_forms_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        hub.official("hotpotqa", HOTPOTQA | changes)


def test_every_data_set_has_a_place_on_the_hub() -> None:
    assert set(hub.HUB_NAMES) == set(datasets.DATASETS)


def test_a_missing_extra_is_reported_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> ModuleType:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(BackendUnavailableError, match=r"pip install 'evidencegym\[hf\]'"):
        hub.read_hub("musique", "dev")


class FakeLibrary(ModuleType):
    """Stands for the package `datasets` with one copy of HotpotQA on the hub, and notes what is asked of it."""

    def __init__(self, splits: dict[str, list[dict[str, Any]]]) -> None:
        super().__init__("datasets")
        self.splits = splits
        self.asked: list[tuple[Any, ...]] = []

    def get_dataset_split_names(self, path: str, config: str | None, revision: str | None) -> list[str]:
        self.asked.append((path, config, revision))
        if path == "no/where":
            raise ConnectionError("unreachable")
        return list(self.splits)

    def load_dataset(self, path: str, config: str | None, split: str, revision: str | None) -> list[dict[str, Any]]:
        self.asked.append((path, config, split, revision))
        return self.splits[split]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    fake = FakeLibrary({"train": [columnar(HOTPOTQA)], "validation": [columnar(HOTPOTQA), columnar(TWOWIKI)]})
    monkeypatch.setattr(importlib, "import_module", lambda name: {"datasets": fake}[name])
    return fake


@pytest.mark.parametrize(
    ("name", "path", "config", "revision"),
    [
        (None, "hotpotqa/hotpot_qa", "distractor", None),
        ("me/mine", "me/mine", None, None),
        ("me/mine:full", "me/mine", "full", None),
        ("me/mine@1908d6a", "me/mine", None, "1908d6a"),
        ("me/mine:full@v1", "me/mine", "full", "v1"),
    ],
)
def test_a_name_may_have_configuration_and_revision(
    name: str | None, path: str, config: str | None, revision: str | None, library: FakeLibrary
) -> None:
    records = hub.read_hub("hotpotqa", "train", name)
    assert records == [datasets.DATASETS["hotpotqa"].parse(HOTPOTQA)]
    assert library.asked == [(path, config, revision), (path, config, "train", revision)]


def test_a_row_that_does_not_fit_is_named(library: FakeLibrary) -> None:
    with pytest.raises(DataError, match="has evidences") as caught:
        hub.read_hub("hotpotqa", "dev", "me/mine")
    assert (caught.value.file, caught.value.record) == ("me/mine (dev)", 2)


def test_what_cannot_be_loaded_is_reported(library: FakeLibrary) -> None:
    with pytest.raises(BackendUnavailableError, match=r"cannot load 'no/where' \(dev\): ConnectionError: unreachable"):
        hub.read_hub("hotpotqa", "dev", "no/where")
    with pytest.raises(DataError, match="expected the split test, found train, validation"):
        hub.read_hub("hotpotqa", "test")
    with pytest.raises(ConfigError, match="unknown split 'validation'"):
        hub.read_hub("hotpotqa", "validation")
    with pytest.raises(ConfigError, match="unknown data set 'squad'"):
        hub.read_hub("squad", "dev")
    with pytest.raises(ConfigError, match="expected owner/name"):
        hub.read_hub("hotpotqa", "dev", "a:b:c")
    library.splits["train"] = []
    with pytest.raises(DataError, match="expected records of 'hotpotqa', found none"):
        hub.read_hub("hotpotqa", "train")


@pytest.mark.parametrize(("name", "row"), STORED)
def test_a_saved_folder_is_read_through_the_library(name: str, row: dict[str, Any], tmp_path: Path) -> None:
    huggingface = pytest.importorskip("datasets", reason="needs the extra hf")
    table = huggingface.Dataset.from_list([row])
    table.save_to_disk(tmp_path / "one")
    huggingface.DatasetDict({"validation": table}).save_to_disk(tmp_path / "several")
    expected = [datasets.DATASETS[name].parse(OFFICIAL[name])]
    assert hub.read_hub(name, "dev", str(tmp_path / "one")) == expected
    assert hub.read_hub(name, "dev", str(tmp_path / "several")) == expected
    with pytest.raises(DataError, match="expected the split train, found validation"):
        hub.read_hub(name, "train", str(tmp_path / "several"))


def test_a_folder_of_parquet_files_is_read_through_the_library(tmp_path: Path) -> None:
    huggingface = pytest.importorskip("datasets", reason="needs the extra hf")
    (tmp_path / "mine").mkdir()
    huggingface.Dataset.from_list([columnar(HOTPOTQA)]).to_parquet(tmp_path / "mine" / "validation.parquet")
    records = hub.read_hub("hotpotqa", "dev", str(tmp_path / "mine"))
    assert records == [datasets.DATASETS["hotpotqa"].parse(HOTPOTQA)]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("hotpotqa", "hotpotqa/hotpot_dev_distractor.json.gz"),
        ("2wikimultihopqa", "2wikimultihopqa/dev.json.gz"),
        ("musique", "musique/musique_full_unanswerable.jsonl.gz"),
    ],
)
def test_real_records_survive_the_way_through_the_library(
    name: str, file: str, real_data: Callable[[str], Path], tmp_path: Path
) -> None:
    huggingface = pytest.importorskip("datasets", reason="needs the extra hf")
    path = real_data(file)
    raws = [item.value for item in read_items(path)][:40]
    huggingface.Dataset.from_list([raw if name == "musique" else columnar(raw) for raw in raws]).save_to_disk(tmp_path)
    assert hub.read_hub(name, "dev", str(tmp_path)) == datasets.read(name, path)[:40]
