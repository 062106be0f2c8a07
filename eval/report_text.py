"""Texts of passages, questions and methods made inert: shown, never parsed and never able to reorder a line."""

from __future__ import annotations

import html
import re

# Controls and line separators; overrides, embeddings and isolates of direction; the byte order mark; lone surrogates.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_SPACE = re.compile("[\t\r\n]+")


def visible(text: str) -> str:
    """Return a text on one line whose controls are written out, such as ``⟨U+202E⟩``."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", _SPACE.sub(" ", text))


def inert(text: str) -> str:
    """Return a text for HTML, in an element or in a quoted attribute."""
    return html.escape(visible(text), quote=True)
