"""The generator behind a chat server: vLLM, llama.cpp, Ollama or a hosted one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from ..data.errors import ConfigError, RequestFailedError
from .chat_client import ChatClient
from .chat_settings import ChatSettings
from .completion import Completion, Meter
from .prompts import repair
from .prompts.by_task import BY_TASK, TaskPrompt
from .prompts.errors import ParseError
from .prompts.template import Messages, without_system
from .replies import read_repaired, read_reply
from .serving import ServingGenerator
from .tasks import Failed, JudgeTask


class ChatGenerator(ServingGenerator):
    """Asks a language model; a reply that cannot be used is sent back once, with what is wrong with it.

    What cannot be served is ``Failed``, alone, with the tokens that it took as far as the server reported them. Answers
    name no sentences as support.

    Args:
        settings: which server and model, and how they are asked.

    Raises:
        ConfigError: if no model is named.
        BackendUnavailableError: if the extra chat is not installed. The methods raise it, too: if no server answers,
            or it refuses the model or the key, so that no task could be served.
    """

    max_batch = 1

    def __init__(self, settings: ChatSettings) -> None:
        if not settings.model:
            raise ConfigError("which model? Name it as the server does: --chat.model NAME")
        self.settings = settings
        self.concurrency = settings.concurrency
        self._client = ChatClient(settings)

    def __reduce__(self) -> Any:
        return ChatGenerator, (self.settings,)

    @property
    def fingerprint(self) -> str:
        """A hash of model, decoding and prompts."""
        return self.settings.fingerprint

    @property
    def label(self) -> str:
        """The model's name."""
        return self.settings.model

    @property
    def unit(self) -> str:
        """The tokens that the server counts."""
        return "tokens"

    def _served(self, kind: str, tasks: Sequence[Any]) -> list[Any]:
        if len(tasks) < 2:
            return [self._one(task) for task in tasks]
        with ThreadPoolExecutor(min(len(tasks), self.concurrency), "evidencegym-chat") as pool:
            return list(pool.map(self._one, tasks))

    def _one(self, task: Any) -> Any:
        meter = Meter()
        try:
            made = self._result(task, BY_TASK[type(task)], meter)
            return replace(made, usage=meter.usage)
        except RequestFailedError as error:
            return Failed(str(error), meter.usage)

    def _result(self, task: Any, prompt: TaskPrompt, meter: Meter) -> Any:
        ask = self._asker(task, prompt, meter)
        messages = prompt.render(task)
        first = ask(messages)
        try:
            return read_reply(first, task, prompt)
        except ParseError as error:
            second = ask(repair.render(messages, first.text, error))
        return read_repaired(second, task, prompt)

    def _asker(self, task: Any, prompt: TaskPrompt, meter: Meter) -> Callable[[Messages], Completion]:
        settings = self.settings
        limit = settings.max_tokens.get(prompt.name, prompt.completion_tokens(task))
        schema = prompt.schema(task)
        wanted = settings.logprobs and isinstance(task, JudgeTask)

        def ask(messages: Messages) -> Completion:
            shown = messages if settings.system_role else without_system(messages)
            return self._client.complete(shown, limit, schema, meter, wanted)

        return ask
