"""Collection: every valid operation of every visited state, by models that have not seen the question."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.costs import COST_NAMES
from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.fixed_k import FixedKController
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.answer_scores import token_f1
from evidencegym.data.errors import ConfigError, DataError
from evidencegym.data.records import Record
from evidencegym.data.support_scores import support_recall
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.rollout import rollout
from evidencegym.generation.tasks import Answer, AnswerTask, CompressTask, JudgeTask, RewriteTask
from evidencegym.training.collect import CollectSettings, collect
from evidencegym.training.parts import PartStore
from evidencegym.training.rows import feature_matrix
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records, retriever

RULES = Rules()
NAMES = RULES.operations.names
STOP = RULES.operations.stop
POLICIES = [UniformController(7, avoid=[STOP]), UniformController(8, avoid=[STOP])]
UIDS = [record.uid for record in records()]


def rows(folder: Path, **settings: Any) -> pa.Table:
    store = PartStore(folder, {"test": 1})
    chosen = CollectSettings(**settings)
    collect(records(), RULES, lambda _: shared, POLICIES[: chosen.episodes], store, chosen)
    return store.compact(UIDS)


shared = engine()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    return rows(tmp_path_factory.mktemp("rows"))


def visits(table: pa.Table) -> dict[tuple[str, int, int], list[dict[str, Any]]]:
    """Return the rows by (question, episode, step)."""
    found: dict[tuple[str, int, int], list[dict[str, Any]]] = defaultdict(list)
    for row in table.to_pylist():
        found[row["question_id"], row["episode"], row["step"]].append(row)
    return found


def test_the_rows_are_those_of_the_behaviour_episodes_replayed_by_hand(table: pa.Table) -> None:
    found = visits(table)
    features = FeatureMap(NAMES)
    for record in records():
        assert record.gold is not None
        for number, policy in enumerate(POLICIES):
            [episode] = rollout([record.question], RULES, engine(), policy)
            final_f1 = f1(record, episode.final.answer)
            for step, (state, taken) in enumerate(zip(episode.states, episode.steps)):
                tried = found.pop((record.id, number, step))
                assert [row["operation"] for row in tried] == list(taken.valid)
                assert [row["operation"] for row in tried if row["chosen"]] == [taken.operation]
                [concluded] = RULES.conclude([state], engine())
                for row in tried:
                    [after] = RULES.step([state], [NAMES.index(row["operation"])], engine())
                    assert row["support_recall"] == support_recall(record.gold, state.passages)
                    assert row["support_recall_after"] == support_recall(record.gold, after.passages)
                    assert row["new_documents"] == len(after.held) - len(state.held)
                    assert [row[k] for k in COST_NAMES] == [
                        getattr(after.cost, k) - getattr(state.cost, k) for k in COST_NAMES
                    ]
                    assert (row["answer_f1"], row["final_f1"]) == (f1(record, concluded.answer), final_f1)
                    assert np.array_equal(np.array(row["features"], np.float32), features.vector(state))
                    assert np.array_equal(np.array(row["next_features"], np.float32), features.vector(after))
                    assert row["ended"] == bool(after.end)
                    assert row["next_mask"] == (RULES.mask(after) * (not after.end)).tolist()
                    [end] = RULES.conclude([after], engine())
                    assert row["end_f1"] == f1(record, end.answer) if after.end else row["end_f1"] is None
    assert not found


def f1(record: Record, answer: Answer | None) -> float:
    assert record.gold is not None and answer is not None
    return token_f1(answer.text, record.gold.references)


def test_rows_are_sorted_and_hold_no_trace_of_what_is_not_observed(table: pa.Table) -> None:
    ids = table.column("question_id").to_pylist()
    assert sorted(set(ids)) == sorted(record.id for record in records())
    keys = list(visits(table))
    assert [key[1:] for key in keys if key[0] == keys[0][0]] == sorted(key[1:] for key in keys if key[0] == keys[0][0])
    assert feature_matrix(table).shape == (table.num_rows, len(FeatureMap(NAMES).names))


@pytest.mark.parametrize("batch", [1, 3])
def test_the_batch_changes_no_byte(batch: int, table: pa.Table, tmp_path: Path) -> None:
    rows(tmp_path / "a")
    assert rows(tmp_path / "b", batch=batch).equals(table)
    assert (tmp_path / "a" / "rows.parquet").read_bytes() == (tmp_path / "b" / "rows.parquet").read_bytes()


def test_subsets_and_caps_are_kept(tmp_path: Path) -> None:
    rules = Rules(operation_set(["stop_answer", "retrieve_more", "compress"], compress_in_control=True), Caps(steps=2))
    store = PartStore(tmp_path, {})
    collect(records(), rules, lambda _: shared, [UniformController(0)] * 2, store)
    found = store.compact(UIDS)
    assert set(found.column("operation").to_pylist()) == {"stop_answer", "retrieve_more", "compress"}
    assert set(found.column("step").to_pylist()) == {0, 1}


class Fitted(OverlapGenerator):
    """Refuses every task about a question that it was fitted on, and notes those that it was asked about."""

    def __init__(self, name: str, seen: Sequence[str]) -> None:
        super().__init__()
        self.name, self.seen, self.asked = name, set(seen), set[str]()

    @property
    def fingerprint(self) -> str:
        return self.name

    def _check(self, question: str) -> None:
        assert question not in self.seen, f"{self.name} was fitted on {question!r}"
        self.asked.add(question)

    def _answer(self, task: AnswerTask):  # type: ignore[no-untyped-def]
        self._check(task.question)
        return super()._answer(task)

    def _judge(self, task: JudgeTask):  # type: ignore[no-untyped-def]
        self._check(task.question)
        return super()._judge(task)

    def _rewrite(self, task: RewriteTask):  # type: ignore[no-untyped-def]
        self._check(task.question)
        return super()._rewrite(task)

    def _compress(self, task: CompressTask):  # type: ignore[no-untyped-def]
        self._check(task.question)
        return super()._compress(task)


@pytest.mark.parametrize("batch", [1, 32])
def test_no_model_is_asked_about_a_question_that_it_was_fitted_on(batch: int, tmp_path: Path) -> None:
    texts = [record.question.text for record in records()]
    folds = [Fitted(f"fold {n}", [t for i, t in enumerate(texts) if i % 3 != n]) for n in range(3)]
    engines = [Engine(retriever(), fold) for fold in folds]
    store = PartStore(tmp_path, {})
    collect(
        records(),
        RULES,
        lambda r: engines[texts.index(r.question.text) % 3],
        POLICIES,
        store,
        CollectSettings(2, batch),
    )
    assert [fold.asked for fold in folds] == [{t for i, t in enumerate(texts) if i % 3 == n} for n in range(3)]
    with pytest.raises(AssertionError, match="was fitted on"):
        collect(records(), RULES, lambda _: engines[0], POLICIES, PartStore(tmp_path / "other", {}))


@pytest.mark.parametrize("writes", [0, 1, 5, 7])
def test_an_interrupted_collection_goes_on_where_it_was(
    writes: int, table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    write = PartStore.write

    def interrupted(self: PartStore, question_id: str, part: pa.Table) -> None:
        if len(written) == writes:
            raise KeyboardInterrupt
        write(self, question_id, part)
        written.append(question_id)

    with monkeypatch.context() as patch:
        patch.setattr(PartStore, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rows(tmp_path, batch=3)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.parquet")}
    assert len(before) == writes
    assert rows(tmp_path).equals(table)
    assert all(file.stat().st_mtime_ns == time for file, time in before.items())


def test_progress_counts_what_was_there(tmp_path: Path) -> None:
    store = PartStore(tmp_path, {})
    seen: list[tuple[int, int]] = []
    settings = CollectSettings(episodes=1, batch=2)
    collect(records()[:3], RULES, lambda _: shared, POLICIES[:1], store, settings)
    collect(records(), RULES, lambda _: shared, POLICIES[:1], store, settings, lambda *n: seen.append(n))
    assert seen == [(3, 8), (5, 8), (7, 8), (8, 8)]
    collect(records(), RULES, lambda _: shared, POLICIES[:1], store, settings, lambda *n: seen.append(n))
    assert seen[4:] == [(8, 8)]


def test_a_damaged_part_is_made_again(table: pa.Table, tmp_path: Path) -> None:
    rows(tmp_path)
    parts = sorted((tmp_path / "parts").iterdir())
    parts[2].write_bytes(parts[2].read_bytes()[:-20])
    parts[5].unlink()
    assert rows(tmp_path).equals(table)


def test_a_disk_that_fills_up_is_told_and_loses_nothing(
    table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    real, calls = os.fsync, []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > 4:  # the manifest and three parts
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DataError, match=r"parquet: cannot write \(No space left"):
            rows(tmp_path)
    assert len(list((tmp_path / "parts").iterdir())) == 3
    assert rows(tmp_path).equals(table)


def test_what_cannot_be_collected_is_refused(tmp_path: Path) -> None:
    store = PartStore(tmp_path, {})
    with pytest.raises(ConfigError, match="one behaviour policy for each of 2 episodes, found 1"):
        collect(records(), RULES, lambda _: shared, POLICIES[:1], store)
    without = [Record(record.question) for record in records()[:1]]
    with pytest.raises(ConfigError, match="cannot collect from questions without gold"):
        collect(without, RULES, lambda _: shared, POLICIES, store)
    for name in ("episodes", "batch"):
        with pytest.raises(ConfigError, match=f"collect.{name} must be at least 1, found 0"):
            CollectSettings(**{name: 0})


def test_a_policy_that_stops_at_once_gives_rows_too(tmp_path: Path) -> None:
    store = PartStore(tmp_path, {})
    policy = FixedKController(FeatureMap(NAMES).names, NAMES, 1)
    collect(records(), RULES, lambda _: shared, [policy], store, CollectSettings(episodes=1))
    found = store.compact(UIDS)
    assert {row["operation"] for row in found.to_pylist() if row["chosen"]} == {"retrieve_more", "stop_answer"}
