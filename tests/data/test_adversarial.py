"""Misleading passages in a corpus."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import pytest

from evidencegym.data import datasets
from evidencegym.data.adversarial import (
    DOUBTED,
    MISLEADING,
    TRUSTED,
    Injection,
    genuine_type,
    gold_passages,
    inject,
)
from evidencegym.data.corpus import pooled
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Gold, Passage, Question, Record
from evidencegym.data.text import content_words, spaced
from evidencegym.data.world import World

WORLD = World(600, 3)


@lru_cache(maxsize=1)
def passages() -> tuple[Passage, ...]:
    return tuple(WORLD.passages())


@lru_cache(maxsize=1)
def records() -> list[Record]:
    return list(WORLD.questions(40))


@lru_cache(maxsize=1)
def injection() -> Injection:
    return inject(passages(), records(), 0)


def misleading(found: Injection) -> list[Passage]:
    return [passage for passage in found.passages if passage.id in found.adversarial]


def test_the_genuine_corpus_is_still_there_beside_two_copies_a_question() -> None:
    genuine = {passage.id: passage for passage in WORLD.passages()}
    assert {p.id: p for p in injection().passages if p.id not in injection().adversarial} == genuine
    assert [passage.id for passage in injection().passages] == sorted({p.id for p in injection().passages})
    assert not injection().adversarial & genuine.keys()
    assert set(injection().planted) == {record.uid for record in records()}
    assert len(records()) < len(injection().adversarial) <= 2 * len(records())


def test_every_passage_has_a_type_and_copies_one_of_low_trust() -> None:
    kinds = {passage.id: injection().types[passage.id] for passage in injection().passages}
    assert {kinds[key] for key in injection().adversarial} == set(MISLEADING)
    genuine = Counter(kind for key, kind in kinds.items() if key not in injection().adversarial)
    assert set(genuine) == {*TRUSTED, *DOUBTED}
    assert sum(genuine[kind] for kind in DOUBTED) / sum(genuine.values()) == pytest.approx(0.1, abs=0.03)
    assert kinds == injection().types


def test_types_follow_from_id_and_seed_with_the_documented_shares() -> None:
    drawn = [genuine_type(f"{number:016x}", 5, 0.25) for number in range(4000)]
    shares = {kind: drawn.count(kind) / 4000 for kind in {*TRUSTED, *DOUBTED}}
    for kind, weight in TRUSTED.items():
        assert shares[kind] == pytest.approx(0.75 * weight / sum(TRUSTED.values()), abs=0.03)
    for kind, weight in DOUBTED.items():
        assert shares[kind] == pytest.approx(0.25 * weight / sum(DOUBTED.values()), abs=0.03)
    assert drawn != [genuine_type(f"{number:016x}", 6, 0.25) for number in range(4000)]
    assert {genuine_type(f"{number:016x}", 5, 0.0) for number in range(500)} == set(TRUSTED)
    assert {genuine_type(f"{number:016x}", 5, 1.0) for number in range(500)} == set(DOUBTED)


def test_a_copy_names_the_false_answer_and_words_of_the_question_where_the_gold_passage_named_the_true_one() -> None:
    told = 0
    for record in records()[:12]:
        alone = inject(passages(), [record], 0)
        [false] = alone.planted[record.uid]
        true = record.gold.answers if record.gold else ()
        own = {passage.title: passage for passage in gold_passages(record)}
        half = content_words(record.question.text)
        for copy in misleading(alone):
            assert false in copy.text and copy.title in own and copy.text != own[copy.title].text
            assert spaced(" ".join(half[: round(len(half) / 2)])) in spaced(copy.sentences[-1])
            named = [answer for answer in true if spaced(answer) in spaced(own[copy.title].text)]
            told += bool(named)
            assert not any(spaced(answer) in spaced(copy.text) for answer in named if answer not in copy.title)
    assert told > 5


def test_what_is_made_of_a_question_depends_on_nothing_else() -> None:
    whole = injection()
    for record in records()[:6]:
        alone = inject(passages()[::-1], [record], 0)
        assert alone.planted[record.uid] == whole.planted[record.uid]
        assert alone.adversarial <= whole.adversarial
        assert all(whole.types[key] == alone.types[key] for key in alone.types)
    assert inject(passages(), records()[::-1], 0) == whole
    assert inject(passages(), records(), 1).adversarial != whole.adversarial


def test_more_copies_than_gold_passages_give_other_false_answers() -> None:
    many = inject(passages(), records(), 0, copies=8)
    for record in records():
        rounds = -(-8 // len(gold_passages(record)))
        assert 1 <= len(many.planted[record.uid]) <= rounds
        assert many.planted[record.uid][:1] == injection().planted[record.uid]
    assert len(many.adversarial) > 7 * len(records()) and injection().adversarial <= many.adversarial


def test_a_sample_of_the_questions_is_attacked() -> None:
    few = inject(passages(), records(), 0, copies=1, share=0.5)
    assert 8 <= len(few.planted) <= 32 and len(few.adversarial) <= len(few.planted)
    assert few.planted.items() <= injection().planted.items()
    assert not inject(passages(), records(), 0, share=0.0).adversarial


def test_questions_without_gold_or_gold_passages_are_left_alone() -> None:
    bare = Record(records()[0].question, None, records()[0].context)
    lone = replace(records()[1], context=())
    assert not inject(passages(), [bare, lone], 0).adversarial
    assert gold_passages(bare) == gold_passages(lone) == []


def test_names_are_replaced_as_wholes_and_verdicts_by_a_name() -> None:
    town = Passage.of("Kelmar", ["Kelmar Park lies in Kelmarshire.", "Its mayor is Ada Crewe."])
    other = Passage.of("Velby", ["Velby is a town of Jon Sand."])

    def attacked(*answers: str) -> Passage:
        gold = Gold("q", answers, support_ids=(town.id,), match_support_by="id")
        record = Record(Question.of("Who is mayor of this town?"), gold, (town, other))
        [copy] = misleading(inject([town, other], [record], 0, copies=1))
        return copy

    assert attacked("Ada Crewe").sentences[:2] == (town.sentences[0], "Its mayor is Jon Sand.")
    assert attacked("yes").sentences[:2] == (town.sentences[0], "Its mayor is Jon Sand.")
    assert attacked("Ada Crewe").sentences[2] == "On mayor: Jon Sand."


def test_gold_passages_by_title_are_those_of_the_own_context() -> None:
    own, other = Passage.of("Kelmar", ["A town."]), Passage.of("Velby", ["Another."])
    gold = Gold("q", ("x",), support_titles=("Kelmar",))
    assert gold_passages(Record(Question.of("?"), gold, (own, other))) == [own]


@pytest.mark.parametrize("wrong", [{"copies": 0}, {"share": 1.1}, {"borrowed": -0.1}, {"doubted": float("nan")}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="at least 1 copy"):
        inject([], [], 0, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["hotpotqa", "musique"])
def test_real_questions_are_attacked(name: str, real_data: Callable[[str], object]) -> None:
    file = real_data(f"{name}/{datasets.DATASETS[name].dev_files[-1]}.gz")
    found = datasets.read(name, file)[:150]  # type: ignore[arg-type]
    made = inject(pooled(found), found, 0)
    assert len(made.planted) >= 0.98 * len(found)
    assert len(made.adversarial) >= 1.9 * len(found)
