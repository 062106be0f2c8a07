"""Episodes in the compact form that the page of a report reads: what repeats is written once and named by number."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.errors import DataError
from ..envs.trace import Gated

COSTS = ("retrievals", "prompt_tokens", "completion_tokens", "generator_calls", "evaluator_calls", "external_searches")
_METRICS = (
    "support_recall",
    "full_support",
    "answer_f1",
    "answer_em",
    "context_support_recall",
    "recall_at_2",
    "recall_at_5",
)


@dataclass
class Numbered:
    """Things by number, in the order in which they came."""

    items: list[Any] = field(default_factory=list)
    _numbers: dict[Any, int] = field(default_factory=dict)

    def number(self, key: Any, item: Any) -> int:
        """Return the number of ``key``; ``item`` is kept where it is new."""
        if key not in self._numbers:
            self._numbers[key] = len(self.items)
            self.items.append(item)
        return self._numbers[key]

    def one(self, name: str) -> int:
        """Return the number of a text that stands for itself."""
        return self.number(name, name)


@dataclass
class Episodes:
    """The episodes of one data set.

    Attributes:
        questions: [uid, id, text, type, hops, answers, support] of each question; support is None where not recorded.
        passages: [id, title] of each passage.
        operations: their names.
        texts: queries, gaps, answers, failures, what gates did, and ends.
    """

    questions: Numbered = field(default_factory=Numbered)
    passages: Numbered = field(default_factory=Numbered)
    operations: Numbered = field(default_factory=Numbered)
    texts: Numbered = field(default_factory=Numbered)

    def shared(self) -> dict[str, Any]:
        """Return what all methods share, for JSON."""
        parts = {"questions": self.questions, "passages": self.passages, "operations": self.operations}
        named = {name: part.items for name, part in (parts | {"texts": self.texts}).items()}
        return named | {"costs": COSTS, "metrics": _METRICS}

    def compact(self, result: Mapping[str, Any], file: Path) -> list[Any]:
        """Return an episode: [question, answer, end, metrics, passages, costs, support, steps].

        Raises:
            DataError: if a part of the result is of another type than an evaluation writes.
        """
        try:
            return self._compact(result)
        except (TypeError, ValueError, OverflowError, KeyError, IndexError, AttributeError) as error:
            told = f"{type(error).__name__}: {error}"
            raise DataError(f"the result of {result.get('uid')} is damaged ({told}); evaluate again", file) from error

    def _compact(self, result: Mapping[str, Any]) -> list[Any]:
        metrics = result.get("metrics") or {}
        return [
            self._question(result),
            self.texts.one(str(result.get("answer", ""))),
            self.texts.one(str(result.get("end", ""))),
            [_rounded(metrics.get(name)) for name in _METRICS],
            [self._passage(passage) for passage in result["passages"]],
            _costs(result["cost"]),
            [[self.texts.one(str(title)), int(sentence)] for title, sentence in result.get("support", [])],
            [self._step(step) for step in result["steps"]],
        ]

    def _question(self, result: Mapping[str, Any]) -> int:
        gold = result.get("gold") or {}
        support = gold.get("support")
        item = [
            str(result["uid"]),
            str(result.get("id", "")),
            result["question"],
            str(gold.get("type", "")),
            int(gold.get("hops") or 0),
            [str(answer) for answer in gold.get("answers", [])],
            None if support is None else [str(one) for one in support],
        ]
        return self.questions.number(item[0], item)

    def _passage(self, passage: list[Any]) -> int:
        name, title = map(str, passage)
        return self.passages.number((name, title), [name, title])

    def _step(self, step: Mapping[str, Any]) -> list[Any]:
        """Return the step as a list.

        It is [operation, valid, values, vetoed, query, brought, verdict, sufficiency, gap, costs, failure, gate].
        """
        valid = [self.operations.one(str(name)) for name in step.get("valid", [])]
        values = {self.operations.one(str(name)): _rounded(value) for name, value in step.get("values", {}).items()}
        return [
            self.operations.one(str(step["operation"])),
            valid,
            [values.get(number) for number in valid] if values else 0,
            [self.operations.one(str(name)) for name in step.get("vetoed", [])],
            self._text(step.get("query")),
            [self._passage(passage) for passage in step.get("brought", [])],
            step.get("verdict"),
            _rounded(step.get("sufficiency")),
            self._text(step.get("gap")),
            _costs(step.get("cost") or {}),
            self._text(step.get("failure")),
            self._text(Gated(**step["gate"]) if step.get("gate") else ""),
        ]

    def _text(self, text: Any) -> int:
        return self.texts.one(str(text)) if text else -1


def _costs(cost: Mapping[str, Any]) -> list[int]:
    """Return the costs in the order of :data:`COSTS`, without the zeros at the end."""
    values = [int(cost.get(name, 0)) for name in COSTS]
    while values and not values[-1]:
        values.pop()
    return values


def _rounded(value: Any) -> float | None:
    """Return a number with four decimals; None for what JSON does not know."""
    number = None if value is None else round(float(value), 4)
    return number if number is not None and number - number == 0 else None


def encoded(content: Any, plain: bool) -> str:
    """Return content as text for a ``<script type="application/json">``; always the same for the same content.

    Plain JSON is ASCII, with ``<``, ``>`` and ``&`` escaped, so that nothing in it ends the element. Otherwise it is
    compressed (gzip) and written in base64.
    """
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    if plain:
        return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return base64.b64encode(gzip.compress(text.encode("ascii"), 9, mtime=0)).decode("ascii")
