"""The candidate answers of a passage with all that no question changes: shape, place, words around; cached."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..data.records import Passage
from ..data.text import STOP_WORDS
from .lexicon import DEMONYMS, MONTHS, NATION_WORDS, NUMBER_WORDS, UNITS, stem_id, word_id
from .question import strip_possessive
from .reading import PassageReading, read_passage, sentence_tokens, text_key
from .spans import DATE, NAME, NUMBER, PART, QUOTED, YEAR, Span, Token, candidate_spans

TITLE = 7
N_CUES = 17
N_STEMS = 6
NAME_KINDS = (NAME, QUOTED, YEAR, TITLE)
STATIC_FEATURES = (
    "kind", "tokens", "chars", "capitals", "digits", "place_in_sentence", "sentence_index", "in_lead_parentheses",
    "nation_word", "demonym", "month", "year", "unit", "particle", "personlike", "before_by", "before_in", "before_of",
    "before_comma", "before_parenthesis", "after_parenthesis", "after_comma", "starts_sentence", "number_word",
    "is_part", "is_title", "in_quotes",
)  # fmt: skip
_ARTICLES = frozenset("a an the".split())
_BY, _OF, _COMMA, _OPEN = (word_id(w) for w in ("by", "of", ",", "("))
_IN = [word_id(w) for w in ("in", "at", "near")]
_QUOTES = [word_id(w) for w in ('"', "“")]
_BEFORE, _AFTER = 9, 6


@dataclass(frozen=True, slots=True, eq=False)
class CandidateReading:
    """The candidate answers of a passage, ordered by (sentence, first token, last token), the title's first.

    Attributes:
        texts: the candidates as written.
        row: (n,) row in ``PassageReading.sentences`` of each.
        first, last: (n,) token places in ``stems``.
        stems: (t,) stem ids of all tokens, 0 between sentences; begin, end: (rows,) bounds of each row's tokens.
        norms: normalised text of each candidate (no case, punctuation, articles); norm_ids: (n,) int64 of it.
        own_stems: (n, N_STEMS) uint32, stem ids of its first tokens; 0 fills up.
        static: (n, len(STATIC_FEATURES)) float32.
        cues: (n, N_CUES) uint32, hashed cues of shape and context; 0 fills up.
        names: (m,) the candidates that are names to search for; name_keys: their keys; name_ids: (m,) int64 of them.
    """

    texts: tuple[str, ...]
    row: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    stems: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    norms: tuple[str, ...]
    norm_ids: NDArray[np.int64]
    own_stems: NDArray[np.uint32]
    static: NDArray[np.float32]
    cues: NDArray[np.uint32]
    names: NDArray[np.int64]
    name_keys: tuple[str, ...]
    name_ids: NDArray[np.int64]


@lru_cache(maxsize=200_000)
def _word(text: str) -> tuple[int, int, str, int, int, int, int, int, int, int, int]:
    """Return what is known of a token: word id, stem id, plain form, and flags."""
    lower = strip_possessive(text.lower())
    plain = "".join(c for c in lower if c.isalnum())
    alnum = text[0].isalnum()
    return (
        word_id(lower),
        stem_id(lower) if alnum else 0,
        "" if plain in _ARTICLES else plain,
        text[0].isupper(),
        sum(c.isdigit() for c in lower),
        lower in MONTHS,
        lower in NUMBER_WORDS,
        lower in UNITS,
        lower in STOP_WORDS,
        len(lower) == 4 and lower.isdigit(),
        lower in NATION_WORDS,
    )


@lru_cache(maxsize=15_000)
def read_candidates(passage: Passage) -> CandidateReading:
    """Find the candidates of a passage."""
    reading = read_passage(passage)
    spans: list[Span] = []
    row: list[int] = []
    parts: list[Token | None] = [None]
    begin: list[int] = []
    end: list[int] = []
    for r, sentence in enumerate(reading.sentences):
        own = sentence_tokens(sentence.text)
        found = candidate_spans(sentence.text, own) if r else _title_span(sentence.text, own)
        begin.append(len(parts))
        parts += own
        end.append(len(parts))
        parts.append(None)
        spans += found
        row += [r] * len(found)
    layout = _Layout(reading, spans, np.array(row, np.int64), parts, np.array(begin), np.array(end))
    return layout.reading()


def _title_span(core: str, parts: list[Token]) -> list[Span]:
    return [Span(0, len(parts) - 1, core, TITLE)] if parts else []


def name_key(text: str) -> str:
    """Return the key of a name to search for, or "" when it is none."""
    key = text_key(text).strip()
    dated = any(c.isdigit() for c in key) and any(w in MONTHS for w in key.split())
    return "" if len(key) < 3 or key in STOP_WORDS or (key.isdigit() and len(key) != 4) or dated else key


class _Layout:
    """All tokens of a passage in one row, and the candidates in it, as arrays."""

    def __init__(
        self,
        reading: PassageReading,
        spans: list[Span],
        row: NDArray[np.int64],
        parts: list[Token | None],
        begin: NDArray[np.int64],
        end: NDArray[np.int64],
    ) -> None:
        self.passage, self.spans, self.row, self.begin, self.end = reading, spans, row, begin, end
        known = [(0, 0, "", 0, 0, 0, 0, 0, 0, 0, 0) if t is None else _word(t.text) for t in parts]
        self.plain = [k[2] for k in known]
        table = np.array([(*k[:2], *k[3:]) for k in known], np.int64)
        self.word, self.stem = table[:, 0], table[:, 1]
        self.flags = table[:, 2:]
        self.first = np.array([s.first for s in spans], np.int64) + begin[row]
        self.last = np.array([s.last for s in spans], np.int64) + begin[row]
        self.kind = np.array([s.kind for s in spans], np.int64)
        self.sums = np.concatenate([np.zeros((1, self.flags.shape[1]), np.int64), self.flags.cumsum(axis=0)])
        self.lead = self._leads(parts)

    def reading(self) -> CandidateReading:
        """Return the finished arrays."""
        norms = tuple(" ".join(filter(None, self.plain[f : n + 1])) for f, n in zip(self.first, self.last))
        static = self.static()
        keys = [name_key(s.text) if s.kind in NAME_KINDS else "" for s in self.spans]
        names = [i for i, key in enumerate(keys) if key]
        columns = self.first[:, None] + np.arange(N_STEMS)
        own = np.where(columns <= self.last[:, None], self.stem[np.minimum(columns, len(self.stem) - 1)], 0)
        return CandidateReading(
            texts=tuple(s.text for s in self.spans), row=self.row, first=self.first, last=self.last,
            stems=self.stem, begin=self.begin,
            end=self.end, norms=norms, norm_ids=np.array([word_id(n) for n in norms], np.int64),
            own_stems=own.astype(np.uint32), static=static, cues=self.cues(static).astype(np.uint32),
            names=np.array(names, np.int64),
            name_keys=tuple(keys[i] for i in names), name_ids=np.array([word_id(keys[i]) for i in names], np.int64),
        )  # fmt: skip

    def _count(self, flag: int) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = self.sums[self.last + 1, flag] - self.sums[self.first, flag]
        return counts

    def _leads(self, parts: list[Token | None]) -> NDArray[np.int64]:
        """Return per candidate its place in the first parenthesis of an opening sentence; see ``_lead_position``."""
        out = np.zeros(len(self.spans), np.int64)
        for r in range(1, min(3, len(self.begin))):
            own = [t for t in parts[self.begin[r] : self.end[r]] if t is not None]
            opens, dash, close = lead_parentheses(own)
            if close:
                for i in np.nonzero(self.row == r)[0]:
                    out[i] = _lead_position(self.spans[i], opens, dash, close)
        return out

    def static(self) -> NDArray[np.float32]:
        """Return (n, len(STATIC_FEATURES))."""
        n = self.last - self.first + 1
        before, after = self.word[self.first - 1], self.word[self.last + 1]
        place = (self.first - self.begin[self.row]) / np.maximum(self.end[self.row] - self.begin[self.row], 1)
        texts = [s.text.lower() for s in self.spans]
        index = self.passage.columns[self.row, 0]
        nation = np.array([t in NATION_WORDS for t in texts], bool) | (self.flags[self.last, 7] > 0)
        capitals = self._count(0) / n
        particle = self._count(5) > 0
        named = np.isin(self.kind, (NAME, PART, TITLE))
        person = named & (n >= 2) & (n <= 4) & (capitals == 1.0) & ~particle
        unit = self._count(4) - self.flags[self.first, 4] > 0
        quoted = np.isin(before, _QUOTES)
        columns = [
            self.kind, n, [len(t) for t in texts], capitals, self._count(1), place, index, self.lead, nation,
            [t in DEMONYMS for t in texts], self._count(2) > 0, self._count(6) > 0, unit, particle, person,
            before == _BY, np.isin(before, _IN), before == _OF, before == _COMMA, quoted | (before == _OPEN),
            after == _OPEN,
            after == _COMMA, self.first == self.begin[self.row], self.flags[self.first, 3], self.kind == PART,
            self.kind == TITLE, quoted | (self.kind == QUOTED),
        ]  # fmt: skip
        return np.stack([np.asarray(c, np.float32) for c in columns], axis=1).reshape(len(self.spans), len(columns))

    def _shape(self, static: NDArray[np.float32]) -> NDArray[np.int64]:
        flag = static[:, (14, 8, 10, 12)].astype(np.int64)
        capital = (static[:, 3] > 0.5).astype(np.int64)
        name = flag[:, 0] * 16 + flag[:, 1] * 32 + capital * 64
        date = 128 + flag[:, 2] * 16
        number = 256 + np.minimum(static[:, 1], 2).astype(np.int64) * 16 + flag[:, 3] * 64
        dated = (self.kind == DATE) | (self.kind == YEAR)
        return self.kind + np.where(dated, date, np.where(self.kind == NUMBER, number, name))

    def cues(self, static: NDArray[np.float32]) -> NDArray[np.int64]:
        """Hash the shape of each candidate and the words around it."""
        shape = self._shape(static)
        n = len(shape)
        one, two = self.word[self.first - 1], self.word[np.maximum(self.first - 2, 0)]
        two = np.where(one == 0, 0, two)
        before, after = self._content_before(), self._content_after()
        at = np.minimum(static[:, 6], 3).astype(np.int64) * 4 + (static[:, 5] * 4).astype(np.int64)
        length = np.minimum(self.last - self.first, 5)
        columns = [
            _mix(1, shape, shape), _mix(2, self.lead + 1, shape), _mix(3, one, shape), _mix(4, two, one),
            _mix(5, self.word[self.last + 1], shape), _mix(6, self.stem[self.last], length * 0), _mix(7, length, shape),
            _mix(8, at, shape), *(_some(9, before[:, j]) for j in range(4)),
            *(_some(10, after[:, j]) for j in range(3)),
            *(np.where(before[:, j] == 0, 0, _mix(11, before[:, j], shape)) for j in range(2)),
        ]  # fmt: skip
        return np.stack(columns, axis=1).reshape(n, N_CUES) if n else np.zeros((0, N_CUES), np.int64)

    def _content_before(self) -> NDArray[np.int64]:
        """Return (n, 4) stems of the nearest content words before each candidate, within nine tokens."""
        places = np.nonzero(self.stem)[0]
        at = np.searchsorted(places, self.first)
        low = np.maximum(self.begin[self.row], self.first - _BEFORE)
        return self._picked(places, at[:, None] - 1 - np.arange(4), low, self.first - 1)

    def _content_after(self) -> NDArray[np.int64]:
        places = np.nonzero(self.stem)[0]
        at = np.searchsorted(places, self.last, side="right")
        high = np.minimum(self.end[self.row] - 1, self.last + _AFTER)
        return self._picked(places, at[:, None] + np.arange(3), self.last + 1, high)

    def _picked(
        self, places: NDArray[np.int64], at: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        if not len(places):
            return np.zeros(at.shape, np.int64)
        inside = (at >= 0) & (at < len(places))
        place = places[np.clip(at, 0, len(places) - 1)]
        kept = inside & (place >= low[:, None]) & (place <= high[:, None])
        return np.where(kept, self.stem[place], 0)


def _mix(tag: int, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hash pairs of numbers to odd numbers below 2^32."""
    x = a.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + b.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    x += np.uint64(tag * 0x165667B19E3779F9 & 0xFFFFFFFFFFFFFFFF)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    return ((x >> np.uint64(32)) | np.uint64(1)).astype(np.int64)


