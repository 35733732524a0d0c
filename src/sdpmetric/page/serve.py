"""Start the server: check the port, print the links, open the browser."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn

from .app import make_app
from .guards import is_address
from .links import path_of
from .study import Study

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Address:
    """Where the server listens, and how people reach it.

    Attributes
    ----------
    host, port : to listen at; port 0 takes a free one
    public_url : address at which a proxy shows the server, or ""
    """

    host: str = "127.0.0.1"
    port: int = 8765
    public_url: str = ""

    @property
    def local(self) -> bool:
        """Whether only this computer can reach the server."""
        return self.host in LOOPBACK

    def url(self, port: int) -> str:
        """The address in links."""
        if self.public_url:
            return self.public_url.rstrip("/")
        # 0.0.0.0 and :: mean all addresses of this computer, and are no address to go to.
        host = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listen(address: Address) -> socket.socket:
    """Take the port; raise ValueError if it is in use or not ours to take."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # With the protocol named, asyncio turns Nagle's algorithm off, which can hold a reply back for
    # 40 ms.
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((address.host, address.port))
        taken.listen(128)
    except OSError as error:
        taken.close()
        raise ValueError(
            f"Port {address.port} of {address.host} cannot be used: "
            f"{(error.strerror or str(error)).lower()}; try --port 0, which takes a free one."
        ) from None
    return taken


def links(study: Study, url: str) -> dict[str, str]:
    """The participants' link, or links by name, and the dashboard's, ready to be opened."""
    names = study.settings.participants
    secret = study.store.secret
    mine = {name: f"{url}{path_of(secret, name)}" for name in names} or {"participants": f"{url}/"}
    return mine | {"dashboard": f"{url}/dashboard?token={study.store.token}"}


def serve(
    study: Study,
    address: Address,
    taken: socket.socket,
    *,
    browser: bool = False,
    announce: Callable[[dict[str, str]], None] = lambda links: None,
) -> None:
    """Run the server until Ctrl-C.

    Parameters
    ----------
    study : Study
    address : where to listen
    taken : the socket of `listen`
    browser : whether to open the dashboard in a browser
    announce : called with the links before the server starts
    """
    port = int(taken.getsockname()[1])
    names = (*LOOPBACK, address.host, *((socket.gethostname(),) if not address.local else ()))
    app = make_app(
        study,
        public_url=address.public_url,
        port=port,
        hosts=tuple(name.lower() for name in names if not is_address(name) or name != "0.0.0.0"),
        addresses=not address.local,
    )
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False,
        timeout_graceful_shutdown=3, lifespan="off", timeout_keep_alive=75,
    )  # fmt: skip
    found = links(study, address.url(port))
    announce(found)
    study.learner.start()
    if browser:
        # The participants' page first, as a person who tries it wants to see it.
        webbrowser.open(found["dashboard"])
        if not study.settings.participants:
            webbrowser.open(found["participants"])
    try:
        uvicorn.Server(config).run(sockets=[taken])
    finally:
        study.close()
