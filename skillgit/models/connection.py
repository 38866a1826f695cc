"""The connection to an endpoint: where a request goes, and with which headers.

The SDK fills what it is not given from `OPENAI_*` variables, some of which no argument can
overrule. So every value is given here, and the headers that leave the machine are written here
last of all. Of the environment only what belongs to the machine's network counts, and only for
https to another host: `HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`. Redirects are not followed,
so a key goes to the address in the configuration and nowhere else.
"""

from __future__ import annotations

import base64
import ipaddress
import logging
from urllib.parse import unquote, urlsplit

import httpx2
import openai

from skillgit import __version__
from skillgit.config import without_user_info
from skillgit.errors import ConfigError
from skillgit.models.patience import Deadline, make_patient

RAW_RESPONSE_HEADER = "X-Stainless-Raw-Response"


class Address:
    """A base URL taken apart: where to connect, what to show, and the user info it carried."""

    def __init__(self, base_url: str) -> None:
        self.shown = without_user_info(base_url)
        try:
            parts = urlsplit(base_url)
            self.host = parts.hostname or ""
            httpx2.URL(self.shown)
            port_is_wrong = parts.port == 0
        except (ValueError, httpx2.InvalidURL):
            self.host, port_is_wrong = "", True
        if port_is_wrong or not self.host or parts.scheme not in ("http", "https"):
            raise ConfigError(
                f"base_url {self.shown!r} is not the address of an endpoint",
                hint="Write it like http://127.0.0.1:8000/v1.",
            )
        self.is_tls = parts.scheme == "https"
        self.password = unquote(parts.password) if parts.password else None
        name = unquote(parts.username or "")
        self.user_info = f"{name}:{self.password or ''}" if name or self.password else None

    @property
    def authorization(self) -> str | None:
        """What user info in the URL stands for, as a header."""
        if self.user_info is None:
            return None
        return "Basic " + base64.b64encode(self.user_info.encode("utf-8")).decode("ascii")

    @property
    def is_loopback(self) -> bool:
        """Whether the endpoint is on this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class _Client(openai.OpenAI):
    """The SDK's client without the headers it makes of `OPENAI_CUSTOM_HEADERS`."""

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        """None: `connect` writes them all."""
        return {}


def connect(
    address: Address,
    *,
    authorization: str | None,
    timeout: float,
    deadline: Deadline | None = None,
) -> openai.OpenAI:
    """The SDK's client for an address, with every value given.

    With a deadline, reads wait by that, and `timeout` is for the rest.
    Unit: `timeout` in seconds.
    """
    logging.getLogger("openai").setLevel(logging.WARNING)

    def write_headers(request: httpx2.Request) -> None:
        sent = {
            "Host": request.url.netloc.decode("ascii"),
            "Accept": "application/json",
            "Accept-Encoding": "gzip, deflate",
            "Connection": "keep-alive",
            "Content-Type": "application/json",
            "Content-Length": str(len(request.content)),
            "User-Agent": f"skillgit/{__version__}",
            RAW_RESPONSE_HEADER: "stream",  # the SDK reads it back from the request
        }
        if authorization is not None:
            sent["Authorization"] = authorization
        request.headers = httpx2.Headers(sent)

    http_client = httpx2.Client(
        timeout=timeout,
        follow_redirects=False,
        trust_env=address.is_tls and not address.is_loopback,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        event_hooks={"request": [write_headers]},
    )
    if deadline is not None:
        make_patient(http_client, deadline)
    return _Client(
        base_url=address.shown,
        api_key="set by write_headers",
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        default_headers={},
        default_query={},
        timeout=timeout,
        max_retries=0,
        http_client=http_client,
    )
