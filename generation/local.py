"""The generator that asks a language model in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..data.records import content_hash
from .completion import Meter
from .local_fitting import fit_task
from .local_model import LocalModel, Prompt, Written
from .local_settings import LocalSettings
from .prompts import repair
from .prompts.by_task import BY_TASK, TaskPrompt
from .prompts.errors import ParseError
from .prompts.template import Messages, prompts_hash
from .replies import read_repaired, read_reply
from .serving import ServingGenerator
from .tasks import Failed, JudgeTask


@dataclass
class _Asked:
    """A task on its way: as it is shown to the model, what it took, and what became of it."""

    task: Any
    prompt: TaskPrompt
    limit: int
    messages: Messages = field(default_factory=list)
    meter: Meter = field(default_factory=Meter)
    reply: str = ""
    result: Any = None
    error: ParseError | None = None


class LocalGenerator(ServingGenerator):
    """Asks a causal language model of transformers; a reply that cannot be used is sent back once, with what is wrong.

    What cannot be served is ``Failed``, alone, with the tokens that it took. Decoding is greedy; answers name no
    sentences as support. The fingerprint leaves out batch and device, see :class:`LocalModel` for what they can change.

    Args:
        settings: which model, and how it is asked.

    Raises:
        ConfigError: if no model is named or there is no such model.
        BackendUnavailableError: if the extra local is not installed.
    """

    def __init__(self, settings: LocalSettings) -> None:
        self.settings = settings
        self.max_batch = settings.batch
        self._model = LocalModel(settings)

    def __reduce__(self) -> Any:
        """Send the name of the model, not the model, to another process."""
        return LocalGenerator, (self.settings,)

    @property
    def fingerprint(self) -> str:
        """A hash of weights, chat template, decoding and prompts."""
        decoding = json.dumps(self.settings.decoding(), sort_keys=True)
        return content_hash("local", self._model.fingerprint, prompts_hash(), decoding)

    @property
    def label(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def unit(self) -> str:
        """The tokens of the model's tokenizer, those of its chat template included."""
        return "tokens"

    def _served(self, kind: str, tasks: Sequence[Any]) -> list[Any]:
        asked = [self._asked(task) for task in tasks]
        self._ask([one for one in asked if one.error is None], again=False)
        self._ask([one for one in asked if self._repairable(one)], again=True)
        return [_result(one) for one in asked]

    def _asked(self, task: Any) -> _Asked:
        """Return the task with as much of its evidence as the model can read."""
        prompt = BY_TASK[type(task)]
        limit = self.settings.max_tokens.get(prompt.name, prompt.completion_tokens(task))
        most = self._room(limit)
        shown = fit_task(task, lambda cut: len(self._model.ids(prompt.render(cut))) <= most)
        if shown is None:
            error = ParseError(f"instructions and question have more than the {most} tokens that the model may read")
            return _Asked(task, prompt, limit, error=error)
        return _Asked(shown, prompt, limit, prompt.render(shown))

    def _room(self, limit: int) -> int:
        context = self._model.context
        return self.settings.max_input if context is None else min(self.settings.max_input, context - limit)

    def _ask(self, waiting: Sequence[_Asked], again: bool) -> None:
        """Ask the model, batch by batch, and enter what it said."""
        for first in range(0, len(waiting), self.settings.batch):
            batch = waiting[first : first + self.settings.batch]
            prompts = [Prompt(self._model.ids(one.messages), one.limit) for one in batch]
            wanted = self.settings.probabilities and isinstance(batch[0].task, JudgeTask)
            for one, prompt, written in zip(batch, prompts, self._model.write(prompts, wanted)):
                _enter(one, len(prompt.ids), written, again)

    def _repairable(self, one: _Asked) -> bool:
        """Prepare the attempt at repair; say whether the model has room for it."""
        if one.error is None or not one.meter.calls:
            return False
        one.messages = repair.render(one.messages, one.reply, one.error)
        context = self._model.context
        return context is None or len(self._model.ids(one.messages)) + one.limit <= context


def _enter(one: _Asked, read: int, written: Written, again: bool) -> None:
    one.meter.calls += 1
    one.meter.prompt_tokens += read
    one.meter.completion_tokens += written.tokens
    one.reply, one.error = written.completion.text, None
    try:
        one.result = (read_repaired if again else read_reply)(written.completion, one.task, one.prompt)
    except ParseError as error:
        one.error = error


def _result(one: _Asked) -> Any:
    if one.error is not None:
        return Failed(str(one.error), one.meter.usage)
    return replace(one.result, usage=one.meter.usage)
