"""What a passage tells of its subject that comparisons ask for: dates, numbers, countries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..data.records import Passage
from ..data.text import STOP_WORDS, words
from .lexicon import COUNTRY_OF_REGION, MONTHS, NATION_OF
from .question import strip_possessive

_MONTH = "|".join(name.capitalize() for name in MONTHS)
_FULL = re.compile(
    rf"(?:(\d{{1,2}}) ({_MONTH})|({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?),? ?(\d{{4}})|\b(1\d{{3}}|20\d{{2}})"
)
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


@dataclass(frozen=True, slots=True, eq=False)
class Attributes:
    """What can be compared about a passage's subject; None where the text does not say."""

    birth: float | None
    death: float | None
    first: float | None
    number: float | None
    nations: tuple[str, ...]
    regions: tuple[str, ...]
    lead_names: frozenset[str]


@lru_cache(maxsize=30_000)
def attributes(passage: Passage) -> Attributes:
    """Read birth, death, first date, greatest number and countries from the opening of a passage."""
    text = " ".join(passage.sentences[:3])[:1500]
    everything = passage.text[:4000]
    dates = [(_as_years(m), m.start()) for m in _FULL.finditer(text)]
    later = [_as_years(m) for m in _FULL.finditer(everything)]
    birth, death = _life(text, dates)
    numbers = [float(n.replace(",", "")) for n in _NUMBER.findall(everything) if len(n) < 16]
    lowered = [strip_possessive(w) for w in words(text)]
    lead = frozenset(w for w in words(passage.sentences[0] if passage.sentences else "") if w not in STOP_WORDS)
    return Attributes(
        birth, death, later[0] if later else None, max(numbers, default=None),
        _named(lowered, NATION_OF), _named(lowered, COUNTRY_OF_REGION), lead,
    )  # fmt: skip


def _as_years(match: re.Match[str]) -> float:
    """Return a date as years with a fraction."""
    day, month, month2, day2, year, alone = match.groups()
    if alone:
        return float(alone)
    number = MONTHS[(month or month2).lower()]
    return float(year) + (number - 1) / 12 + int(day or day2) / 372


def _life(text: str, dates: list[tuple[float, int]]) -> tuple[float | None, float | None]:
    """Return birth and death from "(12 May 1900 – 3 June 1970)", "born 1900", "died in 1970"."""
    opens = text.find("(")
    close = text.find(")", opens) if opens >= 0 else -1
    inside = [d for d, at in dates if opens < at < close] if opens >= 0 else []
    birth = death = None
    if len(inside) >= 2:
        birth, death = inside[0], next((d for d in inside[1:] if d - inside[0] > 8), None)
    elif inside:
        birth = inside[0]
        if re.search(r"\b(?:died|d\.)", text[opens:close]):
            birth, death = None, inside[0]
    return (
        _after(text, dates, r"\bborn\b") if birth is None else birth,
        _after(text, dates, r"\b(?:died|death|killed)\b") if death is None else death,
    )


def _after(text: str, dates: list[tuple[float, int]], pattern: str) -> float | None:
    match = re.search(pattern, text)
    if match is None:
        return None
    return next((d for d, at in dates if match.end() <= at < match.end() + 70), None)


def _named(lowered: list[str], table: dict[str, str]) -> tuple[str, ...]:
    """Return the countries that words or pairs of words stand for, in order, without repetition."""
    found = []
    for i, word in enumerate(lowered):
        pair = f"{word} {lowered[i + 1]}" if i + 1 < len(lowered) else ""
        country = table.get(pair) or table.get(word)
        if country:
            found.append(country)
    return tuple(dict.fromkeys(found))
