"""Plain documents (.txt, .md): their title, and passages of bounded length cut at paragraph and sentence borders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .records import Passage
from .text import split_sentences

MAX_WORDS = 120
"""Most words that a passage of a document holds."""

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(?P<title>.*?\S)[ \t]*#*[ \t]*$")
_RULE = re.compile(r"[ \t]*([=\-*_])\1{2,}[ \t]*$")
_LETTER_OR_DIGIT = re.compile(r"\w")
_MAX_TITLE_WORDS = 12
_MAX_TITLE_LENGTH = 80
_MAX_UNSEPARATED_TITLE = 60


def passages_of(text: str, stem: str) -> list[Passage]:
    """Cut a document into passages that share its title; a document without text gives none.

    The title is the first markdown heading, else the first line if it is short, does not end as a sentence does and is
    set apart from what follows, else ``stem`` with underscores as spaces. The line that gave the title is left out of
    the text; the words of other headings stay in it, ruled lines (``===``, ``---``) do not. Each passage holds whole
    sentences, at most ``MAX_WORDS`` words; a longer sentence is cut between words.

    Args:
        text: the document.
        stem: the file's name without its suffix.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    title, body = _titled(lines, stem)
    return passages_under(title, _BLANK_LINE.split("\n".join(body)))


def passages_under(title: str, paragraphs: Iterable[str]) -> list[Passage]:
    """Cut paragraphs into passages with one title, as :func:`passages_of` does."""
    return [Passage.of(title, sentences) for sentences in _packed([_sentences(each) for each in paragraphs])]


def _titled(lines: list[str], stem: str) -> tuple[str, list[str]]:
    """Return the title, and the lines without the one that gave it."""
    for number, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading:
            return heading["title"], lines[:number] + lines[number + 1 :]
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is not None and _is_title(lines[first].strip(), lines[first + 1 :]):
        return lines[first].strip(), lines[first + 1 :]
    return stem.replace("_", " ").strip(), lines


def _is_title(line: str, rest: list[str]) -> bool:
    """Say whether a first line reads as a title; a lone line is the text itself."""
    short = len(line) <= _MAX_TITLE_LENGTH and len(line.split()) <= _MAX_TITLE_WORDS
    if not short or line[-1] in ".!?:;," or not _LETTER_OR_DIGIT.search(line) or not any(map(str.strip, rest)):
        return False
    following = rest[0].strip()
    # A wrapped sentence goes on in lower case, and its lines are long.
    return not following or (len(line) <= _MAX_UNSEPARATED_TITLE and not following[0].islower())


def _sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph; a heading is a sentence of its own, without its marks."""
    sentences: list[str] = []
    running: list[str] = []
    for line in paragraph.split("\n"):
        heading = _HEADING.match(line)
        if heading:
            sentences += [*split_sentences(" ".join(running)), heading["title"]]
            running = []
        elif line.strip() and not _RULE.match(line):
            running.append(" ".join(line.split()))
    return [piece for sentence in (*sentences, *split_sentences(" ".join(running))) for piece in _pieces(sentence)]


def _pieces(sentence: str) -> Iterator[str]:
    """Cut a sentence that is longer than a passage between words."""
    words = sentence.split()
    for start in range(0, len(words), MAX_WORDS):
        yield " ".join(words[start : start + MAX_WORDS])


def _packed(paragraphs: list[list[str]]) -> Iterator[list[str]]:
    """Fill passages with whole paragraphs, and with whole sentences where a paragraph is too long for one."""
    held: list[str] = []
    for paragraph in paragraphs:
        if held and _length(held) + _length(paragraph) > MAX_WORDS:
            yield held
            held = []
        for sentence in paragraph:
            if held and _length(held) + _length([sentence]) > MAX_WORDS:
                yield held
                held = []
            held = [*held, sentence]
    if held:
        yield held


def _length(sentences: list[str]) -> int:
    return sum(len(sentence.split()) for sentence in sentences)
