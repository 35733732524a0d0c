"""Checks of every request before any page sees it, and the headers of every reply."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Addresses hold signatures, which no other site is to learn.
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
LONGEST_BODY = 65_536  # bytes of a request; a hundred answers have 20,000
_SAFE = ("GET", "HEAD")


class Guard:
    """Refuse requests by other names of this host, by other sites, and large ones.

    Parameters
    ----------
    app : the application
    hosts : names by which this server may be called, without the port
    addresses : whether any IP address may be used too: a page of another site cannot take one over
    origin : scheme and host of ``--public-url``, or ""
    """

    def __init__(
        self, app: ASGIApp, hosts: Collection[str], addresses: bool = False, origin: str = ""
    ) -> None:
        self.app, self.hosts, self.addresses, self.origin = app, set(hosts), addresses, origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope["method"], Headers(scope=scope))

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        app: ASGIApp = self.app if refusal is None else refusal
        await app(scope, receive, send_guarded)

    def _refusal(self, method: str, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if not self._is_known(host):
            return PlainTextResponse(f"This server is not called {host[:100]!r}.", 421)
        if method not in _SAFE:
            origin = headers.get("origin", "")
            if not _is_at(origin, host) and not (self.origin and origin == self.origin):
                return PlainTextResponse("This request comes from another site.", 403)
        length = headers.get("content-length", "0")
        if not (length.isdecimal() and len(length) < 20 and int(length) <= LONGEST_BODY):
            return PlainTextResponse("This request is too large.", 413)
        return None

    def _is_known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self.hosts or (self.addresses and is_address(name))


def origin_of(url: str) -> str:
    """The origin of an address as browsers write it: lower case, and no port that goes unsaid."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    name = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    port = "" if parts.port in (None, usual) else f":{parts.port}"
    return f"{parts.scheme}://{name}{port}"


def is_address(name: str) -> bool:
    """Whether a name is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class RateLimit:
    """Allow each key a number of requests at once, and then so many a second.

    Parameters
    ----------
    burst : requests at once
    rate : requests a second
    """

    _MOST = 10_000  # keys to remember; the one that was idle longest is forgotten

    def __init__(self, burst: float, rate: float) -> None:
        self.burst, self.rate = burst, rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, key: str, now: float | None = None) -> bool:
        """Whether one more request is allowed; it is counted if so."""
        moment = time.monotonic() if now is None else now
        left, last = self._left.pop(key, (self.burst, moment))
        left = min(self.burst, left + self.rate * (moment - last))
        fine = left >= 1.0
        self._left[key] = (left - fine, moment)
        if len(self._left) > self._MOST:
            self._left.popitem(last=False)
        return fine


def _is_at(origin: str, host: str) -> bool:
    try:
        return bool(origin) and urlsplit(origin).netloc == host
    except ValueError:  # such as brackets that do not match
        return False
