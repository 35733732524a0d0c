"""`Study`: one study with everything that belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .learner import Learner
from .questions import Chooser, Question
from .stimuli import Stimuli
from .store import Store

PROMPTS = {
    "odd-one-out": "Which one does not belong?",
    "2afc": "Which one is more like the first?",
}


@dataclass(frozen=True)
class Settings:
    """What a researcher decides about a study.

    Attributes
    ----------
    kind : "odd-one-out" or "2afc"
    target : number of questions for each participant
    title, prompt : name of the study, and the sentence above the items; "": the usual one
    texts : Markdown by the name of the step: consent, instructions, practice, debriefing
    practice : number of practice questions
    completion : address to go to at the end, or ""
    participants : names with signed links; empty: everyone who has the link may take part
    catch : questions with known answers
    active : False to ask random questions only
    """

    kind: str = "odd-one-out"
    target: int = 100
    title: str = ""
    prompt: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    practice: int = 0
    completion: str = ""
    participants: Sequence[str] = ()
    catch: Sequence[Question] = ()
    active: bool = True

    @property
    def question(self) -> str:
        """The sentence above the items."""
        return self.prompt or PROMPTS[self.kind]


class Study:
    """Items, settings, answers, and the metric that learns from them.

    Parameters
    ----------
    path : study file; created if it does not exist
    stimuli : the items
    settings : what the researcher decides
    seed : of the choice of questions; None: another one each time
    """

    def __init__(
        self, path: str | Path, stimuli: Stimuli, settings: Settings, seed: int | None = None
    ) -> None:
        self.stimuli, self.settings = stimuli, settings
        self.store = Store(path, settings.kind, stimuli.ids)
        self.chooser = Chooser(
            len(stimuli.ids),
            settings.kind,
            settings.target,
            catch=settings.catch,
            active=settings.active,
            seed=seed,
        )
        self.learner = Learner(self.store, stimuli, settings.kind, self.chooser)

    def close(self) -> None:
        """End the background work and close the file."""
        self.learner.stop()
        self.store.close()
