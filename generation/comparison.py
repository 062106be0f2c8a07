"""Comparisons: what two sides are, which passage speaks of each, and the dates, numbers and countries to compare."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.text import STOP_WORDS, words
from .attributes import Attributes, attributes
from .evidence import Evidence
from .lexicon import stem_id
from .question import strip_possessive
from .reading import PassageReading

CHOICE_FEATURES = (
    "time_vote", "number_vote", "life_vote", "overlap", "best_sentence", "open_overlap", "held", "target_overlap",
    "lead_overlap", "word_vote",
)  # fmt: skip
YES_NO_FEATURES = (
    "asks_same", "nation_equal", "nation_differs", "nation_share", "year_equal", "year_differs", "name_share",
    "asked_least", "asked_most", "lead_least", "both_held", "asks_country", "asks_place", "country_equal",
    "country_differs", "bridged", "kind_share", "negated", "same_nation_equal", "same_nation_differs",
    "same_country_equal", "same_country_differs", "plain_asked_least", "plain_asked_most", "plain_lead_least",
)  # fmt: skip

_EARLY = frozenset("first earlier older oldest earliest before".split())
_LATE = frozenset("later younger youngest latest recently recent newer last after second".split())
_LESS = frozenset("less fewer smaller shorter lower smallest lowest fewest shortest".split())
_ROLES = frozenset(
    "director directed performer performed composer composed producer produced author wrote writer screenwriter "
    "founder singer band publisher developer father mother husband wife creator artist firm company studio city "
    "town label".split()
)
_ROLE = re.compile(
    r"\b(?:older|younger|larger|smaller|bigger|newer|earlier)\s(?:firm|company|city|town|director|artist|author|band|studio|label|club)\b"
    r"|\b(?:directors?|performers?|composers?|producers?|authors?|screenwriters?|founders?|publishers?|developers?|father|mother"
    r"|husband|wife|creators?|artists?|singers?|writers?)\b.{0,12}\b(?:of|for|is|are|was|were|who|born|died|die|from|older|younger|that|lived|share|have)\b"
)
_LIFE = re.compile(r"\b(?:live[ds]? longer|longer li(?:fe|ved))\b")


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: its name, the passage about it, and the one to compare; -1 if absent."""

    name: str
    anchor: int
    target: int


def sides_of(evidence: Evidence) -> tuple[Side, Side] | None:
    """Return the two sides, or None when the question names fewer than two."""
    names = evidence.question.sides or _titles_in_question(evidence)
    if len(names) < 2:
        return None
    anchors = [_anchor(evidence, name) for name in names[:2]]
    if anchors[0] == anchors[1]:
        anchors[1] = -1
    targets = [_target(evidence, a, anchors) if a >= 0 else a for a in anchors] if asks_role(evidence) else anchors
    return Side(names[0], anchors[0], targets[0]), Side(names[1], anchors[1], targets[1])


def asks_role(evidence: Evidence) -> bool:
    """Say whether the question compares people behind the sides ("the director of film X")."""
    return _ROLE.search(evidence.question.text) is not None


def _titles_in_question(evidence: Evidence) -> tuple[str, ...]:
    key = evidence.question.key
    found = [(key.find(r.title_key), r.title_core) for r, e in zip(evidence.readings, evidence.title_exact) if e]
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def _anchor(evidence: Evidence, name: str) -> int:
    """Return the passage whose title fits a side best, or -1."""
    key = " " + " ".join(strip_possessive(w) for w in words(name)) + " "
    stems = frozenset(stem_id(strip_possessive(w)) for w in words(name)) - {0}
    best, at = 0.49, -1
    for i, r in enumerate(evidence.readings):
        fit = 2.0 if key in (r.title_key, r.full_key) else _dice(stems, r.title_stems)
        if fit > best:
            best, at = fit, i
    return at


