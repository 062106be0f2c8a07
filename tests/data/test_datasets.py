"""The table of benchmarks: finding their files, reading them, and refusing what does not fit."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidencegym.data import datasets
from evidencegym.data.errors import ConfigError, DataError
from evidencegym.data.records import Record

SAME_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

HOTPOTQA: dict[str, Any] = {
    "_id": "1",
    "question": "Who?",
    "answer": "Ada",
    "type": "bridge",
    "level": "easy",
    "supporting_facts": [["A", 0]],
    "context": [["A", ["Ada wrote.", ""]], ["B", ["Bo read."]]],
}
RAW: dict[str, dict[str, Any]] = {
    "hotpotqa": HOTPOTQA,
    "2wikimultihopqa": HOTPOTQA | {"evidences": [["A", "author", "Ada"]]},
    "musique": {
        "id": "2hop__1_2",
        "question": "Who?",
        "answer": "Ada",
        "answer_aliases": ["Ada L."],
        "answerable": True,
        "paragraphs": [{"idx": 0, "title": "A", "paragraph_text": "Ada wrote.", "is_supporting": True}],
        "question_decomposition": [{"id": 1, "question": "q", "answer": "a", "paragraph_support_idx": 0}],
    },
}
NAMES = sorted(RAW)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


def written(file: Path, *records: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(list(records)))
    return file


def test_the_table_holds_the_settings_of_the_paper() -> None:
    assert list(datasets.DATASETS) == ["hotpotqa", "2wikimultihopqa", "musique"]
    for name, dataset in datasets.DATASETS.items():
        assert dataset.name == name
    hotpotqa, twowiki, musique = datasets.DATASETS.values()
    for dataset in (hotpotqa, twowiki):
        assert (dataset.match_support_by, dataset.compress_style) == ("title", "snippets")
        assert (dataset.max_snippets, dataset.max_tokens) == (8, 256)
    assert (musique.match_support_by, musique.compress_style) == ("id", "fact_table")
    assert (musique.max_snippets, musique.max_tokens) == (12, 384)


@pytest.mark.parametrize("name", NAMES)
def test_gold_and_table_agree_on_how_support_is_matched(name: str, tmp_path: Path) -> None:
    gold = datasets.read(name, written(tmp_path / "x.json", RAW[name]))[0].gold
    assert gold is not None
    assert gold.match_support_by == datasets.DATASETS[name].match_support_by
    assert gold.support_ids


def test_records_keep_the_order_of_the_file(tmp_path: Path) -> None:
    file = written(tmp_path / "x.json", *(HOTPOTQA | {"_id": f"{n}"} for n in (3, 1, 2)))
    assert [record.id for record in datasets.read("hotpotqa", file)] == ["3", "1", "2"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("other", NAMES)
def test_a_file_of_another_data_set_is_refused_with_file_and_record(name: str, other: str, tmp_path: Path) -> None:
    file = written(tmp_path / "x.json", RAW[name], RAW[other])
    if name == other:
        assert len(datasets.read(name, file)) == 2
        return
    with pytest.raises(DataError) as caught:
        datasets.read(name, file)
    assert str(caught.value).startswith(f"{file}, record 2: expected a record of {name!r}")
    assert f"looks like a record of {other!r}" in str(caught.value)
    assert (caught.value.file, caught.value.record) == (str(file), 2)


@pytest.mark.parametrize("content", ["", "[]", "\n\n"])
def test_a_file_without_records_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(content)
    with pytest.raises(DataError, match="expected records of 'musique', found none"):
        datasets.read("musique", file)


def test_unknown_names_are_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'squad'.*hotpotqa, 2wikimultihopqa, musique"):
        datasets.read("squad", tmp_path / "x.json")
    with pytest.raises(ConfigError, match="'squad'"):
        datasets.locate("squad", tmp_path, "dev")
    with pytest.raises(ConfigError, match=r"'validation'.*train, dev"):
        datasets.locate("musique", tmp_path, "validation")


@given(data=st.data(), name=st.sampled_from(NAMES))
@settings(max_examples=400, deadline=None)
def test_a_damaged_record_gives_a_record_or_a_data_error(data: st.DataObject, name: str) -> None:
    raw = copy.deepcopy(RAW[name])
    place: Any = raw
    while True:
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    if data.draw(st.booleans()):
        del place[key]
    else:
        place[key] = data.draw(JSON)
    try:
        assert isinstance(datasets.DATASETS[name].parse(raw), Record)
    except DataError as error:
        assert str(error)


@given(data=st.data(), name=st.sampled_from(NAMES), packed=st.booleans())
@SAME_FILE
def test_a_list_cut_off_anywhere_is_a_data_error(data: st.DataObject, name: str, packed: bool, tmp_path: Path) -> None:
    content = json.dumps([RAW[name], RAW[name]]).encode()
    content = gzip.compress(content) if packed else content
    file = tmp_path / "cut"
    file.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(DataError, match="cut"):
        datasets.read(name, file)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", ["train", "dev"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_official_files_are_found_plain_and_packed(name: str, split: str, suffix: str, tmp_path: Path) -> None:
    for official in datasets.DATASETS[name].files(split):
        in_folder = tmp_path / official / name / (official + suffix)
        beside = tmp_path / official / "flat" / (official + suffix)
        for file in (in_folder, beside):
            written(file)
        assert datasets.locate(name, tmp_path / official, split) == in_folder
        assert datasets.locate(name, beside.parent, split) == beside


def test_the_folder_of_the_data_set_comes_first_then_the_plain_file(tmp_path: Path) -> None:
    for name in ("dev.json.gz", "dev.json", "2wikimultihopqa/dev.json.gz", "2wikimultihopqa/dev.json"):
        file = written(tmp_path / name)
        assert datasets.locate("2wikimultihopqa", tmp_path, "dev") == file


def test_a_missing_file_is_reported_with_all_that_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        datasets.locate("hotpotqa", tmp_path, "train")
    for part in ("hotpot_train_v1.1.json,", "hotpot_train_v1.1.json.gz", str(tmp_path / "hotpotqa"), str(tmp_path)):
        assert part in str(caught.value)
