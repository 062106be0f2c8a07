"""What the extractive reader takes from a question: its words, its form, the sides of a comparison."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..data.text import STOP_WORDS, words
from .lexicon import PERSON_CUES, PLACE_CUES, stem, stem_id, word_id

OTHER, PERSON, PLACE, DATE, YEAR, COUNT, NATION, YES_NO, CHOICE = range(9)
MAX_CUES = 22
_MAX_CHARS = 6_000
_WH = ("who", "whom", "whose", "when", "where", "which", "what", "why", "how")
_AUXILIARY = frozenset("is are was were do does did has have had can could will would".split())
_MEASURES = frozenset("many much old long tall large far high big".split())
_ORDER_WORDS = frozenset(
    "first earlier later older younger longer shorter more most fewer larger bigger smaller taller higher oldest "
    "youngest recently newer before after last farther closer greater largest better".split()
)


@dataclass(frozen=True, slots=True, eq=False)
class QuestionReading:
    """A question, read once.

    Attributes:
        text: the question, cut at 6,000 characters so that time stays bounded.
        key: its lower-case words joined by spaces, one space at either end.
        relation: stem ids of its lower-case content words.
        entity: stem ids of its capitalised or numeric content words.
        form: one of the constants of this module (PERSON, PLACE, DATE, ...).
        sides: the two alternatives of a choice, as written; empty otherwise.
        asked: stem ids of the first content words after the asking word ("which *British cinematographer* worked ...").
        life: 1 where it asks about birth, 2 about death, 0 else.
        cues: (MAX_CUES,) int64, hashed cues of what is asked; 0 fills up.
        content: the content words in order, without repetition, lower-cased.
    """

    text: str
    key: str
    relation: frozenset[int]
    entity: frozenset[int]
    form: int
    sides: tuple[str, ...]
    asked: frozenset[int]
    life: int
    cues: NDArray[np.int64]
    content: tuple[str, ...]


@lru_cache(maxsize=20_000)
def read_question(text: str) -> QuestionReading:
    """Read a question; any text is accepted, the empty one included."""
    text = text[:_MAX_CHARS]
    raw = re.findall(r"\w+(?:['’]\w+)?", text)
    lowered = [w.lower() for w in raw]
    entity = {stem_id(w.lower()) for w in raw[1:] if w[0].isupper() or w[0].isdigit()}
    if raw and not _opens(lowered[0]):
        entity.add(stem_id(lowered[0]))
    relation = {stem_id(w) for w in lowered} - entity
    content = tuple(dict.fromkeys(w for w in lowered if w not in STOP_WORDS))
    sides = choice_sides(text)
    form = question_form(lowered, sides, text)
    key = " " + " ".join(strip_possessive(w) for w in lowered) + " "
    return QuestionReading(
        text=text,
        key=key,
        relation=frozenset(relation - {0}),
        entity=frozenset(entity - {0}),
        form=form,
        sides=sides if form == CHOICE else (),
        asked=_asked(raw, lowered),
        life=_life(lowered),
        cues=_cues(raw, lowered, form),
        content=content,
    )


def _asked(raw: list[str], lowered: list[str]) -> frozenset[int]:
    """Return the stems of up to three lower-case content words that follow the asking word at once."""
    at = _asking_word(lowered)
    if at < 0:
        return frozenset()
    near = [w for w in raw[at + 1 : at + 6] if w[0].islower() and w not in STOP_WORDS][:3]
    return frozenset(stem_id(w) for w in near) - {0}


def _life(lowered: list[str]) -> int:
    stems = {stem(w) for w in lowered}
    return 1 if "born" in stems else 2 if "die" in stems else 0


def strip_possessive(word: str) -> str:
    """Return a word without a closing 's."""
    return word[:-2] if word.endswith(("'s", "’s")) else word


def _opens(word: str) -> bool:
    return word in STOP_WORDS or word in _WH


def question_form(lowered: list[str], sides: tuple[str, ...], text: str) -> int:
    """Return what kind of answer a question expects."""
    if not lowered:
        return OTHER
    last = words(re.split(r"(?<=[a-z])[.?!]\s+", text.strip())[-1]) or lowered
    asks = any(w in _WH for w in last)
    auxiliary = last[0] in _AUXILIARY or lowered[0] in _AUXILIARY
    if len(sides) == 2:
        return CHOICE
    if auxiliary and not (asks and last[0] not in _AUXILIARY and lowered[0] not in _AUXILIARY):
        return YES_NO
    if not asks and re.search(r",\s(?:is|are|was|were|do|does|did|have|has)\s", text):
        return YES_NO
    return _asked_type(lowered)


def _asked_type(lowered: list[str]) -> int:
    """Return the first type whose signs stand at the asking word or right after it."""
    at = _asking_word(lowered)
    if at < 0:
        return OTHER
    wh, after = lowered[at], lowered[at + 1 : at + 5]
    near = set(after[:3])
    names_kind = wh in {"which", "what", "whose", "who"}
    signs = (
        (DATE, wh == "when" or "date" in near),
        (PLACE, wh == "where"),
        (YEAR, "year" in near),
        (COUNT, (wh == "how" and near & _MEASURES) or near & {"population", "number", "percentage"}),
        (NATION, near & {"nationality", "country", "nation", "citizenship"}),
        (PLACE, "place" in near),
        (PERSON, wh in {"who", "whom"} or (names_kind and near & PERSON_CUES)),
        (PLACE, names_kind and (near & PLACE_CUES or "place" in after)),
    )
    return next((form for form, sign in signs if sign), OTHER)


