"""How questions about the synthetic world compare two entities."""

from __future__ import annotations

from typing import NamedTuple


class Contrast(NamedTuple):
    """A comparison: of which kind, by which relations in turn, whether the lower value wins, and how it is asked."""

    kind: str
    path: tuple[str, ...]
    lower: bool
    asks: tuple[str, ...]


CONTRASTS = (
    Contrast("person", ("birth_year",), True, ("Who was born first, {a} or {b}?", "Who is older, {a} or {b}?")),
    Contrast("person", ("birth_year",), False, ("Who was born later, {a} or {b}?", "Who is younger, {a} or {b}?")),
    Contrast("person", ("death_year",), True, ("Who died first, {a} or {b}?",)),
    Contrast("film", ("year",), True, ("Which movie came out earlier, {a} or {b}?", "Which is older, {a} or {b}?")),
    Contrast("film", ("year",), False, ("Which movie came out more recently, {a} or {b}?",)),
    Contrast("novel", ("year",), True, ("Which book came out earlier, {a} or {b}?",)),
    Contrast("album", ("year",), False, ("Which of the two came out later, {a} or {b}?",)),
    Contrast("company", ("year",), True, ("Which firm is older, {a} or {b}?", "Which existed first, {a} or {b}?")),
    Contrast("university", ("year",), True, ("Which is older, {a} or {b}?",)),
    Contrast("river", ("length",), False, ("Which is longer, {a} or {b}?",)),
    Contrast("mountain", ("height",), False, ("Which is higher, {a} or {b}?",)),
    Contrast("lake", ("depth",), False, ("Which is deeper, {a} or {b}?",)),
    Contrast("city", ("population",), False, ("Which has more people, {a} or {b}?", "Which is larger, {a} or {b}?")),
)
"""Comparisons of two entities by their own values."""

BRIDGE_CONTRASTS = (
    Contrast(
        "film",
        ("director", "birth_year"),
        True,
        ("Which movie has the director who was born first, {a} or {b}?", "Whose filmmaker is older, {a} or {b}?"),
    ),
    Contrast("film", ("director", "death_year"), True, ("Which movie has the director who died first, {a} or {b}?",)),
    Contrast("film", ("lead_actor", "birth_year"), False, ("Whose lead performer is younger, {a} or {b}?",)),
    Contrast("film", ("studio", "year"), True, ("Which was financed by the older firm, {a} or {b}?",)),
    Contrast("novel", ("author", "birth_year"), False, ("Which was penned by the younger person, {a} or {b}?",)),
    Contrast("album", ("performer", "birth_year"), True, ("Which has the artist who was born first, {a} or {b}?",)),
    Contrast("song", ("songwriter", "birth_year"), True, ("Whose lyricist is older, {a} or {b}?",)),
    Contrast("company", ("headquarters", "population"), False, ("Which is located in the larger city, {a} or {b}?",)),
    Contrast("team", ("city", "population"), False, ("Whose home city has more people, {a} or {b}?",)),
    Contrast("university", ("city", "year"), True, ("Which is situated in the older city, {a} or {b}?",)),
    Contrast("festival", ("founder", "birth_year"), True, ("Whose creator is older, {a} or {b}?",)),
)
"""Comparisons of two entities by the values of what a relation leads to."""

MATCHES: dict[tuple[str, str], tuple[str, ...]] = {
    ("film", "director"): ("Were {a} and {b} helmed by the same person?", "Do {a} and {b} have the same filmmaker?"),
    ("novel", "author"): ("Were {a} and {b} penned by the same person?",),
    ("album", "performer"): ("Are {a} and {b} by the same artist?",),
    ("city", "region"): ("Are {a} and {b} situated in the same province?",),
    ("mountain", "region"): ("Can {a} and {b} be found in the same province?",),
    ("lake", "region"): ("Do {a} and {b} share a province?",),
}
"""Yes-or-no questions: whether a relation of two entities leads to the same entity."""
