"""Support recall of the first passages as ordered."""

from evidencegym.actions.rules import Rules
from evidencegym.controllers.fixed_k import FixedKController
from evidencegym.data.support_scores import support_recall
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.metrics import episode_metrics
from evidencegym.envs.rollout import rollout
from tests.small_world import engine, records


def test_recall_at_k_is_over_the_first_k_in_order_of_arrival_without_a_ranker() -> None:
    names = Rules().operations.names
    policy = FixedKController(FeatureMap(names).names, names, 2)
    differ = 0
    for record, episode in zip(records(), rollout([r.question for r in records()], Rules(), engine(), policy)):
        assert record.gold is not None
        found = episode_metrics(record.gold, episode.final)
        for k in (2, 5):
            assert found[f"recall_at_{k}"] == support_recall(record.gold, episode.final.passages[:k])
        assert found["recall_at_2"] <= found["recall_at_5"] <= found["support_recall"]
        differ += found["recall_at_2"] < found["support_recall"]
    assert differ
