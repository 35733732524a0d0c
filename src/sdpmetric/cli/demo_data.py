"""The example files: measurements of wine, and simulated listeners who compare songs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.typing import Floats

Columns = dict[str, Any]

_FEATURES = {  # mean, deviation, and the weight of one deviation for listeners
    "tempo": (120.0, 25.0, 1.0),
    "energy": (0.6, 0.2, 1.0),
    "brightness": (2000.0, 600.0, 0.2),
    "loudness": (-9.0, 3.0, 0.0),
    "duration": (220.0, 50.0, 0.0),
    "year": (1995.0, 15.0, 0.3),
}
# 800 answers about 60 songs, so that a fit can tell which features have a weight.
_SONGS, _LISTENERS, _QUESTIONS = 60, 20, 40


def tables() -> dict[str, Columns]:
    """The columns of each file, by its name."""
    songs, answers, new = _songs()
    train, test = _wine()
    return {
        "wine-train.csv": train,
        "wine-test.csv": test,
        "songs.csv": songs,
        "answers.csv": answers,
        "new-answers.csv": new,
    }


def _wine() -> tuple[Columns, Columns]:
    from sklearn.datasets import load_wine
    from sklearn.model_selection import train_test_split

    data = load_wine()
    # A slash in a name would need quotes in many tools.
    names = [str(name).replace("/", "_") for name in data.feature_names]
    rows = train_test_split(np.arange(len(data.target)), stratify=data.target, random_state=0)
    labels = np.array(["barolo", "grignolino", "barbera"])[data.target]
    train, test = (
        dict(zip(names, data.data[part].T, strict=True)) | {"cultivar": labels[part]}
        for part in rows
    )
    return train, test


def _songs() -> tuple[Columns, Columns, Columns]:
    """Songs with random features, and listeners who compare them by some features, with noise."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(_SONGS, len(_FEATURES)))
    names = np.array([f"song-{i:02}" for i in range(1, _SONGS + 1)])
    songs: Columns = {"song": names}
    for z, (name, (mean, deviation, _)) in zip(Z.T, _FEATURES.items(), strict=True):
        songs[name] = np.round(mean + deviation * z, 3)
    # Loudness and duration have no weight: a fit should find that out.
    heard = Z * [weight for *_, weight in _FEATURES.values()]
    answers = _answers(heard, names, [f"listener-{i}" for i in range(1, _LISTENERS + 1)], rng)
    new = _answers(heard, names, [f"newcomer-{i}" for i in range(1, 11)], rng)
    return songs, answers, new


def _answers(heard: Floats, names: Any, who: list[str], rng: np.random.Generator) -> Columns:
    people = np.repeat(who, _QUESTIONS)
    questions = np.stack([rng.choice(len(heard), 3, replace=False) for _ in people])
    # Each answer has its own noise, so that people disagree with each other and with themselves.
    seen = heard[questions] + rng.normal(scale=0.15, size=(len(questions), 3, heard.shape[1]))
    far = np.stack(
        [np.linalg.norm(seen[:, (i + 1) % 3] - seen[:, (i + 2) % 3], axis=1) for i in range(3)]
    )
    # far[i] is the distance between the two others: if they are nearest to each other, i is odd.
    odd = far.argmin(axis=0)
    a, b, c = names[questions].T
    chosen = names[questions[np.arange(len(questions)), odd]]
    return {"participant": people, "a": a, "b": b, "c": c, "odd": chosen}
