"""Addresses and who may open them: links, tokens, hosts, origins, media, limits, texts."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from sdpmetric.page import guards
from sdpmetric.page.guards import LONGEST_BODY
from sdpmetric.page.links import path_of
from sdpmetric.page.study import Study
from tests.support.pages import ORIGIN, Person, client_of, new_study, shapes

PUBLIC = "https://lab.example.org/ask"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return new_study(tmp_path, shapes(tmp_path, 6))


def test_a_guest_gets_a_link_and_keeps_it(study: Study) -> None:
    client = client_of(study)
    first = client.get("/")
    assert first.status_code == 303
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert client.get("/").headers["location"] == first.headers["location"]
    client.cookies.clear()
    assert client.get("/").headers["location"] != first.headers["location"]
    assert client.get(first.headers["location"]).status_code == 200


def test_prolific_ids_are_stored_and_lead_back(study: Study) -> None:
    client = client_of(study)
    ids = "PROLIFIC_PID=5f1&STUDY_ID=s2&SESSION_ID=x3"
    first, again = (client.get(f"/?{ids}").headers["location"] for _ in range(2))
    assert first == again
    assert "/p/prolific.5f1/" in first
    found = study.store.rows("SELECT extra FROM events WHERE kind = 'arrived'")
    assert found == [('{"PROLIFIC_PID": "5f1", "STUDY_ID": "s2", "SESSION_ID": "x3"}',)]
    assert client.get("/?PROLIFIC_PID=../dashboard").status_code == 400


def test_the_prolific_id_of_another_participant_is_not_enough(study: Study) -> None:
    """It opened the session of that participant, whose answers could then be deleted."""
    ids = "PROLIFIC_PID=5f1&STUDY_ID=s2&SESSION_ID="
    mine = client_of(study)
    first = mine.get(f"/?{ids}x3").headers["location"]
    assert mine.get(f"/?{ids}x4").headers["location"] == first  # the browser is known
    other = client_of(study)
    for address in (f"/?{ids}x9", "/?PROLIFIC_PID=5f1"):
        refused = other.get(address)
        assert refused.status_code == 403
        assert "Please go on where you began" in refused.text
    assert other.get(f"/?{ids}x3").headers["location"] == first  # both ids, on another device


def test_links_cannot_be_guessed(study: Study) -> None:
    client = client_of(study)
    mine = path_of(study.store.secret, "guest.ada")
    assert client.get(mine).status_code == 200
    signature = mine.rsplit("/", 1)[1]
    for path in (
        f"/p/guest.bo/{signature}",
        f"{mine[:-1]}0" if mine[-1] != "0" else f"{mine[:-1]}1",
        "/p/guest.ada/",
        "/p/guest.ada/ü",
    ):
        assert client.get(path).status_code == 404, path
        assert client.post(f"{path}/events", json={"events": []}).status_code in (404, 405)


def test_invited_participants_only(tmp_path: Path) -> None:
    study = new_study(tmp_path, participants=["ada", "bo"])
    client = client_of(study)
    assert client.get("/").status_code == 403
    assert client.get(path_of(study.store.secret, "ada")).status_code == 200
    assert client.get(path_of(study.store.secret, "cy")).status_code == 404


@pytest.mark.parametrize("path", ["", "/data", "/media/0", "/download/answers.csv"])
def test_the_dashboard_needs_the_token(study: Study, path: str) -> None:
    client = client_of(study)
    Person(client, study)  # a participant's link opens nothing
    assert client.get(f"/dashboard{path}").status_code == 403
    assert client.get("/dashboard?token=x").status_code == 403
    assert client.get("/dashboard?token=").status_code == 403
    reply = client.get(f"/dashboard?token={study.store.token}")
    assert reply.status_code == 303
    assert reply.headers["location"] == "/dashboard"  # the token does not stay in the address
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert client.get(f"/dashboard{path}").status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "10.0.0.7"])
def test_other_hosts_are_refused(study: Study, host: str) -> None:
    """A name of another site that leads to this computer: DNS rebinding."""
    client = client_of(study)
    assert client.get("/", headers={"Host": host}).status_code == 421
    assert client.get("/", headers={"Host": "localhost:1234"}).status_code == 303


def test_addresses_are_allowed_where_others_may_come_in(study: Study) -> None:
    client = client_of(study, addresses=True)
    assert client.get("/", headers={"Host": "10.0.0.7:8765"}).status_code == 303
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 421


# Brackets that do not match were an error of the server.
OTHERS = ["http://evil.example", "null", "", "http://127.0.0.1:81", "http://[::1"]


@pytest.mark.parametrize("origin", OTHERS)
@pytest.mark.parametrize("path", ["/events", "/withdraw"])
def test_other_origins_are_refused(study: Study, path: str, origin: str) -> None:
    ada = Person(client_of(study), study)
    ada.answer()
    reply = ada.client.post(f"{ada.path}{path}", json={"events": []}, headers={"Origin": origin})
    assert reply.status_code == 403
    assert study.store.rows("SELECT count(*) FROM answers") == [(1,)]


def test_every_reply_has_the_headers(study: Study) -> None:
    client = client_of(study)
    for path in ("/", "/nothing", "/static/trial.js", path_of(study.store.secret, "guest.ada")):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'; ")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_media_by_number_alone(study: Study) -> None:
    ada = Person(client_of(study), study)
    reply = ada.client.get(f"{ada.path}/media/0")
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "image/svg+xml"
    assert "sandbox" in reply.headers["content-security-policy"]
    assert reply.content == Path(study.stimuli.contents[0]).read_bytes()
    wrong = "9" * 5000, "6", "-1", "1e0", "..%2f..%2fanswers.db", "../answers.db", "answers.db"
    for row in wrong:
        assert ada.client.get(f"{ada.path}/media/{row}").status_code in (404, 405), row
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%5capp.py"):
        assert ada.client.get(path).status_code == 404
    Path(study.stimuli.contents[1]).unlink()
    assert ada.client.get(f"{ada.path}/media/1").status_code == 404


def test_large_requests_are_refused(study: Study) -> None:
    ada = Person(client_of(study), study)
    large = b" " * (LONGEST_BODY + 1)
    assert ada.client.post(f"{ada.path}/events", content=large).status_code == 413
    endless = {"Content-Length": "9" * 5000}
    assert ada.client.post(f"{ada.path}/events", headers=endless).status_code == 413
    unknown_length = (large[:1000] for _ in range(LONGEST_BODY // 1000 + 1))
    assert ada.client.post(f"{ada.path}/events", content=unknown_length).status_code == 413


@pytest.mark.parametrize("body", ["", "[]", "{", '{"events": 1}', "[" * 50_000, "nul", "\udcff"])
def test_bodies_that_cannot_be_read(study: Study, body: str) -> None:
    ada = Person(client_of(study), study)
    content = body.encode("utf-8", "surrogateescape")
    assert ada.client.post(f"{ada.path}/events", content=content).status_code == 400


def test_rates_are_limited(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "time", SimpleNamespace(monotonic=lambda: 0.0))
    ada = Person(client_of(study), study)
    codes = {
        ada.client.post(f"{ada.path}/events", json={"events": []}).status_code for _ in range(90)
    }
    assert codes == {200, 429}
    assert Person(ada.client, study, "guest.bo").view["questions"]  # others are not slowed down


def test_withdrawal(study: Study) -> None:
    ada = Person(client_of(study), study)
    ada.answer()
    assert ada.client.post(f"{ada.path}/withdraw").json() == {"deleted": 1}
    assert study.store.rows("SELECT count(*) FROM events") == [(0,)]
    assert "Your answers were deleted" in ada.client.get(ada.path).text
    assert ada.client.post(f"{ada.path}/events", json={"events": []}).status_code == 410


def test_texts_are_markdown_without_scripts(tmp_path: Path) -> None:
    text = "# Hello\n\n<script>alert(1)</script> **you** [x](javascript:alert(1))\n\n|a|\n|-|\n|1|"
    study = new_study(tmp_path, texts={"consent": text}, title="<b>&", prompt="1 < 2?")
    page = client_of(study).get(path_of(study.store.secret, "guest.ada")).text
    assert "<h1>Hello</h1>" in page
    assert "<strong>you</strong>" in page
    assert "<table>" in page
    assert "<script>alert" not in page
    assert 'href="javascript' not in page
    assert "<title>&lt;b&gt;&amp;</title>" in page
    assert "1 &lt; 2?" in page


def test_behind_a_proxy(study: Study) -> None:
    client = client_of(study, public_url=PUBLIC)
    proxied = {"Host": "lab.example.org", "Origin": "https://lab.example.org"}
    reply = client.get("/", headers=proxied)
    location = reply.headers["location"]
    assert location.startswith("/ask/p/guest.")
    assert "Secure" in reply.headers["set-cookie"]
    assert "Path=/ask" in reply.headers["set-cookie"]
    inside = location.removeprefix("/ask")
    page = client.get(inside, headers=proxied).text
    assert 'src="/ask/static/trial.js"' in page
    assert f"&#34;{location}&#34;" in page
    reply = client.post(f"{inside}/events", json={"events": []}, headers=proxied)
    assert reply.status_code == 200
    # Some proxies keep their own host and pass the browser's origin on.
    reply = client.post(
        f"{inside}/events", json={"events": []}, headers={"Origin": proxied["Origin"]}
    )
    assert reply.status_code == 200


@pytest.mark.parametrize(
    ("public", "origin"),
    [
        ("https://Lab.Example.org:443/ask", "https://lab.example.org"),
        ("http://lab.example.org:80", "http://lab.example.org"),
        ("https://lab.example.org:8443", "https://lab.example.org:8443"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_a_public_address_as_browsers_write_it(study: Study, public: str, origin: str) -> None:
    client = client_of(study, public_url=public)
    path = path_of(study.store.secret, "guest.ada")
    reply = client.post(f"{path}/events", json={"events": []}, headers={"Origin": origin})
    assert reply.status_code == 200


def test_errors_are_pages_for_people(study: Study) -> None:
    client = client_of(study)
    page = client.get("/p/x/y", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert re.search(r"<p>There is no such page\. Please check the link\.</p>", page.text)
    assert client.get("/p/x/y").text == "There is no such page. Please check the link."


def test_nothing_is_loaded_from_elsewhere(study: Study) -> None:
    client = client_of(study)
    client.get(f"/dashboard?token={study.store.token}")
    for path in ("/dashboard", path_of(study.store.secret, "guest.ada")):
        page = client.get(path).text
        links = re.findall(r'(?:src|href)="([^"]+)"', page)
        assert links
        assert all(link.startswith("/") and not link.startswith("//") for link in links)
        for link in links:
            assert client.get(link).status_code in (200, 409), link  # 409: no model yet
    assert ORIGIN not in page
