"""One call to a chat server through the official client: bounded, retried, metered."""

from __future__ import annotations

from functools import cached_property
from threading import BoundedSemaphore
from typing import Any

from ..data.errors import BackendUnavailableError, RequestFailedError
from ..data.retries import Gate, TransientError, asked_wait, persistently
from .chat_settings import ChatSettings
from .completion import Completion, Meter, read_completion
from .prompts.template import Messages

ALTERNATIVES = 5
"""Tokens asked for in each place, where probabilities are wanted."""
_REFUSED = {400, 422, 501}
_WRONG_SERVER = {401, 403, 404}
_AGAIN = {408, 409, 425, 429}


class ChatClient:
    """Calls a server; from several threads at a time, of which ``settings.concurrency`` get through.

    Args:
        settings: where the server is and how it is asked.

    Raises:
        BackendUnavailableError: if the extra chat is not installed.
    """

    def __init__(self, settings: ChatSettings) -> None:
        self.settings = settings
        self._room = BoundedSemaphore(settings.concurrency)
        self._gate = Gate()
        self._takes_schemas = settings.structured != "off"
        try:
            import openai
            import tenacity  # noqa: F401
        except ImportError as error:
            raise BackendUnavailableError(
                f"a chat server is asked through the packages openai and tenacity; install the extra 'chat' ({error})"
            ) from error
        self._openai = openai

    def complete(
        self, messages: Messages, limit: int, schema: dict[str, Any], meter: Meter, logprobs: bool = False
    ) -> Completion:
        """Return the reply to some messages.

        Args:
            messages: the chat so far.
            limit: completion tokens at most.
            schema: JSON schema of the reply.
            meter: gets what the calls took, those that fail included, as far as the server says.
            logprobs: ask for the probabilities of the tokens.

        Raises:
            RequestFailedError: if this call cannot be served; others may be.
            BackendUnavailableError: if no call can: no server there, no such model, or the key is refused.
        """
        body = self._body(messages, limit, logprobs)
        if not self._takes_schemas:
            return self._persistently(body, meter)
        try:
            return self._persistently({**body, "response_format": _format(schema)}, meter)
        except _RefusedError:
            if self.settings.structured == "on":
                raise
        served = self._persistently(body, meter)
        self._takes_schemas = False
        return served

    def _body(self, messages: Messages, limit: int, logprobs: bool) -> dict[str, Any]:
        settings = self.settings
        body: dict[str, Any] = {"model": settings.model, "messages": messages, settings.limit_name: limit}
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.seed is not None:
            body["seed"] = settings.seed
        if logprobs:
            body |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
        return {**body, "extra_body": settings.extra} if settings.extra else body

    def _persistently(self, body: dict[str, Any], meter: Meter) -> Completion:
        settings = self.settings
        try:
            return persistently(lambda: self._once(body, meter), settings.retries, settings.max_wait)
        except TransientError as error:
            if error.unreachable:
                raise BackendUnavailableError(
                    f"no server answers at {settings.base_url} ({error}); start it, or name it with --chat.base_url"
                ) from None
            raise RequestFailedError(f"{error}, {1 + settings.retries} attempts at most") from None

    def _once(self, body: dict[str, Any], meter: Meter) -> Completion:
        with self._room:
            self._gate.pass_through()
            try:
                content = self._sent(body)
            except TransientError as error:
                if error.wait is not None and error.wait <= self.settings.max_wait:
                    self._gate.close_for(error.wait)
                raise
        try:
            return read_completion(content, meter)
        except ValueError as error:
            raise TransientError(f"the server's response cannot be read: {error}") from None

    def _sent(self, body: dict[str, Any]) -> bytes:
        """Return the body of the response as it is; the client's own reading is lenient.

        The exceptions of the client are not chained: they hold the request, and with it the key.
        """
        try:
            return bytes(self._client.chat.completions.with_raw_response.create(**body).content)
        except self._openai.APITimeoutError:
            raise TransientError(f"no response within {self.settings.timeout:g} s") from None
        except self._openai.APIStatusError as error:
            raise self._of_status(error) from None
        except self._openai.APIConnectionError as error:
            cause = type(error.__cause__).__name__
            raise TransientError(f"the connection failed ({cause})", unreachable=cause == "ConnectError") from None
        except (self._openai.OpenAIError, ValueError) as error:
            raise TransientError(f"the response cannot be read ({type(error).__name__})") from None

    def _of_status(self, error: Any) -> Exception:
        status = int(error.status_code)
        said = self._without_key(" ".join(str(error.message).split())[:300])
        if status in _WRONG_SERVER:
            return BackendUnavailableError(
                f"{self.settings.base_url} refuses the model {self.settings.model!r} or the key in "
                f"{self.settings.key_variable} ({status}: {said})"
            )
        if status in _REFUSED:
            return _RefusedError(f"the server refuses the request ({status}: {said})")
        if status in _AGAIN or status >= 500:
            return TransientError(f"the server answers {status}: {said}", asked_wait(error.response.headers))
        return RequestFailedError(f"the server answers {status}: {said}")

    def _without_key(self, text: str) -> str:
        key = self.settings.key
        return text.replace(key, "(key)") if key else text

    @cached_property
    def _client(self) -> Any:
        settings = self.settings
        return self._openai.OpenAI(
            base_url=settings.base_url, api_key=settings.key or "none", timeout=settings.timeout, max_retries=0
        )


class _RefusedError(RequestFailedError):
    """The server cannot make sense of the request, or of one of its fields."""


def _format(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
