"""Random masked episodes in a small synthetic world."""

import numpy as np

from evidencegym.actions.engine import Engine
from evidencegym.data.world import World
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from evidencegym.retrieval.bm25 import BM25Retriever
from tests.fakes import OverlapGenerator


def test_every_masked_episode_ends_with_an_answer() -> None:
    world = World(300, 1)
    records = list(world.questions(40, "train"))
    made = MultiHopQAEnv(records, Engine(BM25Retriever.build(world.passages()), OverlapGenerator()))
    random = np.random.default_rng(0)
    recalls = []
    for record in records * 3:
        seen, info = made.reset(options={"question": record.id})
        while "answer" not in info:
            assert made.observation_space.contains(seen) and info["action_mask"].any()
            seen, _, _, _, info = made.step(np.int64(random.choice(np.flatnonzero(info["action_mask"]))))
        recalls.append(info["metrics"]["support_recall"])
    assert 0 < np.mean(recalls) < 1
