"""Plain text of what should be plain text, but may hold HTML."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

_INLINE = frozenset("a abbr b bdi big cite code em font i kbd mark q s small span strong sub sup tt u var wbr".split())
_BLOCK = frozenset(
    "blockquote body br caption center dd div dl dt figure h1 h2 h3 h4 h5 h6 head hr html img li math ol p pre section "
    "table tbody td th thead tr ul".split()
)
_UNREAD = frozenset("script style".split())
_TAG = re.compile(rf"</?(?:{'|'.join(sorted(_INLINE | _BLOCK | _UNREAD))})\b[^<>]*>|<!--", re.IGNORECASE)
_ENTITY = re.compile(r"&#?\w{1,32};")


def plain_text(text: str) -> str:
    """Return a text without HTML: tags and comments dropped, scripts and styles with what they hold, entities decoded.

    Blocks begin a line. A text without a tag of HTML is left alone but for its entities, so that "a < b" stays. Halves
    of surrogate pairs, which no file could hold, become question marks.
    """
    whole = text.encode("utf-8", "replace").decode()
    if not _TAG.search(whole):
        return _ENTITY.sub(lambda entity: html.unescape(entity.group()), whole)
    reader = _Reader()
    reader.feed(whole)
    reader.close()
    return "".join(reader.pieces)


class _Reader(HTMLParser):
    """Collects the text; what looks like a tag but is none of HTML's is text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unread = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _UNREAD:
            self._unread = True
        elif tag not in _INLINE:
            self.handle_data("\n" if tag in _BLOCK else self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        if tag not in _UNREAD:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNREAD:
            self._unread = False
        elif tag in _BLOCK:
            self.handle_data("\n")

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self.pieces.append(data)
