"""Drafts of questions: the steps that answer them, before they become records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from .records import Gold, Hop, Passage
from .world_articles import Article
from .world_schema import Entity


class Step(NamedTuple):
    """One fact that a question needs: the article and relation that state it, a question for it alone, its answer.

    ``article`` is the last that could be read when ``stated`` is False: the fact is then in no article at all.
    """

    article: Article
    relation: str
    question: str
    answer: str
    stated: bool = True


@dataclass(frozen=True, slots=True)
class Draft:
    """A question with all that its gold says.

    Attributes:
        key: what makes two questions the same one, whatever their wording.
        text: the question.
        answers: the reference answer and its aliases; empty when no article holds it.
        steps: the facts needed, in order.
    """

    key: tuple[object, ...]
    text: str
    answers: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def articles(self) -> tuple[Article, ...]:
        """The articles needed, each once, in order."""
        return tuple({step.article.entity: step.article for step in self.steps}.values())

    def gold(self, identifier: str, kind: str) -> Gold:
        """Return the gold of a question with this id and of this kind."""
        passages: tuple[Passage, ...] = tuple(a.passage for a in self.articles)
        stated = [s for s in self.steps if s.stated]
        return Gold(
            id=identifier,
            answers=self.answers,
            support_titles=tuple(dict.fromkeys(p.title for p in passages)),
            support_ids=tuple(p.id for p in passages),
            match_support_by="id",
            supporting_facts=tuple((s.article.passage.title, s.article.sentence_of[s.relation]) for s in stated),
            evidences=tuple((s.article.passage.title, s.relation, s.answer) for s in stated),
            type=kind,
            hops=len(passages),
            answerable=bool(self.answers),
            decomposition=tuple(_hop(step) for step in self.steps),
        )


def _hop(step: Step) -> Hop:
    return Hop(step.question, step.answer, step.article.passage.id if step.stated else None)


def linked(article: Article, relation: str) -> Entity | None:
    """Return the entity that a stated relation leads to; None if it is not stated, or leads to a literal."""
    value = article.facts.get(relation)
    return value if isinstance(value, Entity) and relation in article.sentence_of else None


def told_early(text: str, steps: Iterable[Step]) -> bool:
    """Return True if the answer of a step stands in the question or in the article of an earlier step."""
    for step in steps:
        if step.answer in text:
            return True
        text += step.article.passage.text
    return False
