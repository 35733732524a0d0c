"""Whole sessions in a real browser: `make test-page`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from sdpmetric.page.links import path_of
from sdpmetric.page.study import Study
from tests.support.pages import shapes
from tests.support.windows import (
    BACKSPACE,
    ENTER,
    ON_DEMAND,
    PHONE,
    SPACE,
    TAB,
    TEXTS,
    Window,
    tones,
)

pytestmark = ON_DEMAND


def answers(study: Study) -> list[tuple[Any, ...]]:
    return study.store.rows("SELECT trial, a, b, c, choice FROM answers ORDER BY trial")


def test_a_whole_session_by_keyboard_alone(window: Window, opened: Any) -> None:
    study, _ = opened(target=6, practice=2, texts=TEXTS, completion="http://127.0.0.1:9/done")
    for heading in ("Before you start", "What to do", "Practice"):
        window.until(f"document.querySelector('.step h1')?.textContent === '{heading}'")
        window.press(ENTER)  # the button to go on has the focus
    for key in "12":
        window.until("document.querySelector('.note').textContent.startsWith('Practice')")
        window.answer(key)
    window.until("document.querySelector('.step h1')?.textContent === 'The practice is over'")
    window.press(ENTER)
    for key in "1230":
        window.answer(key)
    # By Tab to the second item, and Enter.
    window.ready()
    window.js("document.activeElement?.blur()")
    while window.js("return document.activeElement.getAttribute('aria-label')") != "Picture 2":
        window.press(TAB)
    assert window.js("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    window.answer(ENTER)
    window.answer("3")
    window.until("document.querySelector('.step h1')?.textContent === 'Thank you'")
    window.until("document.querySelector('.step a.primary')?.href === 'http://127.0.0.1:9/done'")
    window.saved(6)
    said = answers(study)[2:]  # two of practice come first
    places = [None if row[4] is None else row[1:4].index(row[4]) for row in said]
    assert places == [0, 1, 2, None, 1, 2]
    steps = [k for [k] in study.store.rows("SELECT kind FROM events WHERE trial = 0 ORDER BY id")]
    assert steps == ["consent", "instructions", "practice", "begin", "finished"]
    by = study.store.rows("SELECT DISTINCT extra FROM events WHERE kind = 'answer'")
    assert by == [('{"by": "keyboard"}',)]
    assert window.complaints() == []


def test_a_whole_session_by_mouse(window: Window, opened: Any) -> None:
    study, _ = opened(target=4)
    for place in (0, 2, 1, None):
        number = window.ready()
        chosen = "session.trial.skip" if place is None else f"session.trial.items.children[{place}]"
        window.js(f"return {chosen}").click()
        window.until(f"session.trial.question?.trial !== {number}")
    window.until("document.querySelector('.step h1')?.textContent === 'Thank you'")
    window.saved(4)
    found = [None if row[4] is None else row[1:4].index(row[4]) for row in answers(study)]
    assert found == [0, 2, 1, None]
    assert window.complaints() == []


def test_2afc_by_arrows(window: Window, opened: Any) -> None:
    study, _ = opened(target=2, kind="2afc")
    window.answer("\ue012")
    window.answer("\ue014")
    window.saved(2)
    assert [row[1:4].index(row[4]) for row in answers(study)] == [1, 2]


@pytest.mark.parametrize("kind", ["odd-one-out", "2afc"])
def test_on_a_phone(window: Window, opened: Any, kind: str) -> None:
    window.size(PHONE)
    study, _ = opened(target=2, kind=kind)
    window.ready()
    for box in window.js(
        "return [...document.querySelectorAll('.item, .actions button')]"
        ".map(e => e.getBoundingClientRect())"
    ):
        assert box["left"] >= 0
        assert box["right"] <= PHONE["width"]
        assert box["top"] >= 0
        assert box["bottom"] <= PHONE["height"]  # nothing to scroll to
        assert box["height"] >= 44  # large enough for a finger
    x, y = window.js(
        "const b = session.trial.items.children[2].getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2]"
    )
    for kind_of_touch, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        touch = {"type": kind_of_touch, "touchPoints": points}
        window.driver.execute_cdp_cmd("Input.dispatchTouchEvent", touch)
    window.saved(1)
    [row] = answers(study)
    assert row[1:4].index(row[4]) == 2


def test_two_participants_at_once(window: Window, opened: Any) -> None:
    study, url = opened(target=5)
    first = window.driver.current_window_handle
    window.answer("1")
    window.driver.switch_to.new_window("tab")
    window.driver.get(f"{url}{path_of(study.store.secret, 'guest.bo')}")
    window.answer("2")
    window.answer("2")
    window.saved(2)
    second = window.driver.current_window_handle
    window.driver.switch_to.window(first)
    window.answer("1")
    window.saved(2)
    window.driver.switch_to.window(second)
    window.driver.close()
    window.driver.switch_to.window(first)
    found = study.store.rows("SELECT participant, count(*) FROM answers GROUP BY 1 ORDER BY 1")
    assert found == [("guest.ada", 2), ("guest.bo", 2)]


def test_without_a_connection_answers_wait_and_are_sent_once(window: Window, opened: Any) -> None:
    study, _ = opened(target=10)
    window.answer("1")
    window.saved(1)
    window.ready()
    window.offline(True)
    window.answer("2")
    window.answer("3")
    window.until("document.querySelector('.saved').textContent === '2 not sent yet'")
    window.press(BACKSPACE)  # an undo waits too
    window.until("session.trial.open && session.trial.question.attempt === 2")
    window.answer("1")
    assert len(answers(study)) == 1
    window.offline(False)
    window.saved(3)
    window.until("document.querySelector('.saved').textContent === 'Saved'")
    assert [row[1:4].index(row[4]) for row in answers(study)] == [0, 1, 0]


def test_reload_without_a_connection_keeps_answers(window: Window, opened: Any) -> None:
    """The page is loaded again after it has answers that were never sent."""
    study, _ = opened(target=10)
    window.ready()
    window.js("window.fetch = () => Promise.reject(new Error('no connection'))")
    window.answer("3")
    window.answer("2")
    assert answers(study) == []
    window.driver.refresh()
    window.ready()
    window.saved(2)
    assert [row[1:4].index(row[4]) for row in answers(study)] == [2, 1]


def test_reload_and_resume(window: Window, opened: Any) -> None:
    study, _ = opened(target=10)
    window.answer("1")
    window.answer("2")
    window.saved(2)
    before = window.js("return session.trial.question")
    window.driver.refresh()
    window.ready()
    assert window.js("return session.trial.question") == before
    assert window.js("return document.querySelector('.count').textContent") == "2 of 10"
    window.press(BACKSPACE)  # also what was answered before the page was loaded
    window.until("session.trial.open && session.trial.question.trial === 2")
    window.answer("3")
    window.saved(2)
    assert [row[1:4].index(row[4]) for row in answers(study)] == [0, 2]


def test_a_guest_comes_back(window: Window, opened: Any) -> None:
    _, url = opened(target=10)
    window.driver.get(f"{url}/")
    window.answer("1")
    window.saved(1)
    window.driver.get(f"{url}/")
    window.ready()
    assert window.js("return session.view.answered") == 1


def test_undo_twice(window: Window, opened: Any) -> None:
    study, _ = opened(target=10)
    assert window.until("session.trial.open && session.trial.back.disabled")
    for key in "123":
        window.answer(key)
    for number in (3, 2):
        window.ready()
        window.press(BACKSPACE)
        window.until(f"session.trial.open && session.trial.question.trial === {number}")
    window.answer("1")
    window.answer("1")
    window.saved(3)
    assert [row[1:4].index(row[4]) for row in answers(study)] == [0, 0, 0]
    kinds = study.store.rows("SELECT count(*) FROM events WHERE kind IN ('answer', 'undo')")
    assert kinds == [(7,)]


def test_the_last_answer_can_be_taken_back(window: Window, opened: Any) -> None:
    study, _ = opened(target=2)
    window.answer("1")
    window.answer("2")
    for undo in (BACKSPACE, None):
        window.until("document.querySelector('.step h1')?.textContent === 'Thank you'")
        window.saved(2)
        if undo:
            window.press(undo)
        else:
            window.until("document.querySelector('.step .quiet')")
            window.js("document.querySelector('.step .quiet').click()")
        window.until("session.trial.open && session.trial.question?.trial === 2")
        window.answer("3")
    window.until("document.querySelector('.step h1')?.textContent === 'Thank you'")
    window.saved(2)
    assert [row[1:4].index(row[4]) for row in answers(study)] == [0, 2]


def test_a_full_storage_loses_no_answer(window: Window, opened: Any) -> None:
    """Reading the browser's storage works where writing fails, and would find the older list."""
    study, _ = opened(target=10)
    window.answer("1")
    window.saved(1)
    window.js("Storage.prototype.setItem = () => { throw new Error('full'); }")
    window.answer("2")
    window.answer("3")
    window.saved(3)
    assert [row[1:4].index(row[4]) for row in answers(study)] == [0, 1, 2]


