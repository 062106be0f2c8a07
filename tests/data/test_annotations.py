"""Whether questions are annotated."""

from dataclasses import replace

import pytest

from evidencegym.data.annotations import is_annotated, require_annotated
from evidencegym.data.errors import ConfigError
from evidencegym.data.hotpotqa import record
from evidencegym.data.records import Gold, Record
from tests.small_world import records


def test_the_questions_of_a_hidden_test_set_are_not() -> None:
    raw = {"_id": "t1", "question": "Who?", "context": [["Title", ["A sentence."]]]}
    hidden = record(raw)
    named = record({**raw, "answer": "Ax"})
    whole = record({**raw, "answer": "Ax", "supporting_facts": [["Title", 0]]})
    assert [is_annotated(one) for one in (hidden, named, whole)] == [False, False, True]
    with pytest.raises(ConfigError, match=r"cannot evaluate questions without gold .* found 2: t1, t1"):
        require_annotated([hidden, whole, named], "evaluate")


def test_unanswerable_questions_need_no_support() -> None:
    [known, *_] = records()
    assert known.gold is not None and is_annotated(known)
    assert not is_annotated(Record(known.question))
    unanswerable = Gold("u", (), answerable=False)
    assert is_annotated(replace(known, gold=unanswerable))
    require_annotated([known], "evaluate")
