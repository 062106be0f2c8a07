"""What a generator can be asked, and what it answers: small frozen values that can be hashed, recorded and replayed."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.records import Passage


@dataclass(frozen=True, slots=True)
class Usage:
    """What serving one task took; tokens are in the unit that the generator states.

    Attributes:
        prompt_tokens: tokens read.
        completion_tokens: tokens written.
        calls: calls of the model: more than one where a reply had to be asked for again.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Failed:
    """Given in the place of a response: this one task could not be served.

    Attributes:
        reason: why, in one line; it is recorded with the episode.
        usage: tokens that were spent on it all the same.
    """

    reason: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of evidence kept by compression.

    Attributes:
        passage_id: the passage it comes from.
        text: the words to show.
        sentence: its index in the passage's sentences, or None where the text is not one of them.
    """

    passage_id: str
    text: str
    sentence: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerTask:
    """Answer ``question`` from ``passages``; when ``snippets`` are given, only they are read."""

    question: str
    passages: tuple[Passage, ...]
    snippets: tuple[Snippet, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer (empty when there is none to give) with the sentences that support it.

    Attributes:
        text: the short answer.
        support: (passage id, sentence index) pairs, in order of the passages; empty where the generator names none.
        confidence: in [0, 1]; 0 where the generator gives none.
        usage: tokens of the call.
    """

    text: str
    support: tuple[tuple[str, int], ...] = ()
    confidence: float = 0.0
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """Say whether ``passages`` suffice to answer ``question``, and if not, what is missing."""

    question: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict on sufficiency.

    Attributes:
        sufficient: the verdict.
        missing: what is missing, in words that can be searched; empty when the evidence suffices.
        probability: of sufficiency, in [0, 1]; 0 or 1 where the generator gives only the verdict.
        usage: tokens of the call.
    """

    sufficient: bool
    missing: str
    probability: float
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """Reformulate the query from the evidence; ``queries`` are those already asked, oldest first."""

    question: str
    passages: tuple[Passage, ...]
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A new query; empty when the generator finds none that differs from those already asked."""

    query: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class CompressTask:
    """Keep the mutually supporting snippets: at most ``max_snippets``, together at most ``max_tokens``."""

    question: str
    passages: tuple[Passage, ...]
    max_snippets: int = 8
    max_tokens: int = 256


@dataclass(frozen=True, slots=True)
class Compression:
    """The snippets kept, ordered as their passages and sentences are."""

    snippets: tuple[Snippet, ...]
    usage: Usage = Usage()
