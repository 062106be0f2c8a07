"""Names, kinds of things and keywords in a question."""

import pytest

from evidencegym.retrieval.question_entities import (
    MAX_NAME,
    MAX_SUFFIXES,
    SUFFIXES,
    entities,
    keywords,
    parts,
    suffixes,
)


@pytest.mark.parametrize(
    ("query", "question", "expected"),
    [
        ("Where was Ada Lovelace's father born?", "", ("Ada Lovelace",)),
        ("Who directed Titanic and The Abyss?", "", ("Titanic and The Abyss",)),
        ('Who sang "Like a Rolling Stone" in Newport?', "", ("Like a Rolling Stone", "Newport")),
        ("Name the capital of Peru", "", ("Peru",)),
        ("Was Lord Byron older than Byron?", "", ("Lord Byron",)),
        ("father born", "Where was the father of Ada Lovelace born?", ("Ada Lovelace",)),
        ("Lord Byron born", "Where was Ada Lovelace's father Lord Byron born?", ("Lord Byron", "Ada Lovelace")),
        ("What happened in 1912 and 1,000?", "", ()),
        ('Who wrote "1984"?', "", ("1984",)),
        ("who directed it", "", ()),
        ("", "", ()),
        ('What is "a|b#c [d]"?', "", ("a b c d",)),
        ('What is ":Category"?', "", ("Category",)),
        ("Did E\u0301mile Zola write?", "", ("\u00c9mile Zola",)),
        (f"Is {'X' * (MAX_NAME + 1)} long?", "", ()),
    ],
)
def test_names_are_found_in_query_and_question(query: str, question: str, expected: tuple[str, ...]) -> None:
    assert entities(query, question) == expected


def test_and_may_join_names() -> None:
    assert parts("Titanic and The Abyss") == ("Titanic", "The Abyss")
    assert parts("Titanic") == parts("Andes") == ()


def test_kinds_are_those_of_the_words_of_the_question() -> None:
    assert suffixes("Who directed Titanic?") == ("film",)
    assert suffixes("Which band sang this song?") == ("band", "song")
    assert suffixes("Who wrote the novel?") == ("book", "novel")
    assert suffixes("Where is Titanic?") == ()
    assert len(suffixes(" ".join(SUFFIXES))) == MAX_SUFFIXES


def test_no_word_asks_for_two_lists_of_kinds() -> None:
    every = [word for group in SUFFIXES for word in group.split()]
    assert len(every) == len(set(every))


def test_keywords_hold_no_operator() -> None:
    assert keywords('Who -was "Ada" insource:/x/ ~Byron OR the Byron?') == "ada insource x byron"
    assert keywords("of the") == ""
    long = keywords(" ".join(f"word{number}" for number in range(100)))
    assert len(long) <= 300
    assert long.split()[-1] in {f"word{number}" for number in range(100)}
