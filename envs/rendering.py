"""Plain-text pictures of states and traces."""

from __future__ import annotations

from collections.abc import Sequence

from ..actions.state import EvidenceState
from .trace import Step


def render_state(state: EvidenceState, valid: Sequence[str]) -> str:
    """Return the state as lines of text: question, evidence, gap, verdict, valid operations, answer."""
    lines = [f"Question: {state.question.text}", f"Step {state.steps} of {state.caps.steps}"]
    for number, item in enumerate(state.held, 1):
        source = f", {item.source}" if item.source else ""
        lines.append(f"  [{number}] {item.passage.title}  <- {item.operation} (score {item.score:.2f}{source})")
    if state.sufficient is not None:
        lines.append(f"Verdict: {'sufficient' if state.sufficient else 'not sufficient'} ({state.sufficiency:.2f})")
    if state.gate is not None:
        lines.append(f"Gate: {state.gate.verdict} (best score {max(state.gate.scores):+.2f})")
    if state.gap:
        lines.append(f"Missing: {state.gap}")
    if state.answer is not None:
        lines.append(f"Ended by {state.end}. Answer: {state.answer.text}")
    else:
        lines.append(f"Valid: {', '.join(valid)}")
    return "\n".join(lines)


def render_trace(steps: Sequence[Step]) -> str:
    """Return a trace as lines of text: each step with its mask, values, what came back, and cost."""
    lines: list[str] = []
    for number, step in enumerate(steps, 1):
        lines.append(f"step {number}: {step.operation}")
        values = dict(step.values)
        options = [f"{name} {values[name]:+.3f}" if name in values else name for name in step.valid]
        lines.append(f"    could run:  {', '.join(options)}")
        if step.vetoed:
            lines.append(f"    vetoed:     {', '.join(step.vetoed)} (going on is predicted to improve the answer)")
        if step.failure:
            lines.append(f"    failed:     {step.failure}")
        if step.query:
            lines.append(f"    searched:   {step.query}")
        if step.verdict is not None:
            lines.append(f"    verdict:    {'' if step.verdict else 'not '}sufficient ({step.sufficiency:.2f})")
        if step.gate is not None:
            lines.append(f"    gate:       {step.gate}")
        if step.gap:
            lines.append(f"    missing:    {step.gap}")
        if step.brought:
            lines.append(f"    brought:    {'; '.join(title for _, title in step.brought)}")
        elif step.query:
            lines.append("    brought:    nothing new")
        spent = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in step.cost.as_dict().items() if value)
        lines.append(f"    cost:       {spent or 'nothing'}")
    return "\n".join(lines)
