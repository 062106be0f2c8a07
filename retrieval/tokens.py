"""From text to index terms: what a passage is indexed under and what a query is looked up by."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from ..data.records import content_hash
from ..data.text import STOP_WORDS, words

_POSSESSIVE = ("'s", "’s")
_PROBE = "The Café's O’Neill re-told 1,000 snake_case tales of Beyonce\u0301's İstanbul: it's ½ Straße, 東京, d'Arc."


def plain_words(text: str) -> list[str]:
    """Return the lower-cased words of ``text``, letters and their accents composed first."""
    return words(text if text.isascii() else unicodedata.normalize("NFC", text))


@lru_cache(maxsize=1 << 18)
def term(word: str) -> str:
    """Return the index term of one lower-cased word, or an empty string for a stop word.

    A final "'s" is dropped, and so are accents; there is no stemming.
    """
    if word.endswith(_POSSESSIVE):
        word = word[:-2]
    if not word.isascii():
        parts = unicodedata.normalize("NFKD", word)
        word = "".join(c for c in parts if not unicodedata.combining(c)).lower()
    return "" if word in STOP_WORDS else word


def terms(text: str) -> list[str]:
    """Return the index terms of ``text``, in order, repetitions kept."""
    return [t for t in map(term, plain_words(text)) if t]


def rules_fingerprint() -> str:
    """Return a hash that changes when the rules of this module or its stop words change."""
    return content_hash(*sorted(STOP_WORDS), "", *terms(_PROBE))
