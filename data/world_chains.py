"""Questions that follow a chain of facts through the synthetic world: 2, 3 or 4 hops, or one hop too many."""

from __future__ import annotations

from collections.abc import Callable

from .world_articles import Article
from .world_drafts import Draft, Step, linked, told_early
from .world_ground import MAKERS, Ground
from .world_mentions import Mentions
from .world_random import Draws
from .world_schema import ENTAILED, WRITTEN_ELSEWHERE, Entity
from .world_wordings import ASKINGS, DESCRIPTIONS

_DESCRIBED_PERCENT = 40

STARTS = {
    "film": 20,
    "novel": 14,
    "album": 12,
    "song": 12,
    "person": 12,
    "company": 8,
    "university": 4,
    "festival": 4,
    "award": 4,
    "team": 4,
    "city": 2,
    "river": 2,
    "mountain": 2,
}
"""Kinds from which chains start, with their weights."""


class Chains:
    """Drafts chain questions.

    Args:
        read: gives an entity's article.
        mentions: how questions refer to entities.
        ground: what facts rest on.
        together: says whether one question may name two entities.
    """

    def __init__(
        self,
        read: Callable[[Entity], Article],
        mentions: Mentions,
        ground: Ground,
        together: Callable[[Entity, Entity], bool],
    ) -> None:
        self._read = read
        self._mentions = mentions
        self._ground = ground
        self._together = together

    def draft(self, start: Entity, hops: int, draws: Draws) -> Draft | None:
        """Draft a question of this many hops whose every fact is stated; None if this walk leads nowhere."""
        walk = self._walk(start, hops - 1, draws)
        if walk is None:
            return None
        articles, relations = walk
        last = articles[-1]
        seen = {a.entity for a in articles}
        choices = [r for r in last.sentence_of if r in ASKINGS[last.entity.kind] and last.facts[r] not in seen]
        if not choices:
            return None
        draft = self._draft(articles, [*relations, draws.pick(choices)], True, draws)
        return None if told_early(draft.text, draft.steps) else draft

    def draft_unanswerable(self, start: Entity, draws: Draws) -> Draft | None:
        """Draft a question of two hops whose second fact is true but written nowhere."""
        walk = self._walk(start, 1, draws)
        if walk is None:
            return None
        articles, relations = walk
        last = articles[-1]
        hidden = [r for r in last.facts if r in ASKINGS[last.entity.kind] and _hidden(last, r)]
        return self._draft(articles, [*relations, draws.pick(hidden)], False, draws) if hidden else None

    def _walk(self, start: Entity, links: int, draws: Draws) -> tuple[list[Article], list[str]] | None:
        """Follow stated links to entities not seen before."""
        articles, relations = [self._read(start)], []
        for _ in range(links):
            here, seen = articles[-1], {a.entity for a in articles}
            asking = ASKINGS[here.entity.kind]
            links_on = [(r, linked(here, r)) for r in here.sentence_of if r in asking]
            choices = [(r, e) for r, e in links_on if e is not None and e not in seen]
            if not choices:
                return None
            relation, entity = draws.pick(choices)
            relations.append(relation)
            articles.append(self._read(entity))
        return articles, relations

    def _draft(self, articles: list[Article], relations: list[str], stated: bool, draws: Draws) -> Draft:
        first = articles[0]
        subject = self._described(first, draws) or self._mentions.in_question(first.entity, draws).written
        text, steps = subject, []
        for i, (article, relation) in enumerate(zip(articles, relations)):
            asking, elder = ASKINGS[article.entity.kind][relation], self._elder(article, relation)
            final = i == len(relations) - 1
            question = draws.pick(asking.asks).format(f"#{i}" if i else subject, elder=elder)
            text = draws.pick(asking.asks if final else asking.nouns).format(text, elder=elder)
            given = stated or not final
            steps.append(Step(article, relation, question, article.wording_of[relation] if given else "", given))
        answers = self._answers(articles[-1], relations[-1]) if stated else ()
        return Draft((first.entity, *relations), _sentence(text), answers, tuple(steps))

    def _described(self, article: Article, draws: Draws) -> str | None:
        """Describe an entity by its maker and year, where its article gives both and nothing else fits them."""
        kind = article.entity.kind
        if kind not in DESCRIPTIONS or not draws.chance(_DESCRIBED_PERCENT):
            return None
        relation = MAKERS[kind][0]
        maker, year = linked(article, relation), article.facts["year"]
        if maker is None or "year" not in article.sentence_of or self._ground.names.ambiguous(maker):
            return None
        same = [e for e in self._ground.made_by(maker, kind) if self._ground.year(e) == year]
        if len(same) > 1 or not self._together(article.entity, maker):
            return None
        return draws.pick(DESCRIPTIONS[kind]).format(maker=article.wording_of[relation], year=year)

    def _elder(self, article: Article, relation: str) -> str:
        value = article.facts[relation]
        woman = isinstance(value, Entity) and value.kind == "person" and self._ground.names.feminine(value)
        return "mother" if woman else "father"

    def _answers(self, article: Article, relation: str) -> tuple[str, ...]:
        value = article.facts[relation]
        others = self._mentions.names(value) if isinstance(value, Entity) else ()
        return tuple(dict.fromkeys((article.wording_of[relation], *others)))


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _hidden(article: Article, relation: str) -> bool:
    """Return True if no article states the relation, nor anything from which it could be guessed."""
    told = relation in article.sentence_of or ENTAILED.get(relation) in article.sentence_of
    return not told and relation not in WRITTEN_ELSEWHERE and not relation.startswith("known_")