def _dice(a: frozenset[int], b: frozenset[int]) -> float:
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def _target(evidence: Evidence, anchor: int, anchors: list[int]) -> int:
    """Follow the link from a side to the person behind it: the held title named in the best fitting sentence."""
    best, at = -1.0, -1
    for j in np.nonzero(evidence.links[anchor])[0]:
        if int(j) in anchors:
            continue
        key = evidence.readings[j].title_key
        fit = max(_role_fit(evidence, s.key, key) for s in evidence.readings[anchor].sentences[1:] if key in s.key)
        if fit > best:
            best, at = fit, int(j)
    return at


def _role_fit(evidence: Evidence, sentence: str, key: str) -> float:
    """Score how closely a role word of the question stands before a name."""
    before = sentence[: sentence.find(key) + 1].split()[-6:]
    wanted = {stem_id(w) for w in evidence.question.content if w in _ROLES}
    hit = max((i + 1 for i, w in enumerate(before) if stem_id(w) in wanted), default=0)
    return hit + 0.5 * (bool(before) and before[-1] == "by")


def choice_features(evidence: Evidence, sides: tuple[Side, Side], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (len(CHOICE_FEATURES),): values of the first side minus those of the second."""
    first, second = (_side_values(evidence, s, scores) for s in sides)
    a, b = (attributes(evidence.readings[s.target].passage) if s.target >= 0 else None for s in sides)
    content = set(evidence.question.content)
    votes = [0.0, 0.0, 0.0]
    if a is not None and b is not None:
        votes = _votes(evidence, a, b, content)
    direct = _direct_word(evidence, sides)
    return np.array([*votes, *(x - y for x, y in zip(first, second)), direct], np.float64)


def _votes(evidence: Evidence, a: Attributes, b: Attributes, content: set[str]) -> list[float]:
    late = -1.0 if content & _LATE else 1.0
    less = -1.0 if content & _LESS else 1.0
    life = bool(_LIFE.search(evidence.question.text.lower()))
    dies = bool(content & {"died", "die", "death", "dies", "deceased"})
    time = 0.0
    if content & (_EARLY | _LATE) and not life:
        x, y = (a.death, b.death) if dies else _start(a, b, content)
        time = _sign(y, x) * late
    spans = [None if v.birth is None or v.death is None else v.death - v.birth for v in (a, b)]
    return [
        time,
        _sign(a.number, b.number) * less if time == 0 and not life else 0.0,
        _sign(spans[0], spans[1]) if life else 0.0,
    ]


def _start(a: Attributes, b: Attributes, content: set[str]) -> tuple[float | None, float | None]:
    born = bool(content & {"born", "older", "younger", "oldest", "youngest", "birth"})
    if born:
        return (a.birth if a.birth is not None else a.first, b.birth if b.birth is not None else b.first)
    return a.first, b.first


def _sign(x: float | None, y: float | None) -> float:
    return 0.0 if x is None or y is None or x == y else (1.0 if x > y else -1.0)


def _side_values(evidence: Evidence, side: Side, scores: NDArray[np.float64]) -> list[float]:
    """Return overlap, best sentence score, overlap of open words, held, overlap of the target and of the lead."""
    if side.anchor < 0:
        return [0.0, -1.0, 0.0, 0.0, 0.0, 0.0]
    reading = evidence.readings[side.anchor]
    own = frozenset(stem_id(strip_possessive(w)) for w in words(side.name))
    total = sum(w for s, w in evidence.weight.items() if s not in own) or 1.0
    rows = [k for k, (p, s) in enumerate(evidence.rows) if p == side.anchor and s.index >= 0]
    lead = reading.sentences[1].stems if len(reading.sentences) > 1 else frozenset()
    target = evidence.readings[side.target].stems if side.target >= 0 else frozenset()
    return [
        evidence.mass(reading.stems - own) / total,
        float(max((scores[k] for k in rows), default=-4.0)) / 4,
        max((evidence.mass(evidence.rows[k][1].stems - own) / total for k in rows), default=0.0),
        1.0,
        evidence.mass(target - own) / total,
        evidence.mass(lead - own) / total,
    ]


def _direct_word(evidence: Evidence, sides: tuple[Side, Side]) -> float:
    """Vote for the side whose passage has relation words that the other's lacks."""
    held = [evidence.readings[s.anchor].stems if s.anchor >= 0 else frozenset() for s in sides]
    relation = evidence.question.relation
    return evidence.mass((held[0] - held[1]) & relation) - evidence.mass((held[1] - held[0]) & relation)


def yes_no_features(evidence: Evidence) -> NDArray[np.float64]:
    """Return (len(YES_NO_FEATURES),) of a yes/no question."""
    content = set(evidence.question.content)
    sides = sides_of(evidence)
    lowered = evidence.question.key
    out = np.zeros(len(YES_NO_FEATURES))
    out[0] = " same " in lowered
    out[11] = bool(content & {"country", "nationality", "nationalities", "citizenship"})
    out[12] = bool(content & {"place", "city", "located", "state", "county"})
    out[17] = " different " in lowered or " not " in lowered
    asked = _asked(evidence, sides)
    targets = [s.target for s in sides if s.target >= 0] if sides else []
    if sides is None or len(targets) < 2:
        out[7:9] = _shares(evidence, asked, [r.stems for r in evidence.readings])
        return out
    a, b = (attributes(evidence.readings[t].passage) for t in targets)
    _nation_features(out, a, b)
    if a.birth is not None and b.birth is not None:
        out[4], out[5] = a.birth == b.birth, a.birth != b.birth
    names = [_lead_capitals(evidence.readings[t]) for t in targets]
    out[6] = len(names[0] & names[1]) / max(min(len(names[0]), len(names[1])), 1)
    out[7:9] = _shares(evidence, asked, [evidence.readings[t].stems for t in targets])
    out[9] = _shares(evidence, asked, [_lead_stems(evidence.readings[t]) for t in targets])[0]
    out[10] = 1.0
    out[15] = asks_role(evidence)
    out[16] = len(a.lead_names & b.lead_names) / max(min(len(a.lead_names), len(b.lead_names)), 1)
    for k, column in enumerate((1, 2, 13, 14)):
        out[18 + k] = out[0] * out[column]
    for k, column in enumerate((7, 8, 9)):
        out[22 + k] = (1 - out[0]) * out[column]
    return out


def _asked(evidence: Evidence, sides: tuple[Side, Side] | None) -> frozenset[int]:
    """Return the stems of the question that neither side's name has."""
    named = frozenset(stem_id(strip_possessive(w)) for s in sides or () for w in words(s.name))
    return (
        frozenset(evidence.weight)
        - named
        - frozenset(stem_id(w) for w in ("same", "both", "located", "two", "country"))
    )


def _shares(evidence: Evidence, asked: frozenset[int], held: list[frozenset[int]]) -> tuple[float, float]:
    """Return the least and the greatest weighted share of ``asked`` over the bodies of stems."""
    total = evidence.mass(asked) or 1.0
    shares = [evidence.mass(stems & asked) / total for stems in held]
    return min(shares, default=0.0), max(shares, default=0.0)


def _lead_stems(reading: PassageReading) -> frozenset[int]:
    return reading.sentences[1].stems if len(reading.sentences) > 1 else frozenset()


def _nation_features(out: NDArray[np.float64], a: Attributes, b: Attributes) -> None:
    if a.nations and b.nations:
        out[1], out[2] = a.nations[0] == b.nations[0], a.nations[0] != b.nations[0]
        out[3] = len(set(a.nations) & set(b.nations)) / min(len(a.nations), len(b.nations))
    x, y = (v.nations or v.regions for v in (a, b))
    if x and y:
        out[13], out[14] = bool(set(x) & set(y)), not set(x) & set(y)


def _lead_capitals(reading: PassageReading) -> frozenset[str]:
    own = set(reading.title_key.split())
    lead = reading.sentences[1:3]
    found = (w for s in lead for w in s.text.split())
    plain = (strip_possessive(w.strip(',.;:()"“”')) for w in found)
    return frozenset(w for w in plain if w[:1].isupper() and w.lower() not in own | STOP_WORDS)
