"""Which server answers, and how it is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from ..data.errors import ConfigError
from ..data.records import content_hash
from .prompts.by_task import PROMPT_NAMES
from .prompts.template import prompts_hash

_HOW_ONLY = ("base_url", "key_variable", "timeout", "retries", "max_wait", "concurrency")
"""Settings that change how a reply is come by, but not the reply."""


@dataclass(frozen=True)
class ChatSettings:
    """A server that speaks OpenAI's chat completions, and how it is asked.

    The key is read from the environment when a call is made; it stands in no setting, fingerprint or record.

    Attributes:
        base_url: where the server is, up to and with its /v1.
        model: the model's name on that server.
        label: tells apart servers that give one model's name to different weights, such as quantisations.
        key_variable: the environment variable that holds the key; a server without keys needs none.
        timeout: seconds that a server may be silent.
        retries: further attempts after a time-out, a lost connection, a rate limit, an error of the server, or a
            response that cannot be read; at least 0.
        max_wait: seconds between two attempts at most; a server that asks for more is not asked again.
        concurrency: calls under way at a time, at least 1.
        max_tokens: completion tokens at most, by answer, judge, rewrite, compress; left out, what the prompt needs.
        limit_name: what the server calls that limit.
        temperature: 0 decodes greedily; null leaves it to the server.
        seed: sent with each call; null sends none.
        structured: on holds the server to a JSON schema, off does not, auto does unless the server refuses.
        logprobs: ask for the probability of the verdict's token.
        system_role: whether the model knows a system message; without, it is put before the user's.
        extra: further fields of the request, as the server documents them.

    Raises:
        ConfigError: if a value is out of range, or the URL holds a name or password.
    """

    base_url: str = "http://localhost:8000/v1"
    model: str = ""
    label: str = ""
    key_variable: str = "OPENAI_API_KEY"
    timeout: float = 120.0
    retries: int = 5
    max_wait: float = 60.0
    concurrency: int = 8
    max_tokens: dict[str, int] = field(default_factory=dict)
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: float | None = 0.0
    seed: int | None = 0
    structured: Literal["auto", "on", "off"] = "auto"
    logprobs: bool = False
    system_role: bool = True
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.timeout <= 0 or self.max_wait < 0 or self.retries < 0 or self.concurrency < 1:
            raise ConfigError(
                "chat.timeout must be positive, chat.max_wait and chat.retries at least 0, chat.concurrency at least "
                f"1; found {self.timeout}, {self.max_wait}, {self.retries}, {self.concurrency}"
            )
        if unknown := sorted(set(self.max_tokens) - set(PROMPT_NAMES)):
            raise ConfigError(f"chat.max_tokens has the keys {', '.join(PROMPT_NAMES)}, found {', '.join(unknown)}")
        if any(limit < 1 for limit in self.max_tokens.values()):
            raise ConfigError(f"chat.max_tokens must be at least 1 each, found {self.max_tokens}")
        self._check_url()

    def _check_url(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            named = parts.username or parts.password or parts.query
        except ValueError as error:
            raise ConfigError(f"chat.base_url is no URL ({error})") from None
        if named:
            raise ConfigError("chat.base_url must hold no password and no parameters: give the key in the environment")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"chat.base_url must be like http://localhost:8000/v1, found {self.base_url!r}")

    @property
    def key(self) -> str:
        """The key, empty where the variable is not set."""
        return os.environ.get(self.key_variable, "").strip()

    @property
    def fingerprint(self) -> str:
        """A hash of what can change a reply: model, label, decoding and prompts, not the address of the server."""
        named = {name: value for name, value in self.source().items() if name not in _HOW_ONLY}
        return content_hash("chat", prompts_hash(), json.dumps(named, sort_keys=True))

    def source(self) -> dict[str, Any]:
        """Return the settings as plain values, for a manifest."""
        return asdict(self)

    @classmethod
    def of(cls, source: Mapping[str, Any] | None) -> ChatSettings:
        """Return the settings that a manifest holds, the defaults where it holds none.

        Raises:
            ConfigError: if it holds something else.
        """
        try:
            return cls(**(source or {}))
        except TypeError as error:
            raise ConfigError(f"the manifest names no chat server that can be used ({error})") from error
