"""Evidence is cut to what a model can read, the last passages first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.records import Passage
from evidencegym.generation.local_fitting import fit_task
from evidencegym.generation.prompts.by_task import BY_TASK
from evidencegym.generation.tasks import AnswerTask, CompressTask, JudgeTask, RewriteTask, Snippet

PASSAGES = tuple(Passage.of(f"Title {n}", ["It is one sentence.", "A second one.", "The third."]) for n in range(5))


def length(task: object) -> int:
    return sum(len(message["content"]) for message in BY_TASK[type(task)].render(task))


@pytest.mark.parametrize(
    "task",
    [
        AnswerTask("Where?", PASSAGES),
        JudgeTask("Where?", PASSAGES),
        RewriteTask("Where?", PASSAGES, ("one", "two")),
        CompressTask("Where?", PASSAGES),
    ],
)
@given(limit=st.integers(300, 2500))
def test_as_many_passages_stay_as_fit(task: JudgeTask, limit: int) -> None:
    found = fit_task(task, lambda cut: length(cut) <= limit)
    bare = length(type(task)("Where?", (), *([task.queries] if isinstance(task, RewriteTask) else [])))
    if found is None:
        assert bare > limit
        return
    assert length(found) <= limit and found.question == task.question
    kept = found.passages
    assert [passage.id for passage in kept] == [passage.id for passage in PASSAGES[: len(kept)]]
    if kept and kept != PASSAGES[: len(kept)]:
        assert len(kept) == 1 and kept[0].sentences == PASSAGES[0].sentences[: len(kept[0].sentences)]
    elif len(kept) < 5:
        more = Passage(PASSAGES[0].id, "Title 0", PASSAGES[0].sentences[:1]) if not kept else PASSAGES[len(kept)]
        longer = {"passages": (*kept, more)}
        assert length(type(task)(**{**fields_of(found), **longer})) > limit


def fields_of(task: object) -> dict[str, object]:
    return {name: getattr(task, name) for name in type(task).__dataclass_fields__}  # type: ignore[attr-defined]


def test_of_snippets_the_last_go_and_no_passage_comes_in_their_place() -> None:
    snippets = tuple(Snippet(PASSAGES[0].id, f"snippet {n}", n) for n in range(4))
    task = AnswerTask("Where?", PASSAGES, snippets)
    two = length(AnswerTask("Where?", PASSAGES, snippets[:2]))
    found = fit_task(task, lambda cut: length(cut) <= two)
    assert found is not None and found.snippets == snippets[:2]
    none = fit_task(task, lambda cut: length(cut) <= length(AnswerTask("Where?", ())))
    assert none == AnswerTask("Where?", ())


def test_what_fits_is_left_alone_and_a_question_too_long_is_refused() -> None:
    task = JudgeTask("Where?", PASSAGES)
    assert fit_task(task, lambda cut: True) is task
    assert fit_task(task, lambda cut: False) is None
    assert fit_task(JudgeTask("Where?", ()), lambda cut: False) is None
