"""One request to a wiki: from the cache, else over the network where that is allowed; bounded, retried, counted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from threading import BoundedSemaphore, Lock
from typing import Any, TypeVar

from ..data.errors import BackendUnavailableError, ConfigError, DataError, RequestFailedError
from ..data.fields import Raw, shown
from ..data.retries import Gate, TransientError, asked_wait, persistently
from .mediawiki_cache import CachedResponse, ResponseCache, WikiRequest
from .mediawiki_settings import MediaWikiSettings

T = TypeVar("T")
MAX_BYTES = 8_000_000
"""Bytes of a response, unpacked, that are read at most."""

_AGAIN = {408, 425, 429}
_AGAIN_CODES = {"maxlag", "ratelimited", "readonly", "timeout", "cirrussearch-too-busy-error"}


class TooLargeError(RequestFailedError):
    """A response of more than ``MAX_BYTES``."""


class MediaWikiClient:
    """Asks wikis; from several threads at a time, of which ``settings.concurrency`` get through.

    Args:
        settings: how, and whether at all.

    Attributes:
        requests: how many were sent, further attempts included.

    Raises:
        ConfigError: if requests may not be sent and there is no cache, or they may and no contact is given.
        BackendUnavailableError: if requests may be sent and the extra wiki is not installed.
    """

    def __init__(self, settings: MediaWikiSettings) -> None:
        self.settings = settings
        self.requests = 0
        self._cache = ResponseCache(settings.folder)
        self._room = BoundedSemaphore(settings.concurrency)
        self._gate = Gate()
        self._lock = Lock()
        if settings.network:
            self._check_online()
        elif not settings.folder.is_dir():
            raise ConfigError(
                f"wikis may not be asked and {settings.folder} holds nothing of them: allow requests with "
                "external.mediawiki.network true and external.mediawiki.contact ADDRESS, or name a cache with "
                "external.mediawiki.cache"
            )

    def ask(self, api: str, parameters: Mapping[str, str], read: Callable[[Raw], T]) -> T:
        """Return what ``read`` makes of the response to a query.

        Args:
            api: the address of the wiki's API.
            parameters: of ``action=query``.
            read: reads the body of a response, or raises ``DataError``; such a response is not kept.

        Raises:
            TooLargeError: if the response is too large to be read.
            RequestFailedError: if there is none, or it is not what was asked for.
        """
        request = WikiRequest.of(api, {"action": "query", "format": "json", "formatversion": "2", **parameters})
        cached = self._cache.get(request)
        if cached is None:
            return self._fetched(request, read)
        if cached.body is None:
            raise _too_large(request)
        return _read(cached.body, read, request)

    def _fetched(self, request: WikiRequest, read: Callable[[Raw], T]) -> T:
        if not self.settings.network:
            raise RequestFailedError(
                f"{self._cache.folder} holds no response of {request.api} to {shown(dict(request.parameters), 200)}: "
                "run the same once with external.mediawiki.network true"
            )
        try:
            body = persistently(lambda: self._once(request), self.settings.retries, self.settings.max_wait)
            result = _read(body, read, request)
            self._keep(request, CachedResponse(body))
        except TooLargeError:
            self._keep(request, CachedResponse(None))
            raise
        except TransientError as error:
            raise RequestFailedError(f"{error}, {1 + self.settings.retries} attempts at most") from None
        return result

    def _keep(self, request: WikiRequest, response: CachedResponse) -> None:
        try:
            self._cache.put(request, response)
        except DataError as error:
            raise RequestFailedError(f"the response of a wiki could not be kept: {error}") from error

    def _once(self, request: WikiRequest) -> dict[str, Any]:
        with self._room:
            self._gate.pass_through()
            with self._lock:
                self.requests += 1
            try:
                return self._sent(request)
            except TransientError as error:
                if error.wait is not None and error.wait <= self.settings.max_wait:
                    self._gate.close_for(error.wait)
                raise

    def _sent(self, request: WikiRequest) -> dict[str, Any]:
        parameters = dict(request.parameters)
        if self.settings.maxlag >= 0:
            parameters["maxlag"] = str(self.settings.maxlag)
        try:
            with self._http.stream("GET", request.api, params=parameters) as response:
                _check_status(response, request.api)
                return _body(self._received(response, request), response.headers, request.api)
        except self._httpx.TimeoutException:
            raise self._late(request.api) from None
        except (self._httpx.HTTPError, self._httpx.InvalidURL, OSError) as error:
            raise TransientError(f"the connection to {request.api} failed ({type(error).__name__}: {error})") from None

    def _received(self, response: Any, request: WikiRequest) -> bytes:
        """Return the bytes of a response: no more than are read, and none that drip for ever."""
        end = time.monotonic() + self.settings.timeout
        received = bytearray()
        for chunk in response.iter_bytes():
            received += chunk
            if len(received) > MAX_BYTES:
                raise _too_large(request)
            if time.monotonic() > end:
                raise self._late(request.api)
        return bytes(received)

    def _late(self, api: str) -> TransientError:
        return TransientError(f"no whole response from {api} within {self.settings.timeout:g} s")

    def _check_online(self) -> None:
        if not self.settings.contact:
            raise ConfigError(
                "wikis want to know who asks: give an e-mail address or a page of yours with external.mediawiki.contact"
            )
        try:
            import httpx
            import tenacity  # noqa: F401
        except ImportError as error:
            raise BackendUnavailableError(
                f"wikis are asked through the packages httpx and tenacity; install the extra 'wiki' ({error})"
            ) from error
        self._httpx: Any = httpx

    @cached_property
    def _http(self) -> Any:
        headers = {"User-Agent": self.settings.user_agent}
        return self._httpx.Client(timeout=self.settings.timeout, headers=headers, verify=_certificates())


@cache
def _certificates() -> Any:
    """Return the certificates that servers are checked with; reading them takes long."""
    import httpx

    return httpx.create_ssl_context()


def _check_status(response: Any, api: str) -> None:
    status = int(response.status_code)
    if status in _AGAIN or status >= 500:
        raise TransientError(f"{api} answers {status}", asked_wait(response.headers))
    if 300 <= status < 400:
        where = shown(response.headers.get("location", ""), 200)
        raise RequestFailedError(f"{api} sends on to {where}: if you trust that, name it in mediawiki.sites")
    if status != 200:
        raise RequestFailedError(f"{api} answers {status}: check the address of the API and the contact")


def _body(content: bytes, headers: Mapping[str, str], api: str) -> dict[str, Any]:
    """Return the object that a response holds; one that reports an error is none."""
    try:
        body = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise TransientError(f"the response of {api} is no JSON ({type(error).__name__})") from None
    if not isinstance(body, dict):
        raise TransientError(f"the response of {api} must be an object, found {shown(body)}")
    if "error" in body:
        raise _reported(body["error"], headers, api)
    return body


def _reported(error: object, headers: Mapping[str, str], api: str) -> RequestFailedError:
    code, info = (str(error.get(name, "")) for name in ("code", "info")) if isinstance(error, dict) else ("", error)
    said = f"{api} reports {shown(code)}: {shown(info, 200)}"
    if code in _AGAIN_CODES or str(code).startswith("internal_api_error"):
        return TransientError(said, asked_wait(headers))
    return RequestFailedError(said)


def _read(body: dict[str, Any], read: Callable[[Raw], T], request: WikiRequest) -> T:
    try:
        return read(body)
    except DataError as error:
        raise RequestFailedError(f"the response of {request.api} is not what was asked for: {error}") from error


def _too_large(request: WikiRequest) -> TooLargeError:
    asked = shown(dict(request.parameters).get("titles", ""))
    return TooLargeError(f"the response of {request.api} to {asked} is longer than {MAX_BYTES:,} bytes")
