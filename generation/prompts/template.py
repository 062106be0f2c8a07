"""A prompt is a text file: a version, then the message of each role, with places for what is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from string import Template

from ...data.errors import DataError
from ...data.records import content_hash

NAMES = ("answer", "judge", "rewrite", "compress", "compress_facts", "repair")
Messages = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt.

    Attributes:
        version: grows with each change that may change a reply.
        parts: (role, text) in order; ``$name`` marks a place.
    """

    version: int
    parts: tuple[tuple[str, str], ...]

    def messages(self, **values: str | int) -> Messages:
        """Return the chat messages; what fills a place is not searched for places again.

        Raises:
            KeyError: if a place is left without a value.
        """
        return [{"role": role, "content": Template(text).substitute(values)} for role, text in self.parts]


@lru_cache(maxsize=16)
def prompt(name: str) -> Prompt:
    """Return the prompt of that name.

    Raises:
        DataError: if its file is not "version: N" followed by "--- role" and the text of each message.
    """
    head, *parts = _text(name).split("--- ")
    key, _, version = head.strip().partition(": ")
    if key != "version" or not version.isdigit() or not parts:
        raise DataError('a prompt begins with "version: N" and a line "--- system" or "--- user"', f"{name}.txt")
    split = [part.partition("\n") for part in parts]
    return Prompt(int(version), tuple((role.strip(), text.strip()) for role, _, text in split))


@lru_cache(maxsize=1)
def prompts_hash() -> str:
    """Return a hash of all prompts, for a generator's fingerprint."""
    return content_hash(*(part for name in NAMES for part in (name, _text(name))))


def without_system(messages: Messages) -> Messages:
    """Return the messages with the system's put before the user's, for chat templates that know no system role."""
    if len(messages) < 2 or messages[0]["role"] != "system":
        return messages
    joined = f"{messages[0]['content']}\n\n{messages[1]['content']}"
    return [{"role": "user", "content": joined}, *messages[2:]]


def _text(name: str) -> str:
    return files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8").replace("\r\n", "\n")
