"""Corpora: pooled contexts, files of passages, and folders of documents."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencegym.data import datasets
from evidencegym.data.corpus import corpus_fingerprint, pooled, read_corpus
from evidencegym.data.documents import MAX_WORDS, passages_of
from evidencegym.data.errors import DataError
from evidencegym.data.records import Passage, Question, Record

CAT = Passage.of("Cat", ["Cats purr."])
DOG = Passage.of("Dog", ["Dogs bark.", "They dig."])


def record(*context: Passage) -> Record:
    return Record(Question.of("?"), None, context)


def lines(file: Path, *values: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return file


def text(file: Path, content: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return file


def test_pooling_removes_repetitions_and_sorts_by_id() -> None:
    passages = pooled([record(DOG, CAT), record(CAT, Passage.of(" Dog ", [" Dogs bark.", "", "They dig. "]))])
    assert [passage.id for passage in passages] == sorted([CAT.id, DOG.id])


@given(st.permutations([DOG, CAT, Passage.of("Dog", ["Dogs bark. They dig."]), Passage.of("Dog ", DOG.sentences)]))
def test_pooling_does_not_depend_on_order(passages: list[Passage]) -> None:
    pool = pooled(record(passage) for passage in passages)
    assert [(p.id, p.title, p.sentences) for p in pool] == [
        (p.id, p.title, p.sentences) for p in pooled([record(*reversed(passages))])
    ]
    assert {p.sentences for p in pool} == {CAT.sentences, DOG.sentences}


@pytest.mark.parametrize(("name", "size"), [("hotpotqa", 12_676), ("2wikimultihopqa", 5_158), ("musique", 7_195)])
def test_the_real_pools_have_their_known_sizes(name: str, size: int, real_data: Callable[[str], Path]) -> None:
    official = datasets.DATASETS[name]
    files = [real_data(f"{name}/{names[-1]}.gz") for names in (official.train_files, official.dev_files)]
    records = [record for file in files for record in datasets.read(name, file)]
    passages = pooled(records)
    assert len(passages) == size
    assert passages == pooled(reversed(records))
    held = {passage.id for passage in passages}
    assert all(set(record.gold.support_ids) <= held for record in records if record.gold)


def test_the_real_corpus_file_is_read(real_data: Callable[[str], Path]) -> None:
    assert len(read_corpus(real_data("2wikimultihopqa/pooled_corpus.jsonl.gz"))) == 6_119


def test_the_fingerprint_depends_on_the_set_of_passages_alone() -> None:
    assert corpus_fingerprint([CAT, DOG]) == corpus_fingerprint([DOG, CAT, DOG])
    assert corpus_fingerprint([CAT, DOG]) != corpus_fingerprint([CAT])
    assert corpus_fingerprint([CAT]) == "6013a900791f880d"


def test_a_file_of_passages_is_read_plain_or_packed(tmp_path: Path) -> None:
    rows = [{"title": "Dog", "text": "Dogs bark. They dig."}, {"id": 7, "title": "Cat", "text": "Cats purr."}]
    plain = lines(tmp_path / "a.jsonl", *rows, rows[0])
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    expected = sorted([CAT, DOG], key=lambda passage: passage.id)
    assert read_corpus(plain) == read_corpus(packed) == expected
    assert {passage.sentences for passage in read_corpus(plain)} == {CAT.sentences, DOG.sentences}


def test_sentences_may_be_given(tmp_path: Path) -> None:
    row = {"title": "T", "text": "One. two; three", "sentences": ["One. two;", "", " three"]}
    (passage,) = read_corpus(lines(tmp_path / "a.jsonl", row))
    assert passage.sentences == ("One. two;", "", " three")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"text": "x"}, "'title' is missing; found the fields text"),
        ({"title": "x"}, "'text' is missing"),
        ({"title": 3, "text": "x"}, "'title' must be a string, found 3"),
        ({"title": "x", "text": None}, "'text' must be a string, found None"),
        ({"title": " ", "text": ""}, "both empty"),
        (["x"], "expected a JSON object"),
        ({"title": "x", "text": "y", "sentences": "y"}, "'sentences' must be a list"),
        ({"title": "x", "text": "y", "sentences": [1]}, r"'sentences'\[0\] must be a string"),
        ({"title": "x", "text": "y", "sentences": ["z"]}, "must hold the words of 'text'"),
    ],
)
def test_a_line_that_is_no_passage_is_named(row: Any, words: str, tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", {"title": "fine", "text": "fine"}, row)
    with pytest.raises(DataError, match=words) as caught:
        read_corpus(tmp_path)
    assert (caught.value.file, caught.value.record) == (str(file), 2)


def test_a_folder_is_read_with_its_subfolders(tmp_path: Path) -> None:
    text(tmp_path / "cat.md", "# Cat\n\nCats purr.\n")
    text(tmp_path / "sub" / "Dog.TXT", "Dogs bark. They dig.\n")
    lines(tmp_path / "sub" / "deep" / "x.jsonl", {"title": "Owl", "text": "Owls hoot."})
    text(tmp_path / ".hidden" / "no.txt", "Hidden.")
    text(tmp_path / ".no.txt", "Hidden.")
    text(tmp_path / "no.pdf", "Not read.")
    text(tmp_path / "blank.txt", " \n")
    assert {(passage.title, passage.text) for passage in read_corpus(tmp_path)} == {
        ("Cat", "Cats purr."),
        ("Dog", "Dogs bark. They dig."),
        ("Owl", "Owls hoot."),
    }


def test_a_corpus_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        read_corpus(tmp_path / "absent")
    text(tmp_path / "a.pdf", "x")
    with pytest.raises(DataError, match=r"no file ending in .jsonl, .jsonl.gz, .txt, .md"):
        read_corpus(tmp_path)
    with pytest.raises(DataError, match=r"expected a file ending in .jsonl"):
        read_corpus(tmp_path / "a.pdf")
    text(tmp_path / "a.txt", "\n")
    with pytest.raises(DataError, match=r"the corpus is empty: 1 file\(s\) read"):
        read_corpus(tmp_path)


def test_a_file_that_is_not_utf8_is_named_with_the_byte(tmp_path: Path) -> None:
    text(tmp_path / "a.txt", "Fine.")
    (tmp_path / "b.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match="byte 3 is 0xe9") as caught:
        read_corpus(tmp_path)
    assert caught.value.file == str(tmp_path / "b.txt")


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to(tmp_path / "absent")
    with pytest.raises(DataError, match=r"a.txt: there is no such file"):
        read_corpus(tmp_path)


@pytest.mark.parametrize(
    ("content", "title", "body"),
    [
        ("# The Cat #\n\nCats purr.", "The Cat", "Cats purr."),
        ("Preface.\n\n## The Cat\nCats purr.", "The Cat", "Preface. Cats purr."),
        ("# Cat\n\nCats purr.\n## Food\nFish.", "Cat", "Cats purr. Food Fish."),
        ("The Cat\n\nCats purr.", "The Cat", "Cats purr."),
        ("The Cat\nCats purr.", "The Cat", "Cats purr."),
        ("The Cat\n=======\n\nCats purr.", "The Cat", "Cats purr."),
        ("\r\nThe Cat\r\n\r\nCats purr.\r\n", "The Cat", "Cats purr."),
        ("Cats purr.\n\nDogs bark.", "my file", "Cats purr. Dogs bark."),
        ("Cats and dogs are\nkept by people.", "my file", "Cats and dogs are kept by people."),
        ("Cats purr all day long in the house", "my file", "Cats purr all day long in the house"),
        ("---\nCats purr.", "my file", "Cats purr."),
        ("word " * 13 + "\n\nCats purr.", "my file", "word " * 13 + "Cats purr."),
    ],
)
def test_a_document_has_a_title(content: str, title: str, body: str) -> None:
    passages = passages_of(content, "my_file")
    assert [(passage.title, passage.text) for passage in passages] == [(title, body)]


def test_long_documents_are_cut_at_paragraphs_then_sentences() -> None:
    sentence = "Word " * 19 + "end."
    short, long = sentence, " ".join([sentence] * 8)
    passages = passages_of(f"T\n\n{short}\n\n{short}\n\n{long}\n\n{short}", "x")
    assert {passage.title for passage in passages} == {"T"}
    assert [len(passage.sentences) for passage in passages] == [2, 6, 3]


def test_a_sentence_longer_than_a_passage_is_cut_between_words() -> None:
    passages = passages_of("Short.\n\n" + "word " * 300, "x")
    assert [len(passage.text.split()) for passage in passages] == [1, 120, 120, 60]


BODY = st.text("abC1é.!?)\n\r\t ", max_size=900) | st.lists(
    st.sampled_from(["word", "End.", "Next", "Mr.", "\n\n", "\n"]), max_size=600
).map(" ".join)


@given(BODY)
@settings(deadline=None)
def test_cutting_loses_no_word_and_keeps_the_bound(body: str) -> None:
    passages = passages_of(f"# The Title\n\n{body}", "stem")
    assert {passage.title for passage in passages} <= {"The Title"}
    assert " ".join(passage.text for passage in passages).split() == body.split()
    assert all(0 < len(passage.text.split()) <= MAX_WORDS for passage in passages)


@given(st.text("abC1é.!?\n #-=\r\t", max_size=300))
@settings(deadline=None)
def test_any_document_gives_passages_with_title_and_text(content: str) -> None:
    for passage in passages_of(content, "stem"):
        assert passage.title.strip()
        assert passage.text
