"""What an evaluator is trained on: labels from gold support, and the draw of the others."""

import pytest

from evidencegym.data.errors import ConfigError
from evidencegym.data.popqa import parse
from evidencegym.data.records import Gold, Passage, Question, Record
from evidencegym.training.evaluator_pairs import IRRELEVANT, RELEVANT, pairs_hash, support_pairs
from tests.training.separable import separable

CTXS = [{"title": title, "text": f"{title} is here."} for title in ("Anna", "Anna (film)", "Bert", "Anna")]


def popqa() -> Record:
    return parse(
        {"id": 1, "question": "Who?", "prop": "father", "s_wiki_title": "Anna", "answers": ["Bo"], "ctxs": CTXS}
    )


def test_popqa_is_labelled_by_the_subjects_title() -> None:
    pairs = support_pairs([popqa()])
    assert [(pair.passage.title, pair.label) for pair in pairs] == [
        ("Anna", RELEVANT),
        ("Anna (film)", IRRELEVANT),
        ("Bert", IRRELEVANT),
    ]


def test_support_by_id_counts_the_passage_and_not_its_title() -> None:
    context = tuple(Passage.of("Anna", (text,)) for text in ("One.", "Two."))
    gold = Gold("1", ("x",), support_ids=(context[1].id,), match_support_by="id")
    pairs = support_pairs([Record(Question.of("Who?", context), gold, context)])
    assert [pair.label for pair in pairs] == [IRRELEVANT, RELEVANT]


def test_a_question_draws_alone_and_by_the_seed() -> None:
    records = separable(6, seed=3)
    drawn = support_pairs(records, negatives=1, seed=5)
    assert [sum(pair.label < 0 for pair in drawn if pair.question == r.question.text) for r in records] == [1] * 6
    assert sum(pair.label > 0 for pair in drawn) == 12
    assert support_pairs(records[3:], negatives=1, seed=5) == drawn[-9:]
    assert support_pairs(records, negatives=1, seed=5) == drawn
    assert any(support_pairs(records, negatives=1, seed=seed) != drawn for seed in range(6, 9))
    assert pairs_hash(drawn) != pairs_hash(drawn[::-1])


def test_questions_without_anything_to_learn_are_refused() -> None:
    record = popqa()
    with pytest.raises(ConfigError, match="found 0 supporting and 0 other ones"):
        support_pairs([Record(record.question, None, record.context)])
    with pytest.raises(ConfigError, match="found 1 supporting and 0 other ones"):
        support_pairs([Record(record.question, record.gold, record.context[:1])])
    with pytest.raises(ConfigError, match="negatives must be at least 0"):
        support_pairs([record], negatives=-1)
