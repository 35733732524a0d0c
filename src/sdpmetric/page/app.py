"""The web application: addresses, and what each of them does."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from .dashboard import Dashboard
from .downloads import DOWNLOADS
from .guards import LONGEST_BODY, Guard, RateLimit, origin_of
from .links import ARRIVAL, NAME, is_signed, new_name, path_of, prolific_name, session_of
from .sessions import WithdrawnError, record
from .study import Study
from .texts import TEXTS, as_html

HERE = Path(__file__).parent
_ROW = re.compile(r"[0-9]{1,9}")
_MEDIA_HEADERS = {
    "Cache-Control": "private, max-age=86400",
    # A picture of type SVG can hold a script, which runs if the picture is opened by itself.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}


class Page:
    """All addresses of a study.

    Parameters
    ----------
    study : Study
    public_url : address at which a proxy shows this server, or ""
    port : part of the names of cookies, which browsers share between ports
    """

    def __init__(self, study: Study, public_url: str = "", port: int = 0) -> None:
        self.study = study
        public = urlsplit(public_url)
        self.base = public.path.rstrip("/")
        self.secure = public.scheme == "https"
        self.dashboard = Dashboard(study)
        self._guest, self._admin = f"sdpmetric-guest-{port}", f"sdpmetric-dashboard-{port}"
        self._requests, self._arrivals = RateLimit(60, 15), RateLimit(200, 20)
        self._templates = Environment(
            loader=PackageLoader("sdpmetric.page"), autoescape=True, trim_blocks=True
        )

    def routes(self) -> list[Route | Mount]:
        """The routes of the application."""
        mine = "/p/{name}/{signature}"
        return [
            Route("/", self.arrive),
            Route(mine, self.trial_page),
            Route(f"{mine}/events", self.events, methods=["POST"]),
            Route(f"{mine}/withdraw", self.withdraw, methods=["POST"]),
            Route(f"{mine}/media/{{row}}", self.participants_media),
            Route("/dashboard", self.dashboard_page),
            Route("/dashboard/data", self.dashboard_data),
            Route("/dashboard/media/{row}", self.dashboard_media),
            Route("/dashboard/download/{name}", self.download),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ]

    async def arrive(self, request: Request) -> Response:
        """Give a new participant a link of their own, and lead a known one to theirs."""
        if not self._arrivals.allows(request.client.host if request.client else ""):
            raise HTTPException(429, "Too many people arrive at once. Please try again soon.")
        secret = self.study.store.secret
        if self.study.settings.participants:
            raise HTTPException(403, "This study is open to invited people. Please use your link.")
        arrival = {n: v[:64] for n in ARRIVAL if (v := request.query_params.get(n))}
        pid = arrival.get("PROLIFIC_PID", "")
        if pid and not NAME.fullmatch(prolific_name(pid)):
            raise HTTPException(400, "PROLIFIC_PID is not an id of Prolific.")
        known, _, signed = request.cookies.get(self._guest, "").partition("/")
        known = known if is_signed(secret, known, signed) else ""
        name = prolific_name(pid) if pid else known or new_name()
        if pid and known != name:
            await self._check_same_arrival(session_of(secret, name), arrival)
        await run_in_threadpool(self.study.store.enrol, session_of(secret, name), name, arrival)
        path = path_of(secret, name)
        reply = RedirectResponse(f"{self.base}{path}", 303)
        # Lax: a link in an e-mail leads back to the same session.
        self._set_cookie(reply, self._guest, path.removeprefix("/p/"), "lax")
        return reply

    async def _check_same_arrival(self, session: str, arrival: dict[str, str]) -> None:
        """Refuse a browser that knows another one's PROLIFIC_PID, but not that one's SESSION_ID.

        It could take back or delete the answers of that participant.
        """
        begun = await run_in_threadpool(self.study.store.arrival, session)
        if begun is not None and begun.get("SESSION_ID") != arrival.get("SESSION_ID"):
            raise HTTPException(
                403, "This session was begun with another link. Please go on where you began."
            )

    async def trial_page(self, request: Request) -> Response:
        """The page on which a participant answers."""
        session, name = self._session(request)
        store, settings = self.study.store, self.study.settings
        if not await run_in_threadpool(store.enrol, session, name, {}):
            return self._html("message.html", title="Withdrawn", text="Your answers were deleted.")
        path = f"{self.base}{path_of(store.secret, name)}"
        study = {
            "path": path,
            "kind": settings.kind,
            "shown": self.study.stimuli.shown,
            "practice": settings.practice,
        }
        texts = {
            name: Markup(as_html(settings.texts[name])) for name in TEXTS & settings.texts.keys()
        }
        return self._html(
            "trial.html",
            study=json.dumps(study),
            texts=texts,
            prompt=settings.question,
            title=settings.title or settings.question,
        )

    async def events(self, request: Request) -> Response:
        """Store events and reply with the next questions."""
        session, _ = self._session(request)
        self._limit(session)
        try:
            entries = json.loads(await _body(request))["events"]
            assert isinstance(entries, list)
        except (ValueError, KeyError, TypeError, AssertionError, RecursionError):
            raise HTTPException(400, "The events cannot be read.") from None
        try:
            return JSONResponse(await run_in_threadpool(record, self.study, session, entries))
        except WithdrawnError:
            raise HTTPException(410, "This participant has withdrawn.") from None

    async def withdraw(self, request: Request) -> Response:
        """Delete the answers of a participant."""
        session, _ = self._session(request)
        self._limit(session)
        deleted = await run_in_threadpool(self.study.store.withdraw, session)
        self.study.learner.heard(deleted)
        return JSONResponse({"deleted": deleted})

    async def participants_media(self, request: Request) -> Response:
        """The picture, sound or film of an item."""
        self._session(request)
        return self._media(request)

    async def dashboard_page(self, request: Request) -> Response:
        """The dashboard; the token in its address becomes a cookie."""
        token = request.query_params.get("token")
        if token is None:
            self._check_admin(request)
            return self._html(
                "dashboard.html",
                title=self.study.settings.title or "sdpmetric ask",
                study=json.dumps({"path": f"{self.base}/dashboard"}),
                downloads={name: one.words for name, one in DOWNLOADS.items()},
            )
        if not _equal(token, self.study.store.token):
            raise HTTPException(403, "This token is not the one that the server printed.")
        reply = RedirectResponse(f"{self.base}/dashboard", 303)
        self._set_cookie(reply, self._admin, self.study.store.token, "strict")
        return reply

    async def dashboard_data(self, request: Request) -> Response:
        """What the dashboard shows, or only its number if that has not changed."""
        self._check_admin(request)
        known = request.query_params.get("known", "")
        data = await run_in_threadpool(self.dashboard.data, known)
        return Response(json.dumps(data, allow_nan=False), media_type="application/json")

    async def dashboard_media(self, request: Request) -> Response:
        """The picture, sound or film of an item."""
        self._check_admin(request)
        return self._media(request)

    async def download(self, request: Request) -> Response:
        """A file with answers or the model."""
        self._check_admin(request)
        name = request.path_params["name"]
        if name not in DOWNLOADS:
            raise HTTPException(404, "There is no such file.")
        try:
            content = await run_in_threadpool(DOWNLOADS[name].make, self.study)
        except (ValueError, ImportError) as error:
            raise HTTPException(409, str(error)) from None
        saved = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type=DOWNLOADS[name].media_type, headers=saved)

    def _session(self, request: Request) -> tuple[str, str]:
        """The session and the name of the participant whose signed link was used."""
        secret, name = self.study.store.secret, request.path_params["name"]
        invited = self.study.settings.participants
        if not is_signed(secret, name, request.path_params["signature"]) or (
            invited and name not in invited
        ):
            raise HTTPException(404, "There is no such page. Please check the link.")
        return session_of(secret, name), name

    def _limit(self, session: str) -> None:
        if not self._requests.allows(session):
            raise HTTPException(429, "Too many requests. The page tries again by itself.")

    def _check_admin(self, request: Request) -> None:
        if not _equal(request.cookies.get(self._admin, ""), self.study.store.token):
            raise HTTPException(
                403, "Please use the link to the dashboard that the server printed."
            )

    def _set_cookie(self, reply: Response, name: str, value: str, samesite: Any) -> None:
        reply.set_cookie(
            name, value, max_age=90 * 86_400, httponly=True, samesite=samesite,
            secure=self.secure, path=self.base or "/",
        )  # fmt: skip

    def _media(self, request: Request) -> Response:
        given, stimuli = request.path_params["row"], self.study.stimuli
        # Not by a converter of the route: it would fail on numbers of 5,000 digits.
        row = int(given) if _ROW.fullmatch(given) else len(stimuli.ids)
        if stimuli.shown == "text" or row >= len(stimuli.ids):
            raise HTTPException(404, "There is no such item.")
        if not Path(stimuli.contents[row]).is_file():
            raise HTTPException(404, "The file of this item is missing.")
        return FileResponse(
            stimuli.contents[row], media_type=stimuli.media_type(row), headers=_MEDIA_HEADERS
        )

    def _html(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        html = self._templates.get_template(template).render(base=self.base, **values)
        return HTMLResponse(html, status)

    async def error(self, request: Request, error: Exception) -> Response:
        """An error as one sentence: a page for people, plain text for scripts."""
        assert isinstance(error, HTTPException)
        if "text/html" in request.headers.get("accept", ""):
            return self._html("message.html", error.status_code, title="", text=error.detail)
        return PlainTextResponse(error.detail, error.status_code)


def make_app(
    study: Study,
    *,
    public_url: str = "",
    port: int = 0,
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "::1"),
    addresses: bool = False,
) -> Starlette:
    """The application of a study, with its guard.

    Parameters
    ----------
    study : Study
    public_url : address at which a proxy shows this server, or ""
    port : number that cookies are named after
    hosts, addresses : names of this server, see `Guard`
    """
    page = Page(study, public_url, port)
    public = urlsplit(public_url)
    origin = origin_of(public_url) if public_url else ""
    names = {*hosts, public.hostname or ""} - {""}
    guard = Middleware(Guard, hosts=names, addresses=addresses, origin=origin)
    handlers: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        HTTPException: page.error
    }
    return Starlette(routes=page.routes(), middleware=[guard], exception_handlers=handlers)


async def _body(request: Request) -> bytes:
    """The body of a request, which may have lied about its length."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LONGEST_BODY:
                raise HTTPException(413, "This request is too large.")
    except ClientDisconnect:
        raise HTTPException(400, "The request is not complete.") from None
    return bytes(body)


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())
