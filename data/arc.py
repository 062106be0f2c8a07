"""ARC's multiple-choice questions (Clark et al. 2018): the official files, the hub's form, and CRAG's with passages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from . import fields
from .contexts import contexts
from .errors import DataError
from .fields import Raw
from .files import parse_items
from .records import Gold, Passage, Question, Record

NAME = "arc"


class Choice(NamedTuple):
    """A choice and its label: a letter from A on, or a digit from 1 on."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class MultipleChoice:
    """A question with its choices.

    Attributes:
        id: the data set's id.
        stem: the question without its choices.
        choices: at least two, under different labels.
        key: label of the right choice; empty where the file has none.
        context: passages that came with it.
    """

    id: str
    stem: str
    choices: tuple[Choice, ...]
    key: str
    context: tuple[Passage, ...] = ()

    @property
    def text(self) -> str:
        """The stem and, on a line each, the choices: ``A: the text``, as in CRAG's prompt."""
        return "\n".join([self.stem, *(f"{choice.label}: {choice.text}" for choice in self.choices)])

    def record(self) -> Record:
        """Return the record; its question shows the choices, and its answer is the text of the right one."""
        answers = tuple(choice.text for choice in self.choices if choice.label == self.key)
        gold = Gold(id=self.id, answers=answers)
        return Record(Question.of(self.text, self.context), gold, self.context)


def read(file: Path) -> list[Record]:
    """Read questions as records, in the order of the file; see :func:`read_choices`."""
    return [question.record() for question in read_choices(file)]


def read_choices(file: Path) -> list[MultipleChoice]:
    """Read questions, in the order of the file: JSON lines or a list, plain or gzip.

    Raises:
        DataError: if the file cannot be read, holds no question, or one is malformed; the message gives file and line.
    """
    return parse_items(file, parse, f"questions of {NAME!r}")


def parse(raw: Raw) -> MultipleChoice:
    """Turn one question into choices.

    The official form is ``{"id", "question": {"stem", "choices": [{"text", "label"}]}, "answerKey"}``, that of the hub
    ``{"id", "question", "choices": {"text": [], "label": []}, "answerKey"}``; the latter may have ``ctxs``.

    Raises:
        DataError: if a field is missing or of another type, a label stands twice, or the key is no label.
    """
    fields.require_format(raw, NAME, ("id", "question"), foreign=("context", "paragraphs"))
    stem, choices = _official(raw) if isinstance(raw["question"], dict) else _hub(raw)
    labels = [choice.label for choice in choices]
    if len(labels) < 2 or len(set(labels)) != len(labels) or not all(labels):
        raise DataError(f"'choices' must have at least two entries under different labels, found {labels}")
    key = fields.optional(raw, "answerKey", "")
    if key and key not in labels:
        raise DataError(f"'answerKey' must be one of {', '.join(labels)}, found {key!r}")
    return MultipleChoice(fields.id_text(raw), stem, choices, key, contexts(raw))


def _official(raw: Raw) -> tuple[str, tuple[Choice, ...]]:
    question = fields.required(raw, "question", dict)
    stem = fields.required(question, "stem", str, "'question' ")
    listed = fields.required(question, "choices", list, "'question' ")
    return _filled(stem), tuple(_choice(value, f"'choices'[{place}]") for place, value in enumerate(listed))


def _choice(value: object, where: str) -> Choice:
    raw = fields.typed(value, dict, where)
    return Choice(fields.required(raw, "label", str, f"{where} "), fields.required(raw, "text", str, f"{where} "))


def _hub(raw: Raw) -> tuple[str, tuple[Choice, ...]]:
    columns = fields.required(raw, "choices", dict)
    parts = [
        fields.texts(fields.required(columns, key, list, "'choices' "), f"'choices' {key!r}")
        for key in ("label", "text")
    ]
    labels, texts = parts
    if len(labels) != len(texts):
        raise DataError(f"'choices' must have a text for each label, found {len(labels)} labels, {len(texts)} texts")
    return fields.question_text(raw), tuple(map(Choice, labels, texts))


def _filled(stem: str) -> str:
    if not stem.strip():
        raise DataError("'stem' is empty")
    return stem
