"""Index terms."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.text import STOP_WORDS
from evidencegym.retrieval import tokens
from evidencegym.retrieval.tokens import plain_words, rules_fingerprint, term, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("The of AND", []),
        ("Who directed Dune (1984 film)?", ["directed", "dune", "1984", "film"]),
        ("Einstein's and Beyoncé’s", ["einstein", "beyonce"]),
        ("It's who's", []),
        ("O'Neill son-in-law", ["o'neill", "son", "law"]),
        ("İSTANBUL Łódź", ["istanbul", "łodz"]),
        ("film film", ["film", "film"]),
        ("東京 ½", ["東京", "1⁄2"]),
        ("a\ud800b", ["b"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(st.text())
def test_a_term_is_never_empty_nor_a_stop_word_nor_holds_a_line_end(text: str) -> None:
    for found in terms(text):
        assert found
        assert found not in STOP_WORDS
        assert "\n" not in found
        found.encode("utf-8")


@given(st.text(alphabet="aeonc \u0301\u0308\u0327'é"))
def test_composed_and_decomposed_text_have_the_same_terms(text: str) -> None:
    assert terms(unicodedata.normalize("NFC", text)) == terms(unicodedata.normalize("NFD", text))


@given(st.text())
def test_terms_are_made_word_by_word(text: str) -> None:
    assert terms(text) == [found for found in (term(word) for word in plain_words(text)) if found]


def test_fingerprint_of_the_rules_follows_the_stop_words(monkeypatch: pytest.MonkeyPatch) -> None:
    before = rules_fingerprint()
    assert before == rules_fingerprint()
    monkeypatch.setattr(tokens, "STOP_WORDS", STOP_WORDS - {"the"})
    assert rules_fingerprint() != before


def test_fingerprint_of_the_rules_follows_the_treatment_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    before = rules_fingerprint()
    monkeypatch.setattr(tokens, "term", lambda word: word)
    assert rules_fingerprint() != before
