"""Candidate answer spans of one sentence: names, dates, numbers, quotations, parentheses, noun phrases."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from ..data.text import STOP_WORDS
from .lexicon import MONTHS, NUMBER_WORDS

NAME, DATE, YEAR, NUMBER, QUOTED, PHRASE, PART = range(7)

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*(?:st|nd|rd|th|s)?\b|[^\W_]+(?:['’.][^\W_]+)*|[^\w\s]|_")
_MONTH = "(?:" + "|".join(name.capitalize() for name in MONTHS) + ")"
_DATE = re.compile(
    rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? ?\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH},? ?\d{{4}}|{_MONTH},? \d{{4}}"
    rf"|{_MONTH} \d{{1,2}}\b|\b\d{{1,2}} {_MONTH}|\b(?:from |between )?\d{{4}} ?(?:to|until|and|–|-) ?\d{{4}}\b"
    r"|\b\d{4}s?\b"
)
_QUOTE = re.compile(r"[\"“]\s?([^\"”“]{2,80}?)[\"”]")
_PARENTHESES = re.compile(r"\(([^()]{2,60})\)")
_PARTICLES = frozenset("of the and de da di du van von der den la le el al for in on to a".split())
_GLUE = frozenset("-&/’'.–+")
_MAX_SPAN = 9
_MAX_PHRASE = 6
_BREAKS = STOP_WORDS | frozenset(
    "became become located born died known called named located founded released directed written produced starring "
    "including used made based played won plays can may would will could should until since after before while about "
    "against under over through around near within without upon among although because though however where when who "
    "one's cf e.g i.e".split()
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a punctuation mark with its character offsets."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """A candidate: tokens ``first`` to ``last`` (inclusive) of a sentence, its text and its kind."""

    first: int
    last: int
    text: str
    kind: int


def tokens(sentence: str) -> list[Token]:
    """Cut a sentence into words and punctuation marks."""
    return [Token(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(sentence)]


def candidate_spans(sentence: str, parts: list[Token]) -> list[Span]:
    """Return the candidate answers of a sentence, without repetition, ordered by (first, last)."""
    found: dict[tuple[int, int], Span] = {}
    _add_dates(sentence, parts, found)
    runs = _name_runs(parts)
    for first, last in runs:
        _add_name(sentence, parts, first, last, found)
    _add_joined(sentence, parts, runs, found)
    _add_numbers(sentence, parts, found)
    _add_enclosed(sentence, parts, found)
    _add_phrases(sentence, parts, found)
    return [found[key] for key in sorted(found)]


def _add(
    sentence: str, parts: list[Token], first: int, last: int, kind: int, found: dict[tuple[int, int], Span]
) -> None:
    if first > last or last - first >= _MAX_SPAN or (first, last) in found:
        return
    text = sentence[parts[first].start : parts[last].end]
    if text.endswith(("'s", "’s")):
        text = text[:-2]
    if text:
        found[first, last] = Span(first, last, text, kind)


def _is_cap(token: Token) -> bool:
    head = token.text[0]
    return head.isupper() or head.isdigit()


def _name_runs(parts: list[Token]) -> list[tuple[int, int]]:
    """Return maximal runs of capitalised tokens; particles and glued punctuation may stand inside."""
    runs: list[tuple[int, int]] = []
    i, n = 0, len(parts)
    while i < n:
        if not _is_cap(parts[i]):
            i += 1
            continue
        last = i
        while (j := _next_of_run(parts, last)) > last:
            last = j
        runs.append((i, last))
        i = last + 1
    return runs


def _next_of_run(parts: list[Token], last: int) -> int:
    """Return the index of the token that continues a name after ``last``, or ``last`` when none does."""
    if parts[last].text.endswith(("'s", "’s")):
        return last
    j = last + 1
    glued = 0
    while j < len(parts) and j - last <= 3:
        text = parts[j].text
        if _is_cap(parts[j]):
            return j
        if text in _PARTICLES:
            j += 1
        elif text in _GLUE and glued == 0 and _glues(parts, j):
            glued += 1
            j += 1
        elif glued and text[0].islower() and parts[j].start == parts[j - 1].end:
            return j
        else:
            return last
    return last


def _glues(parts: list[Token], j: int) -> bool:
    """Say whether a punctuation mark holds two words together: "Smith-Jones", "J. R.", "Rock & Roll"."""
    before, mark = parts[j - 1], parts[j]
    if mark.text == "&":
        return True
    if mark.text == ".":
        return before.end == mark.start and (len(before.text) == 1 or before.text in {"St", "Dr", "Mr", "Mrs", "Jr"})
    return before.end == mark.start and j + 1 < len(parts) and parts[j + 1].start - mark.end <= 1


def _add_name(s: str, parts: list[Token], first: int, last: int, found: dict[tuple[int, int], Span]) -> None:
    """Add a run, the run without a leading stop word, and the pieces between its particles."""
    if parts[first].text.lower() in STOP_WORDS:
        first += 1
        while first <= last and parts[first].text in _PARTICLES:
            first += 1
    _add(s, parts, first, last, NAME, found)
    start = first
    for i in range(first, last + 1):
        if parts[i].text in _PARTICLES:
            if i > start:
                _add(s, parts, start, i - 1, NAME, found)
            start = i + 1
    if start > first:
        _add(s, parts, start, last, NAME, found)
    if last - first >= 2:
        _add_part(s, parts, first + 1, last, found)
        _add_part(s, parts, last, last, found)
        _add_part(s, parts, first, last - 1, found)
    elif last > first:
        _add_part(s, parts, last, last, found)
        _add_part(s, parts, first, first, found)


def _add_part(s: str, parts: list[Token], first: int, last: int, found: dict[tuple[int, int], Span]) -> None:
    if _is_cap(parts[first]) and _is_cap(parts[last]):
        _add(s, parts, first, last, PART, found)


def _add_joined(s: str, parts: list[Token], runs: list[tuple[int, int]], found: dict[tuple[int, int], Span]) -> None:
    """Add "Canton, Massachusetts": two runs with nothing but a comma between them."""
    for (first, end), (begin, last) in pairwise(runs):
        if begin == end + 2 and parts[end + 1].text == "," and not parts[begin].text[0].isdigit():
            _add(s, parts, first, last, NAME, found)


def _add_dates(s: str, parts: list[Token], found: dict[tuple[int, int], Span]) -> None:
    if not any(c.isdigit() for c in s):
        return
    for match in _DATE.finditer(s):
        first = next((i for i, t in enumerate(parts) if t.end > match.start()), 0)
        last = next((i for i in range(first, len(parts)) if parts[i].end >= match.end()), len(parts) - 1)
        text = match.group()
        kind = YEAR if len(text) <= 5 else DATE
        found.setdefault((first, last), Span(first, last, text, kind))
        if kind == DATE and text[-4:].isdigit():
            found.setdefault((last, last), Span(last, last, text[-4:], YEAR))


def _add_numbers(s: str, parts: list[Token], found: dict[tuple[int, int], Span]) -> None:
    for i, token in enumerate(parts):
        text = token.text
        if not (text[0].isdigit() or text.lower() in NUMBER_WORDS):
            continue
        _add(s, parts, i, i, NUMBER, found)
        for ahead in (1, 2):
            j = i + ahead
            if j < len(parts) and all(parts[k].text.isalpha() or parts[k].text in "%-" for k in range(i + 1, j + 1)):
                _add(s, parts, i, j, NUMBER, found)
        if i and parts[i - 1].text in "$£€":
            _add(s, parts, i - 1, i, NUMBER, found)
            if i + 1 < len(parts) and parts[i + 1].text in {"million", "billion"}:
                _add(s, parts, i - 1, i + 1, NUMBER, found)


def _add_enclosed(s: str, parts: list[Token], found: dict[tuple[int, int], Span]) -> None:
    if not any(mark in s for mark in '"“('):
        return
    for match in (*_QUOTE.finditer(s), *_PARENTHESES.finditer(s)):
        inside = [i for i, t in enumerate(parts) if t.start >= match.start(1) and t.end <= match.end(1)]
        if inside:
            _add(s, parts, inside[0], inside[-1], QUOTED, found)


def _add_phrases(s: str, parts: list[Token], found: dict[tuple[int, int], Span]) -> None:
    """Add runs of content words ("heart attack", "alternative rock band") and their beginnings and ends."""
    i, n = 0, len(parts)
    while i < n:
        if not _in_phrase(parts[i]):
            i += 1
            continue
        j = i
        while j + 1 < n and _joins(parts, j):
            j += 1
        _add_run(s, parts, i, j, found)
        if j + 2 < n and parts[j + 1].text == "of":
            k = j + 2 + (parts[j + 2].text in {"the", "a"})
            end = k
            while end + 1 < n and _joins(parts, end):
                end += 1
            if end < n and _in_phrase(parts[end]) and end - i < _MAX_PHRASE + 1:
                _add(s, parts, max(i, j - 1), end, PHRASE, found)
        i = j + 1


def _add_run(s: str, parts: list[Token], first: int, last: int, found: dict[tuple[int, int], Span]) -> None:
    if last - first < _MAX_PHRASE:
        _add(s, parts, first, last, PHRASE, found)
    for length in (1, 2, 3):
        if length <= last - first:
            _add(s, parts, last - length + 1, last, PHRASE, found)
            if length < 3:
                _add(s, parts, first, first + length - 1, PHRASE, found)


def _in_phrase(token: Token) -> bool:
    return token.text[0].isalpha() and token.text.lower() not in _BREAKS


def _joins(parts: list[Token], j: int) -> bool:
    """Say whether the token after ``j`` continues a phrase; a hyphen between words does."""
    after = parts[j + 1]
    if after.text == "-":
        return j + 2 < len(parts) and _in_phrase(parts[j + 2]) and after.start == parts[j].end
    return (parts[j].text == "-" or not parts[j].text.endswith(("'s", "’s"))) and _in_phrase(after)
