"""The Gymnasium environment, its observation and rewards; importing this registers the ids.

``evidencegym/MultiHopQA-v0`` has the seven operations, ``evidencegym/MultiHopQA-v1`` the corrective gate as well.
"""

from __future__ import annotations

from typing import Any

import gymnasium


def make_multihop_qa(**arguments: Any) -> gymnasium.Env[Any, Any]:
    """Build the environment; a small synthetic world stands in for ``records`` and ``engine`` that are not given."""
    from .default_task import with_default_task
    from .multihop_qa import MultiHopQAEnv

    return MultiHopQAEnv(**with_default_task(arguments))


def make_vector_multihop_qa(num_envs: int, **arguments: Any) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Build the vector environment that runs in lockstep, with the same stand-ins."""
    from .default_task import with_default_task
    from .vector_env import EvidenceVectorEnv

    return EvidenceVectorEnv(num_envs=num_envs, **with_default_task(arguments))


def make_gated_multihop_qa(**arguments: Any) -> gymnasium.Env[Any, Any]:
    """Build the environment whose operations are the seven and the corrective gate, unless ``rules`` are given."""
    from .default_task import with_gate

    return make_multihop_qa(**with_gate(arguments))


def make_vector_gated_multihop_qa(num_envs: int, **arguments: Any) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Build the same as a vector environment."""
    from .default_task import with_gate

    return make_vector_multihop_qa(num_envs, **with_gate(arguments))


gymnasium.register(
    id="evidencegym/MultiHopQA-v0",
    entry_point="evidencegym.envs:make_multihop_qa",
    vector_entry_point="evidencegym.envs:make_vector_multihop_qa",
)
gymnasium.register(
    id="evidencegym/MultiHopQA-v1",
    entry_point="evidencegym.envs:make_gated_multihop_qa",
    vector_entry_point="evidencegym.envs:make_vector_gated_multihop_qa",
)
