"""What a benchmark question consists of: the text that anyone may see, its gold, and the passages that came with it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field


def content_hash(*parts: str) -> str:
    """Return 16 hexadecimal digits that depend on nothing but ``parts``."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\x1f")
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """A titled text, identified by a hash of its content.

    Equal ids mean equal texts. Passages are equal when their sentences are cut alike, too, so that what is remembered
    of one cutting never serves for another.

    Attributes:
        id: 16 hexadecimal digits, a hash of title and text.
        title: the title as given.
        sentences: the sentences as the data set numbers them (empty ones kept, so that indices stay valid).
    """

    id: str
    title: str
    sentences: tuple[str, ...]

    @classmethod
    def of(cls, title: str, sentences: Iterable[str]) -> Passage:
        """Build a passage and its id; white space at the ends of sentences does not change the id."""
        kept = tuple(sentences)
        return cls(content_hash(title.strip(), " ".join(s.strip() for s in kept if s.strip())), title, kept)

    @property
    def text(self) -> str:
        """The non-empty sentences, joined by single spaces."""
        return " ".join(s.strip() for s in self.sentences if s.strip())

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Passage) and self.id == other.id and self.sentences == other.sentences
        )

    def __hash__(self) -> int:
        return hash(self.id)


@dataclass(frozen=True, slots=True)
class Question:
    """What an episode may know of a question: its text, and a key that names it without gold."""

    text: str
    key: str

    @classmethod
    def of(cls, text: str, context: Iterable[Passage] = ()) -> Question:
        """Build a question; ``key`` is a hash of the text and of the ids of its own context.

        The context counts since MuSiQue-Full asks one question twice, over different paragraphs.
        """
        return cls(text, content_hash("question", text, *(passage.id for passage in context)))


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of an annotated decomposition; ``#1`` in its question stands for the answer of step 1."""

    question: str
    answer: str
    support_id: str | None = None


@dataclass(frozen=True, slots=True)
class Gold:
    """Everything that only rewards and metrics may read.

    Attributes:
        id: the data set's own id (MuSiQue's spell the number of hops, so it counts as gold).
        answers: the reference answer first, then its aliases; empty when there is none to give.
        support_titles: titles of the supporting documents, without repetition, in order of annotation.
        support_ids: ids of the supporting passages, where the passages are known.
        match_support_by: ``"title"`` (HotpotQA, 2WikiMultiHopQA) or ``"id"`` (MuSiQue, the synthetic world).
        supporting_facts: (title, sentence index) pairs as annotated; an index may be out of range (2Wiki).
        evidences: (subject, relation, object) triples (2WikiMultiHopQA).
        type: the data set's name of the kind of question; empty where it has none.
        level: HotpotQA's difficulty; empty elsewhere.
        hops: number of supporting documents to connect; 0 where unknown.
        answerable: False for MuSiQue-Full's unanswerable twins and their like.
        decomposition: the annotated steps, where the data set has them.
    """

    id: str
    answers: tuple[str, ...]
    support_titles: tuple[str, ...] = ()
    support_ids: tuple[str, ...] = ()
    match_support_by: str = "title"
    supporting_facts: tuple[tuple[str, int], ...] = ()
    evidences: tuple[tuple[str, str, str], ...] = ()
    type: str = ""
    level: str = ""
    hops: int = 0
    answerable: bool = True
    decomposition: tuple[Hop, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """The answers that count as right; none where the question cannot be answered, so that abstaining is right."""
        return self.answers if self.answerable else ()


@dataclass(frozen=True, slots=True)
class Record:
    """A question with its gold (None for a user's own question) and the passages that the data set gives with it."""

    question: Question
    gold: Gold | None = None
    context: tuple[Passage, ...] = field(default=())

    @property
    def id(self) -> str:
        """The data set's id where there is gold, the question's key otherwise."""
        return self.question.key if self.gold is None else self.gold.id

    @property
    def uid(self) -> str:
        """The id and the key together: MuSiQue-Full's twins share an id."""
        return f"{self.id}#{self.question.key}"