def test_a_withdrawal_that_fails_keeps_what_was_not_sent(window: Window, opened: Any) -> None:
    study, _ = opened(target=10)
    window.ready()
    window.js("window.kept = fetch; window.fetch = () => Promise.reject(new Error('none'))")
    window.answer("2")
    window.js("return session.withdraw()")
    window.until("document.querySelector('.saved').textContent.startsWith('Not withdrawn')")
    window.js("window.fetch = window.kept; session.send()")
    window.saved(1)
    assert [row[1:4].index(row[4]) for row in answers(study)] == [1]


def test_a_key_that_is_held_answers_once(window: Window, opened: Any) -> None:
    opened(target=10)
    window.ready()
    for i in range(30):
        event = {"type": "keyDown", "key": "1", "text": "1", "autoRepeat": i > 0}
        window.driver.execute_cdp_cmd("Input.dispatchKeyEvent", event)
    window.until("session.trial.open && session.trial.question.trial === 2")
    window.saved(1)


def test_items_appear_together_and_time_runs_from_then(window: Window, opened: Any) -> None:
    study, _ = opened(target=10)
    window.ready()
    window.js("""
        window.shown = [];
        const show = session.trial.show.bind(session.trial);
        let release;
        const wait = new Promise((resolve) => { release = resolve; });
        session.trial.prepare = (question) => question.items.map((item, place) => {
          const image = new Image(); image.src = session.trial.url(item.row);
          return [image, place === 2 ? wait : image.decode()];
        });
        window.release = release;""")
    window.press("1")
    window.until("session.trial.question.trial === 2")
    time.sleep(0.5)
    visible = (
        "[...document.querySelectorAll('.show')].map(e => getComputedStyle(e).visibility).join()"
    )
    assert window.js(f"return {visible}") == "hidden,hidden,hidden"
    window.press("1")  # nothing is visible: this is no answer
    window.js("window.release()")
    window.ready()
    assert window.js(f"return {visible}") == "visible,visible,visible"
    began = time.monotonic()
    time.sleep(0.3)
    window.js(  # another window covers the page for a while
        "Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    time.sleep(0.4)
    window.js(
        "Object.defineProperty(document, 'hidden', {value: false, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    window.press("2")
    took = time.monotonic() - began
    window.saved(2)
    [seconds, hidden] = study.store.rows("SELECT seconds, hidden FROM answers WHERE trial = 2")[0]
    assert 0.6 < seconds < took + 0.3
    assert 0.35 < hidden < seconds


def test_sounds_are_played_by_space(window: Window, opened: Any, tmp_path: Path) -> None:
    opened(tones(tmp_path), target=2)
    window.ready()
    for place in range(3):
        window.press(SPACE)
        window.until(f"document.querySelectorAll('audio')[{place}].played.length > 0")
    window.answer("2")
    window.saved(1)
    assert window.complaints() == []


def test_a_picture_that_is_missing(window: Window, opened: Any, tmp_path: Path) -> None:
    """The participant is told, cannot choose what was not seen, and can go on."""
    stimuli = shapes(tmp_path, 3)
    Path(stimuli.contents[1]).write_text("no picture")
    study, _ = opened(stimuli, target=2)
    window.ready()
    assert "could not be loaded" in window.js("return document.querySelector('.note').textContent")
    window.press("1")
    window.answer("0")
    window.saved(1)
    assert [row[4] for row in answers(study)] == [None]


def test_withdrawal(window: Window, opened: Any) -> None:
    study, _ = opened(target=10)
    window.answer("1")
    window.saved(1)
    window.js("return document.getElementById('withdraw')").click()
    window.until("document.getElementById('leave').open")
    window.js("return document.querySelector('#leave .danger')").click()
    window.until("document.body.innerText.includes('Your answers were deleted')")
    assert study.store.rows("SELECT count(*) FROM events") == [(0,)]


def test_the_dashboard_moves(window: Window, opened: Any) -> None:
    study, url = opened(target=40)
    for _ in range(3):
        window.answer("1")
    window.saved(3)
    first = window.driver.current_window_handle
    window.driver.switch_to.new_window("tab")
    window.driver.get(f"{url}/dashboard?token={study.store.token}")
    window.until("document.querySelector('[data-count]').textContent === '3'", 120)
    assert "token" not in window.driver.current_url
    window.until("document.querySelectorAll('[data-map] img').length === 48", 120)
    moved = "document.querySelector('[data-map] img').style.transform"
    place = window.until(moved)
    window.js("return document.querySelector('[data-show=before]')").click()
    window.until(f"{moved} !== {json.dumps(place)}", 120)
    second = window.driver.current_window_handle
    window.driver.switch_to.window(first)
    window.answer("1")
    window.saved(4)
    window.driver.switch_to.window(second)
    window.until("document.querySelector('[data-count]').textContent === '4'", 120)
    window.driver.close()
    window.driver.switch_to.window(first)
    assert window.complaints() == []