def _some(tag: int, a: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(a == 0, 0, _mix(tag, a, a))


def lead_parentheses(parts: list[Token]) -> tuple[int, int, int]:
    """Return the token places of a sentence's first parenthesis: open, dash between halves (-1: none), close; or 0s."""
    opens = next((i for i, t in enumerate(parts) if t.text == "("), -1)
    if opens < 0:
        return (0, 0, 0)
    close = next((i for i in range(opens, len(parts)) if parts[i].text == ")"), len(parts) - 1)
    dash = next((i for i in range(opens, close) if parts[i].text in "–—-" and _between_dates(parts, i)), -1)
    if dash < 0:
        months = [i for i in range(opens, close) if parts[i].text.lower() in MONTHS]
        dash = months[1] - 1 if len(months) == 2 else -1
    return (opens, dash, close)


def _between_dates(parts: list[Token], i: int) -> bool:
    before = any(any(c.isdigit() for c in t.text) for t in parts[max(0, i - 6) : i])
    return before and any(any(c.isdigit() for c in t.text) for t in parts[i + 1 : i + 8])


def _lead_position(span: Span, opens: int, dash: int, close: int) -> int:
    """Return 0 outside the parenthesis, 1 in one without a dash, else 2 before the dash and 3 after."""
    if not opens < span.first < close:
        return 0
    if dash < 0:
        return 1
    return 2 if span.first < dash and span.last <= dash + 1 else 3
