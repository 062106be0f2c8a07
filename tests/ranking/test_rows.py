"""Rows: what the features mean, bit by bit, whatever was read before."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from evidencegym.data.records import Passage
from evidencegym.ranking.passage_features import PASSAGE_FEATURES
from evidencegym.ranking.proposal_features import PROPOSAL_FEATURES
from evidencegym.ranking.rows import Reader, Rows
from evidencegym.ranking.tasks import Found, RankTask
from evidencegym.retrieval.base import Retriever
from evidencegym.retrieval.bm25 import BM25Retriever
from tests.ranking.reference_rows import passage_rows, search_rows
from tests.ranking.small_rankers import small_tasks, world_retriever, world_tasks
from tests.small_world import retriever

ODD = [
    Passage.of("Ōsaka (city)", ("Ōsaka is a city.", "", "東京 is another; Zoë O’Neill was born in Ōsaka in 1931.")),
    Passage.of("Ōsaka (film)", ("Ōsaka is a film by Zoë O’Neill.", "Ōsaka, Ōsaka!")),
    Passage.of("Zoë O’Neill", ("Zoë O’Neill made Ōsaka in 1931.", "She is 5 feet tall and A. B. is her dog.")),
    Passage.of("", ("A text without a title mentions Zoë O’Neill.",)),
    Passage.of("Nothing", ()),
    Passage.of("The", ("the",)),
    Passage.of("Long", tuple(f"Sentence {n} names Zoë O’Neill and Place{n} of Ōsaka." for n in range(60))),
]
ODD_QUESTION = "Whose Ōsaka is older, Zoë O’Neill's or that of 1931?"


def odd_tasks() -> list[RankTask]:
    found = tuple(Found(p, asked=0.5, asked_rank=n) for n, p in enumerate(ODD))
    held = [(), (0,), (6, 2, 3), (4, 5, 1), (0, 1, 2, 3, 4, 5, 6)]
    return [
        RankTask(text, "", tuple(ODD[i] for i in h), tuple(0.1 * i for i in h), found, (text,))
        for h in held
        for text in (ODD_QUESTION, "When was Ōsaka made?", "How long is Ōsaka?", "Ōsaka", "?", "")
    ]


CASES: dict[str, tuple[tuple[RankTask, ...], Retriever]] = {
    "small": (small_tasks(), retriever()),
    "world": (world_tasks()[::11], world_retriever()),
    "odd": (tuple(odd_tasks()), BM25Retriever.build(ODD)),
}


def same(one: Rows, other: Rows) -> bool:
    arrays = (one.passages, other.passages), (one.rows, other.rows)
    return one.searches == other.searches and all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in arrays)


@pytest.mark.parametrize("case", CASES)
def test_the_rows_are_what_the_features_mean(case: str) -> None:
    tasks, corpus = CASES[case]
    reader = Reader(corpus)
    for task in tasks:
        rows = reader.read(task)
        assert rows.passages.shape == (len(task.found), len(PASSAGE_FEATURES)) and rows.passages.dtype == np.float32
        assert rows.rows.shape == (len(rows.searches), len(PROPOSAL_FEATURES)) and rows.rows.dtype == np.float32
        expected = np.array(passage_rows(task, corpus), np.float32).reshape(rows.passages.shape)
        wrong = {name for at, name in enumerate(PASSAGE_FEATURES) if (rows.passages != expected)[:, at].any()}
        assert not wrong
        searches = search_rows(task, corpus)
        assert rows.searches == [(entity, query) for entity, query, _ in searches]
        made = np.array([row for _, _, row in searches], np.float32).reshape(rows.rows.shape)
        assert not {name for at, name in enumerate(PROPOSAL_FEATURES) if (rows.rows != made)[:, at].any()}
        assert np.isfinite(rows.passages).all() and np.isfinite(rows.rows).all()


def test_every_feature_takes_several_values() -> None:
    """A feature that is always the same in all cases would be tested by nothing."""
    read = [Reader(corpus).read(task) for tasks, corpus in CASES.values() for task in tasks]
    passages, searches = np.concatenate([r.passages for r in read]), np.concatenate([r.rows for r in read])
    for names, rows in ((PASSAGE_FEATURES, passages), (PROPOSAL_FEATURES, searches)):
        assert [name for name, column in zip(names, rows.T) if (column == column[0]).all()] == []


@pytest.mark.parametrize("case", CASES)
def test_what_was_read_before_changes_no_bit(case: str) -> None:
    tasks, corpus = CASES[case]
    alone = [Reader(corpus).read(task) for task in tasks]
    shared, order = Reader(corpus), list(range(len(tasks))) * 2
    Random(5).shuffle(order)
    assert all(same(shared.read(replace(tasks[i])), alone[i]) for i in order)


def test_a_held_passage_is_read_as_if_the_others_alone_were_held() -> None:
    reader = Reader(world_retriever())
    for task in world_tasks()[::9]:
        rows = reader.read(task).passages
        for place, passage in enumerate(task.held):
            held, trust = list(task.held), list(task.trust)
            del held[place], trust[place]
            others = reader.read(replace(task, held=tuple(held), trust=tuple(trust))).passages
            at = [found.passage for found in task.found].index(passage)
            assert rows[at].tobytes() == others[at].tobytes()


def test_threads_may_share_a_reader() -> None:
    tasks, reader = world_tasks(), Reader(world_retriever())
    with ThreadPoolExecutor(4) as pool:
        read = list(pool.map(reader.read, tasks))
    alone = Reader(world_retriever())
    assert all(same(rows, alone.read(task)) for rows, task in zip(read, tasks))


def test_equal_tasks_are_one_and_others_are_told_apart() -> None:
    task = world_tasks()[3]
    again = replace(task, found=tuple(map(replace, task.found)))
    assert again == task and hash(again) == hash(task)
    other = replace(task, found=(replace(task.found[0], promise=0.123), *task.found[1:]))
    assert len({task, again, other}) == 2
