"""A passage, read once and kept in a cache: its sentences, their stems, and what a question is compared with."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..data.records import Passage
from ..data.text import words
from .lexicon import stem_id
from .question import strip_possessive
from .spans import Token, tokens

_MAX_SENTENCES = 60
_MAX_TOKENS = 150
_MAX_CHARS = 2_000
_CLOSING = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass(frozen=True, slots=True, eq=False)
class SentenceReading:
    """A sentence: its index in the passage (-1 for the title), text, key, stems and number of words."""

    index: int
    text: str
    key: str
    stems: frozenset[int]
    n_words: int


@dataclass(frozen=True, slots=True, eq=False)
class PassageReading:
    """A passage read once.

    Attributes:
        passage: the passage.
        title_core: the title without a closing parenthesis.
        title_key: lower-case words of ``title_core``, one space at either end; empty for a title without words.
        full_key: the same of the whole title.
        title_stems: stem ids of ``title_core``.
        sentences: the title (index -1), then the non-empty sentences.
        stems: union of the stems of sentences and title.
        key: the keys of the sentences joined.
        n_words: words of title and sentences.
        flat_stems: (m,) int64, the stems of each row, row after row; flat_row: (m,) their rows.
        flat_title: (m,) bool, whether the stem is one of the title's.
        columns: (rows, 5) float32: index, number of rows, words, is the title, holds the title's words.
    """

    passage: Passage
    title_core: str
    title_key: str
    full_key: str
    title_stems: frozenset[int]
    sentences: tuple[SentenceReading, ...]
    stems: frozenset[int]
    key: str
    n_words: int
    flat_stems: NDArray[np.int64]
    flat_row: NDArray[np.int64]
    flat_title: NDArray[np.bool_]
    columns: NDArray[np.float32]


@lru_cache(maxsize=20_000)
def read_passage(passage: Passage) -> PassageReading:
    """Read a passage; at most 60 sentences of 150 tokens are read, the rest is passed over."""
    core = title_core(passage.title)
    rows = [(-1, core), *[(i, s) for i, s in enumerate(passage.sentences) if s.strip()][:_MAX_SENTENCES]]
    sentences = tuple(_sentence(index, text[:_MAX_CHARS]) for index, text in rows)
    key = text_key(core)
    stems = [np.array(sorted(s.stems), np.int64) for s in sentences]
    flat = np.concatenate(stems)
    return PassageReading(
        passage=passage,
        title_core=core,
        title_key=key,
        full_key=text_key(passage.title),
        title_stems=sentences[0].stems,
        sentences=sentences,
        stems=frozenset(flat.tolist()),
        key="|".join(s.key for s in sentences[1:]),
        n_words=sum(s.n_words for s in sentences),
        flat_stems=flat,
        flat_row=np.repeat(np.arange(len(stems)), [len(s) for s in stems]),
        flat_title=np.isin(flat, stems[0]),
        columns=_columns(sentences, key),
    )


def only(passage: Passage, sentences: Collection[int]) -> Passage:
    """Return a passage with every other sentence emptied; indices stay, the id is another."""
    return Passage.of(passage.title, (s if i in sentences else "" for i, s in enumerate(passage.sentences)))


def title_core(title: str) -> str:
    """Return a title without a closing parenthesis."""
    return _CLOSING.sub("", title).strip() or title.strip()


def text_key(text: str) -> str:
    """Return the lower-case words, one space between and at either end; empty for a text without words."""
    found = [strip_possessive(w) for w in words(text)]
    return " " + " ".join(found) + " " if found else ""


def sentence_tokens(text: str) -> list[Token]:
    """Return the tokens of a sentence that are read, 150 at most."""
    return tokens(text)[:_MAX_TOKENS]


def _sentence(index: int, text: str) -> SentenceReading:
    parts = sentence_tokens(text)
    key = text_key(text)
    lowered = [strip_possessive(t.text.lower()) for t in parts if t.text[0].isalnum()]
    return SentenceReading(index, text, key or "  ", frozenset(map(stem_id, lowered)) - {0}, len(lowered))


def _columns(sentences: tuple[SentenceReading, ...], key: str) -> NDArray[np.float32]:
    rows = [(s.index, len(sentences), s.n_words, s.index < 0, bool(key) and key in s.key) for s in sentences]
    return np.array(rows, np.float32).reshape(len(rows), 5)