def _asking_word(lowered: list[str]) -> int:
    """Return the index of the asking word: the first if the question opens with it, else the last; -1 if none."""
    places = [i for i, w in enumerate(lowered) if w in _WH]
    if not places:
        return -1
    return places[0] if places[0] <= 2 else places[-1]


def _cues(raw: list[str], lowered: list[str], form: int) -> NDArray[np.int64]:
    """Hash what is asked: the asking word and its neighbours, the relation words and their pairs."""
    at = max(_asking_word(lowered), 0)
    names: list[str] = ["*", f"form{form}"]
    if lowered:
        tail = [w for w in lowered[at + 1 :] if w not in STOP_WORDS][:1]
        names += ["wh " + lowered[at], "wh " + " ".join(lowered[at : at + 2]), *(f"asked {stem(w)}" for w in tail)]
    plain = [stem(w.lower()) for w in raw if not w[0].isupper() and not w[0].isdigit() and w not in STOP_WORDS]
    names += [f"word {s}" for s in dict.fromkeys(plain)][:10]
    names += [f"pair {a} {b}" for a, b in dict.fromkeys(pairwise(plain))][:7]
    cues = np.zeros(MAX_CUES, np.int64)
    kept = [word_id(n) | 1 for n in names[:MAX_CUES]]
    cues[: len(kept)] = kept
    return cues


_NAME_LEFT = re.compile(r"((?:[A-Z0-9\"“'][^\s,]*|of|the|and|in|de|la|a|for|on|to|von|van|&|-)(?:\s|$))+$")
_NAME_RIGHT = re.compile(
    r"(?:(?:the|a)\s)?(?:[A-Z0-9\"“'(][^\s,?]*|of|the|and|in|de|la|a|for|on|to|von|van|der|&|-)(?:\s(?:[A-Z0-9\"“'(][^\s,?]*|of|the|and|in|de|la|a|for|on|to|von|van|der|&|-))*"
)

_KIND = re.compile(
    r"^(?:the\s)?(?:films?|movie|picture|album|record|song|single|company|firm|book|novel|band|group|city|town|village|river|club"
    r"|team|magazine|school|university|director|actor|singer|author|writer|painter|player|play|series)\s(?=[A-Z0-9\"“'])"
)


def choice_sides(text: str) -> tuple[str, ...]:
    """Return the two alternatives that a question names with "or" (or "between A and B"), or an empty tuple."""
    body = text.strip().rstrip("?. ")
    match = re.search(r"^(.*)\b(?:or)\s(.+)$", body, re.IGNORECASE | re.DOTALL) if " or " in body else None
    if match is None:
        return _between(body)
    left, right = match.group(1).strip().rstrip(","), match.group(2).strip()
    return _trim(_left_side(left), right)


def _between(body: str) -> tuple[str, ...]:
    match = re.search(r"(?:[Bb]etween|[Oo]ut of|[Oo]f)\s(?:the\s)?(?:two\s)?(.+?)\sand\s(.+?),\s", body + ", ")
    asked = re.search(r"\b(?:which|who|what)\b", body, re.IGNORECASE)
    if match is None or asked is None or not set(words(body)) & _ORDER_WORDS:
        return ()
    both_named = all(re.match(r"[\"“']?[A-Z0-9]", side) for side in match.groups())
    return (match.group(1).strip(), match.group(2).strip()) if both_named else ()


def _left_side(left: str) -> str:
    """Return the alternative that ends the text before "or"."""
    after_comma = re.split(r"[,:]\s", left)
    if len(after_comma) > 1 and re.match(r"[\"“']?(?:the |a )?[A-Z0-9\"“]", after_comma[-1]):
        return after_comma[-1]
    named = _NAME_LEFT.search(left + " ")
    if named is not None and any(c.isupper() or c.isdigit() for c in named.group()):
        return re.sub(
            r"^(?:(?:of|and|in|a|for|on|to|the|is|did|was|does|der)\s)+", "", named.group().strip(), flags=re.IGNORECASE
        )
    return after_comma[-1]


def _trim(left: str, right: str) -> tuple[str, ...]:
    """Cut what follows the second alternative; give up when either is no name."""
    right = re.split(r",\s", right)[0] if len(re.split(r",\s", right)[0]) > 1 else right
    if re.search(r"\s[a-z]", right):
        named = _NAME_RIGHT.match(right)
        if named is not None and any(c.isupper() for c in named.group()):
            right = re.sub(r"(?:\s(?:of|and|in|a|for|on|to|the|-))+$", "", named.group())
    left, right = (_KIND.sub("", side.strip(" ,")) for side in (left, right))
    both_named = all(re.search(r"[A-Z0-9]", side) for side in (left, right))
    fits = all(len(side) < 90 and len(side.split()) <= 12 for side in (left, right))
    return (left, right) if both_named and fits and not re.match(r"(?!the |a )[a-z]", right) else ()
