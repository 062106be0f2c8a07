"""Retrieved text is data: it is quoted as JSON that can end neither its line, nor the evidence, nor a chat turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ...data.records import Passage
from ..tasks import Snippet

MAX_PASSAGE = 4_000
"""Characters of a passage that are shown at most."""
MAX_QUESTION = 6_000
"""Characters of a question or query that are shown at most."""
NOTHING = "(none)"

# "<" opens the delimiters and most control tokens of chat templates ("<|im_end|>"), "[" those of others ("[/INST]");
# the last three are line ends to some readers.
_ESCAPED = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<\x7f\x85\u2028\u2029"})


def quoted(value: Any) -> str:
    r"""Return JSON on one line whose strings hold no ``<`` and no ``[``: both are written as ``\u003c`` and ``\u005b``.

    So no text can forge ``</evidence>`` or a control token of a chat template, and a JSON reader gets the same value.
    """
    if isinstance(value, str):
        whole = json.dumps(value.encode("utf-8", "replace").decode("utf-8"), ensure_ascii=False)
        return whole.translate(_ESCAPED).replace("[", "\\u005b")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {quoted(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(quoted, value)) + "]"
    return json.dumps(value)


def question(text: str) -> str:
    """Return a question or query, quoted and of bounded length."""
    return quoted(text[:MAX_QUESTION])


def passages(shown: Sequence[Passage]) -> str:
    """Return one line a passage: its number from 1, title and text."""
    return _lines({"passage": n, "title": p.title[:MAX_QUESTION], "text": _text(p)} for n, p in enumerate(shown, 1))


def numbered_sentences(shown: Sequence[Passage]) -> str:
    """Return one line a passage: its number from 1, title and sentences by their number from 1."""
    return _lines(
        {
            "passage": n,
            "title": p.title[:MAX_QUESTION],
            "sentences": {str(i + 1): text for i, text in sentences(p)},
        }
        for n, p in enumerate(shown, 1)
    )


def snippets(shown: Sequence[Snippet]) -> str:
    """Return one line a snippet: its number from 1 and its text."""
    return _lines({"snippet": n, "text": s.text[:MAX_PASSAGE]} for n, s in enumerate(shown, 1))


def sentences(passage: Passage) -> Iterator[tuple[int, str]]:
    """Yield (index, text) of the sentences that are shown, as far as the limit reaches."""
    left = MAX_PASSAGE
    for index, sentence in enumerate(passage.sentences):
        if text := sentence.strip()[:left]:
            yield index, text
            left -= len(text)
        if left <= 0:
            return


def _text(passage: Passage) -> str:
    return " ".join(text for _, text in sentences(passage))


def _lines(rows: Iterator[dict[str, Any]]) -> str:
    return "\n".join(map(quoted, rows)) or NOTHING
