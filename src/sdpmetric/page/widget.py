"""`AskWidget`: the trial of `sdpmetric ask` in a cell of a notebook."""

from __future__ import annotations

import base64
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from ..learning.estimators.triplet_sdp_metric import TripletSDPMetric
from ..responses.responses import Responses
from ..responses.tables import column_names
from .downloads import model
from .sessions import record
from .stimuli import Stimuli
from .study import Settings, Study

STATIC = Path(__file__).parent / "static"
_SESSION = "notebook"
_EVERY = 5  # answers after which the metric is fitted again


def _css() -> str:
    """Rules for the widget alone: nested, so that they change nothing else in a notebook."""
    colours, trial = ((STATIC / f"{n}.css").read_text("utf-8") for n in ("colours", "trial"))
    own = "color: var(--ink); background: var(--ground); padding: 1.2rem 0; border-radius: 14px;"
    return f"{colours}\n.sdpmetric-ask {{ {own}\n{trial}\n}}"


class AskWidget(anywidget.AnyWidget):
    """Questions in a notebook: answer some in a cell, and go on in Python in the next.

    Keys are those of the page: 1 2 3 (2AFC: arrows), 0 for "cannot tell", Backspace. Click on the
    widget first, so that it gets the keys.

    Parameters
    ----------
    X : (N, D) features of the items
    ids : the id of each item; default: row numbers
    images, audio, texts : what is shown of each item: files, files, or texts; default: the ids
    ask : {"odd-one-out", "2afc"}, default="odd-one-out"
    target : int, default=50
        Number of questions.
    prompt : the sentence above the items; "": the usual one
    path : study file that keeps the answers; None: a temporary one

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric.page.widget import AskWidget
    >>> widget = AskWidget(np.random.default_rng(0).normal(size=(20, 3)), target=50)
    >>> widget.n_answers  # show the widget as the last line of a cell, and answer
    0
    """

    _esm = STATIC / "trial.js"
    _css = _css()
    study = traitlets.Dict().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    media = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        X: Any,
        *,
        ids: Any = None,
        images: Sequence[str] | None = None,
        audio: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
        ask: str = "odd-one-out",
        target: int = 50,
        prompt: str = "",
        path: str | Path | None = None,
    ) -> None:
        self._named = column_names(X) is not None
        given = {"image": images, "audio": audio, "text": texts}
        stimuli = _stimuli(X, ids, {n: c for n, c in given.items() if c is not None})
        if path is None:
            self._folder = tempfile.TemporaryDirectory()  # removed with the widget
            path = Path(self._folder.name) / "answers.db"
        self._study = Study(path, stimuli, Settings(ask, target, prompt=prompt))
        self._study.store.enrol(_SESSION, _SESSION, {})
        self._study.learner.learn()
        self._heard, self._lock = 0, threading.Lock()
        super().__init__()
        settings = self._study.settings
        self.study = {"kind": ask, "shown": stimuli.shown, "prompt": settings.question}
        self._record([])
        self.on_msg(self._on_message)

    @property
    def n_answers(self) -> int:
        """How many questions were answered."""
        return int(self.view["answered"])

    @property
    def responses(self) -> Responses:
        """The answers so far, as triplets of rows of X."""
        return Responses.from_study(self._study.store.path, ids=list(self._study.stimuli.ids))

    @property
    def metric(self) -> TripletSDPMetric:
        """The metric learned from all answers so far, for rows of X."""
        with self._lock:
            self._study.learner.learn()
        metric = model(self._study)
        if not self._named:  # or scikit-learn would warn about the very rows that were given
            del metric.feature_names_in_
        return metric

    def _on_message(self, _: Any, content: Any, buffers: Any) -> None:
        events = content.get("events") if isinstance(content, dict) else None
        if isinstance(events, list):
            self._record(events)

    def _record(self, events: list[Any]) -> None:
        view = record(self._study, _SESSION, events)
        with self.hold_sync():
            self.media = self._media(view)
            self.view = view
        self._heard += len(events)
        if self._heard >= _EVERY:
            self._heard = 0
            # Not here: the next question must not wait.
            threading.Thread(target=self._learn, daemon=True).start()

    def _learn(self) -> None:
        with self._lock:
            self._study.learner.learn()

    def _media(self, view: dict[str, Any]) -> dict[str, str]:
        """Pictures and sounds of the questions at hand; a kernel has no address for files."""
        stimuli = self._study.stimuli
        if stimuli.shown == "text":
            return {}
        rows = {i["row"] for q in (*view["questions"], *view["history"]) for i in q["items"]}
        return {str(row): self.media.get(str(row)) or _data_url(stimuli, row) for row in rows}


def _stimuli(X: Any, ids: Any, given: dict[str, Sequence[str]]) -> Stimuli:
    features = np.asarray(X, dtype=np.float64)
    if features.ndim != 2 or not np.isfinite(features).all():
        raise ValueError(f"X must be a table of finite numbers, got shape {features.shape}.")
    names = [str(n) for n in column_names(X) or [f"x{i}" for i in range(features.shape[1])]]
    own = [str(one) for one in (range(len(features)) if ids is None else ids)]
    if len(given) > 1:
        raise ValueError(f"got {' and '.join(given)}, expected one of images, audio and texts.")
    [(shown, contents)] = given.items() or [("text", own)]
    for name, cells in {"ids": own, shown: contents}.items():
        if len(cells) != len(features):
            raise ValueError(f"{name} has {len(cells)} entries, expected {len(features)}, as X.")
    if len(set(own)) < len(own):
        raise ValueError("ids has an id twice, expected each once.")
    return Stimuli(own, features, names, shown, [str(cell) for cell in contents])


def _data_url(stimuli: Stimuli, row: int) -> str:
    content = base64.b64encode(Path(stimuli.contents[row]).read_bytes()).decode()
    return f"data:{stimuli.media_type(row)};base64,{content}"
