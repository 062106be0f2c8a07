"""Questions that compare two entities of the synthetic world, by their own facts or through a bridge."""

from __future__ import annotations

from collections.abc import Callable

from .world_articles import Article
from .world_contrasts import BRIDGE_CONTRASTS, CONTRASTS, MATCHES, Contrast
from .world_drafts import Draft, Step, linked, told_early
from .world_ground import Ground
from .world_mentions import Mention, Mentions
from .world_random import Draws
from .world_schema import Entity
from .world_wordings import ASKINGS

_MATCH_PERCENT = 30
_MATCHES = tuple(MATCHES.items())


class Pairs:
    """Drafts comparisons.

    Args:
        read: gives an entity's article.
        mentions: how questions refer to entities.
        ground: finds entities that have something in common.
    """

    def __init__(
        self,
        read: Callable[[Entity], Article],
        mentions: Mentions,
        ground: Ground,
    ) -> None:
        self._read = read
        self._mentions = mentions
        self._ground = ground

    def draft(self, allowed: Callable[[Entity], bool], draws: Draws) -> Draft | None:
        """Draft a comparison of two entities by facts of their own; None if this pair does not do."""
        if draws.chance(_MATCH_PERCENT):
            return self._match(allowed, draws)
        return self._contrast(draws.pick(CONTRASTS), allowed, draws)

    def draft_bridge(self, allowed: Callable[[Entity], bool], draws: Draws) -> Draft | None:
        """Draft a comparison of two entities by facts of what they lead to: four articles in all."""
        return self._contrast(draws.pick(BRIDGE_CONTRASTS), allowed, draws)

    def _contrast(self, contrast: Contrast, allowed: Callable[[Entity], bool], draws: Draws) -> Draft | None:
        a = self._ground.any_of(contrast.kind, draws)
        b = self._ground.neighbour(a, draws)
        if not (allowed(a) and allowed(b)) or b == self._ground.names.twin(a):
            return None
        sides = [self._side(entity, contrast.path, draws) for entity in (a, b)]
        if sides[0] is None or sides[1] is None:
            return None
        (mention_a, steps_a), (mention_b, steps_b) = sides[0], sides[1]
        values = [steps[-1].article.facts[contrast.path[-1]] for steps in (steps_a, steps_b)]
        if values[0] == values[1] or steps_a[-1].article.entity == steps_b[-1].article.entity:
            return None
        text = draws.pick(contrast.asks).format(a=mention_a.written, b=mention_b.written)
        if told_early(text, steps_a) or told_early(text, steps_b):
            return None
        first_wins = (values[0] < values[1]) == contrast.lower  # type: ignore[operator]
        winner, mention = (a, mention_a) if first_wins else (b, mention_b)
        answers = tuple(dict.fromkeys((mention.name, *self._mentions.names(winner))))
        return Draft((contrast.path, contrast.lower, *sorted((a, b))), text, answers, (*steps_a, *steps_b))

    def _side(self, entity: Entity, path: tuple[str, ...], draws: Draws) -> tuple[Mention, tuple[Step, ...]] | None:
        """Return the mention of one side and its steps, if every one is stated."""
        mention = self._mentions.in_question(entity, draws)
        steps: list[Step] = []
        article, subject = self._read(entity), mention.written
        for relation in path:
            if relation not in article.sentence_of:
                return None
            steps.append(_step(article, relation, subject, draws))
            onward = linked(article, relation)
            if onward is not None:
                article, subject = self._read(onward), article.wording_of[relation]
        return mention, tuple(steps)

    def _match(self, allowed: Callable[[Entity], bool], draws: Draws) -> Draft | None:
        (kind, relation), asks = draws.pick(_MATCHES)
        a = self._ground.any_of(kind, draws)
        alike = draws.chance(50)
        b = self._ground.sibling(a, draws) if alike else self._ground.neighbour(a, draws)
        if a == b or not (allowed(a) and allowed(b)) or b == self._ground.names.twin(a):
            return None
        side_a, side_b = self._side(a, (relation,), draws), self._side(b, (relation,), draws)
        if side_a is None or side_b is None:
            return None
        (mention_a, (step_a,)), (mention_b, (step_b,)) = side_a, side_b
        same = step_a.article.facts[relation] == step_b.article.facts[relation]
        if same != alike or same != (step_a.answer == step_b.answer):
            return None
        text = draws.pick(asks).format(a=mention_a.written, b=mention_b.written)
        return Draft((relation, *sorted((a, b))), text, ("yes" if same else "no",), (step_a, step_b))


def _step(article: Article, relation: str, subject: str, draws: Draws) -> Step:
    asking = ASKINGS[article.entity.kind].get(relation)
    question = f"What is the {relation} of {subject}?" if asking is None else draws.pick(asking.asks).format(subject)
    return Step(article, relation, question, article.wording_of[relation])
