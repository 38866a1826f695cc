"""Chat completions over HTTP: a model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import httpx2
import openai

from skillgit.config import ModelConfig, without_user_info
from skillgit.errors import BlockedError, ConfigError
from skillgit.models.connection import Address, connect
from skillgit.models.endpoint import Endpoints, FallbackPlan
from skillgit.models.failures import (
    Failure,
    FailureKind,
    Redactor,
    is_about_content,
    kind_of_status,
    retry_after,
)
from skillgit.models.wire import BodyError, error_text, read_reply, to_payload
from skillgit.ports import Clock
from skillgit.records import ModelReply, ModelRequest
from skillgit.records.canonical import slot_seed

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


class OpenAIChat:
    """A model behind an OpenAI-compatible endpoint; see the `Model` port.

    Tools are always sent as they are: a task that declares some cannot be measured without.
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        api_key: str | None,
        clock: Clock,
        workers: int,
        endpoints: Endpoints | None = None,
    ) -> None:
        key = _checked_key(config, api_key)
        address = Address(config.address or "")
        if key is None and not config.base_url:
            raise BlockedError(
                f"there is no key for the model {config.model!r}", hint=_key_hint(config)
            )
        self._config = config
        self._clock = clock
        self._url = address.shown
        self._has_key = key is not None
        self._redact = Redactor(key, address.user_info, address.password)
        self._endpoints = endpoints or Endpoints()
        self._in_flight = threading.Semaphore(workers)
        self._client = connect(
            address,
            authorization=f"Bearer {key}" if key else address.authorization,
            timeout=config.timeout,
        )
        self._create = self._client.chat.completions.with_streaming_response.create
        self._close = weakref.finalize(self, self._client.close)

    def close(self) -> None:
        """Let go of the connections; dropping the model does it too."""
        self._close()

    def complete(self, request: ModelRequest) -> ModelReply:
        """The model's answer, after as many retries and steps down as it takes."""
        endpoint = self._endpoints.at(self._url, request.model)
        retries = self._config.retries
        plan = FallbackPlan(endpoint, request, patience=min(1, retries))
        retried = 0
        while True:
            result = self._attempt(request, plan)
            if isinstance(result, ModelReply):
                endpoint.remember(request, plan.start, plan.request_form)
                return result
            if _steps_down(plan, result):
                continue
            if not result.kind.worth_a_retry or retried >= retries:
                raise result.error()
            self._clock.sleep(_pause(result, request, retried))
            retried += 1

    def _attempt(self, request: ModelRequest, plan: FallbackPlan) -> ModelReply | Failure:
        payload: dict[str, Any] = to_payload(request, plan.request_form)
        try:
            with self._in_flight:
                started = self._clock.monotonic()
                body = self._post(payload, deadline=started + self._config.timeout)
                milliseconds = round(1000 * (self._clock.monotonic() - started))
            return read_reply(body, milliseconds=milliseconds)
        except openai.APIStatusError as error:
            return self._refusal(error, request.model)
        except openai.APIConnectionError as error:
            return self._broken_connection(error.__cause__)
        except (httpx2.HTTPError, TimeoutError) as error:
            return self._broken_connection(error)
        except BodyError as error:
            return self._bad_body(error, request.model)

    def _post(self, payload: dict[str, Any], *, deadline: float) -> bytes:
        """The body of the answer, within the time one request has, however slowly it drips."""
        chunks: list[bytes] = []
        with self._create(**payload) as response:
            for chunk in response.iter_bytes():
                chunks.append(chunk)
                if self._clock.monotonic() > deadline:
                    raise TimeoutError
        return b"".join(chunks)

    # ── what a failed attempt means ──────────────────────────────────────────────────────────

    def _refusal(self, error: openai.APIStatusError, model: str) -> Failure:
        status, headers = error.status_code, error.response.headers
        said, code = error_text(error.response.content)
        if 300 <= status < 400:
            said = f"a redirect to {without_user_info(headers.get('location', 'nowhere'))}"
        return Failure(
            kind=kind_of_status(status, said, code),
            text=self._redact(f"{self._url} answered {status} for the model {model!r}: {said}"),
            hint=self._hint(status, code),
            status=status,
            complaint=_complaint(status, said, code, model),
            retry_after=retry_after(headers.get("retry-after"), self._clock.now()),
        )

    def _hint(self, status: int, code: str) -> str:
        if status in (404, 405, 410) or "model" in code:
            return "Check `model` and `base_url` in skillgit.toml."
        if 300 <= status < 400:
            return "Redirects are not followed: write the final address as `base_url`."
        if status in (402, 429):
            return "The account behind the key is used up: see to its billing."
        if not self._has_key:
            return _key_hint(self._config)
        return f"Check the key in the variable {self._config.api_key_env}."

    def _broken_connection(self, cause: BaseException | None) -> Failure:
        if isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)):
            return Failure(
                kind=FailureKind.UNREACHABLE,
                text=self._redact(f"{self._url} cannot be reached: {cause or 'no connection'}"),
                hint="Is the server running, and is `base_url` in skillgit.toml right?",
            )
        if isinstance(cause, (httpx2.TimeoutException, TimeoutError)):
            text = f"{self._url} did not answer within {self._config.timeout:g} s"
            return Failure(kind=FailureKind.RETRIED, text=text)
        text = self._redact(f"the connection to {self._url} broke: {cause or 'no reason given'}")
        return Failure(kind=FailureKind.RETRIED, text=text)

    def _bad_body(self, error: BodyError, model: str) -> Failure:
        said, code = str(error), error.code
        text = self._redact(f"{self._url} sent no usable answer: {said}")
        if code is None or code < 300:
            return Failure(kind=FailureKind.RETRIED, text=text)
        return Failure(
            kind=kind_of_status(code, said, ""),
            text=text,
            hint=self._hint(code, ""),
            status=code,
            complaint=_complaint(code, said, "", model),
        )


def _complaint(status: int, said: str, code: str, model: str) -> str | None:
    """What a refusal says about the request's form, without the model's name (seed-oss, …)."""
    if is_about_content(status, said, code):
        return None
    return said.replace(model, "") if model else said


def _steps_down(plan: FallbackPlan, failure: Failure) -> bool:
    if failure.status is None or failure.complaint is None:
        return False
    if failure.kind is FailureKind.BLOCKED and failure.status != 404:
        return False
    return plan.step(failure.status, failure.complaint)


def _pause(failure: Failure, request: ModelRequest, retried: int) -> float:
    """How long to wait before the next try. Unit: seconds."""
    if failure.retry_after is not None:
        return failure.retry_after
    draw = slot_seed("pause", request.model, request.seed or 0, retried) / 2**31
    longest = min(FIRST_PAUSE * 2.0**retried, LONGEST_PAUSE)
    return longest * (0.5 + draw / 2)


def _checked_key(config: ModelConfig, api_key: str | None) -> str | None:
    key = (api_key or "").strip()
    if not config.api_key_env or not key:
        return None
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"the key in the variable {config.api_key_env} holds characters no key has",
            hint=f"Set {config.api_key_env} again, to the key alone.",
        )
    return key


def _key_hint(config: ModelConfig) -> str:
    if config.api_key_env:
        return f"Put the key into the variable {config.api_key_env}."
    return "Name the variable that holds the key as `api_key_env` in skillgit.toml."
