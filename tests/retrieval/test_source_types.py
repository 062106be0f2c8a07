"""Types of source: read from a corpus, saved, fingerprinted."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencegym.data.corpus import read_corpus, read_source_types
from evidencegym.data.errors import DataError, ManifestMismatchError
from evidencegym.data.records import Passage
from evidencegym.retrieval.source_types import SourceTypes

CAT = Passage.of("Cat", ["Cats purr."])
DOG = Passage.of("Dog", ["Dogs bark.", "They dig."])
CAT_LINE = {"title": "Cat", "text": "Cats purr."}
DOG_LINE = {"title": "Dog", "text": "Dogs bark. They dig."}
some_types = st.dictionaries(st.text("0123456789abcdef", min_size=16, max_size=16), st.sampled_from(["blog", "é"]))


def lines(file: Path, *values: Any) -> Path:
    file.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return file


def test_types_stand_beside_the_passages(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", CAT_LINE | {"source_type": " blog "}, DOG_LINE, DOG_LINE | {"source_type": None})
    (tmp_path / "b.txt").write_text("Birds sing in the trees.")
    with gzip.open(tmp_path / "c.jsonl.gz", "wt") as file:
        file.write(json.dumps({"title": "Owl", "text": "Owls hoot.", "source_type": "government"}) + "\n")
    assert read_source_types(tmp_path) == {
        CAT.id: "blog",
        Passage.of("Owl", ["Owls hoot."]).id: "government",
    }
    assert len(read_corpus(tmp_path)) == 4
    types = SourceTypes.read(tmp_path)
    assert [types.of(passage.id) for passage in (CAT, DOG)] == ["blog", "unknown"]


def test_types_change_no_passage(tmp_path: Path) -> None:
    plain = read_corpus(lines(tmp_path / "plain.jsonl", CAT_LINE, DOG_LINE))
    for stated in ("blog", 7, ""):
        typed = lines(tmp_path / "typed.jsonl", CAT_LINE | {"source_type": stated}, DOG_LINE)
        assert read_corpus(typed) == plain


def test_one_type_given_once_holds_for_every_copy(tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", DOG_LINE, DOG_LINE | {"source_type": "blog"}, DOG_LINE)
    assert read_source_types(file) == {DOG.id: "blog"}


@pytest.mark.parametrize("stated", [7, "", "  ", ["blog"], True])
def test_what_is_no_type_is_refused_with_file_line_and_key(tmp_path: Path, stated: Any) -> None:
    file = lines(tmp_path / "a.jsonl", CAT_LINE, DOG_LINE | {"source_type": stated})
    with pytest.raises(DataError, match=r"a\.jsonl, record 2: 'source_type'"):
        read_source_types(file)


def test_two_types_of_one_passage_are_refused(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", CAT_LINE | {"source_type": "blog"})
    lines(tmp_path / "b.jsonl", DOG_LINE, CAT_LINE | {"source_type": "government"})
    with pytest.raises(DataError, match=r"b\.jsonl, record 2: 'source_type' is 'government'.*'blog' before"):
        read_source_types(tmp_path)


def test_a_missing_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_source_types(tmp_path / "none.jsonl")


@settings(max_examples=15)
@given(some_types)
def test_saved_types_are_the_same_and_so_are_the_bytes(tmp_path_factory: pytest.TempPathFactory, types: Any) -> None:
    folder = tmp_path_factory.mktemp("types")
    made = SourceTypes(types, "blog")
    made.save(folder / "one.json")
    again = SourceTypes.load(folder / "one.json")
    assert dict(again) == types and again.default == "blog" and again.fingerprint == made.fingerprint
    SourceTypes(dict(reversed(types.items())), "blog").save(folder / "two.json")
    assert (folder / "one.json").read_bytes() == (folder / "two.json").read_bytes()


def test_the_fingerprint_depends_on_every_type_and_the_default() -> None:
    made = [
        SourceTypes({}),
        SourceTypes({}, "blog"),
        SourceTypes({"a": "blog"}),
        SourceTypes({"a": "government"}),
        SourceTypes({"b": "blog"}),
        SourceTypes({"a": "blog", "b": "blog"}),
    ]
    assert len({types.fingerprint for types in made}) == len(made)
    assert made[2].occurring == ("blog", "unknown")


@pytest.mark.parametrize("wrong", [{"a": ""}, {"a": 7}])
def test_what_is_no_type_is_refused(wrong: Any) -> None:
    with pytest.raises(DataError, match="type of source"):
        SourceTypes(wrong)
    with pytest.raises(DataError, match="type of source"):
        SourceTypes({}, wrong["a"])


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("{", DataError),
        ("[]", ManifestMismatchError),
        ('{"kind": "bm25"}', ManifestMismatchError),
        ('{"kind": "source types"}', DataError),
        ('{"kind": "source types", "default": "blog", "passages": ["a"]}', DataError),
        ('{"kind": "source types", "default": "blog", "passages": {"blog": 7}}', DataError),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: str, error: type[Exception]) -> None:
    (tmp_path / "types.json").write_text(content)
    with pytest.raises(error):
        SourceTypes.load(tmp_path / "types.json")
    with pytest.raises(DataError, match="no such file"):
        SourceTypes.load(tmp_path / "none.json")
