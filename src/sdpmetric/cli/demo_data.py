"""The example files: wine, measured, and songs with listeners, made up by a rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Floats

__all__ = ["tables"]

Columns = dict[str, Any]

_FEATURES = {  # mean, deviation, and how much listeners care for a deviation of it
    "tempo": (120.0, 25.0, 1.0),
    "energy": (0.6, 0.2, 1.0),
    "brightness": (2000.0, 600.0, 0.2),
    "loudness": (-9.0, 3.0, 0.0),
    "duration": (220.0, 50.0, 0.0),
    "year": (1995.0, 15.0, 0.3),
}
_SONGS, _LISTENERS, _QUESTIONS = 60, 20, 40


def tables() -> dict[str, Columns]:
    """Columns by the names of files."""
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
    names = [str(name).replace("/", "_") for name in data.feature_names]
    rows = train_test_split(np.arange(len(data.target)), stratify=data.target, random_state=0)
    labels = np.array(["barolo", "grignolino", "barbera"])[data.target]
    train, test = (
        dict(zip(names, data.data[some].T, strict=True)) | {"cultivar": labels[some]}
        for some in rows
    )
    return train, test


def _songs() -> tuple[Columns, Columns, Columns]:
    """Listeners compare songs by a few features, with some noise."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(_SONGS, len(_FEATURES)))
    names = np.array([f"song-{i:02}" for i in range(1, _SONGS + 1)])
    songs: Columns = {"song": names}
    for z, (name, (mean, deviation, _)) in zip(Z.T, _FEATURES.items(), strict=True):
        songs[name] = np.round(mean + deviation * z, 3)
    heard = Z * [care for *_, care in _FEATURES.values()]
    answers = _answers(heard, names, [f"listener-{i}" for i in range(1, _LISTENERS + 1)], rng)
    new = _answers(heard, names, [f"newcomer-{i}" for i in range(1, 11)], rng)
    return songs, answers, new


def _answers(heard: Floats, names: Any, who: list[str], rng: np.random.Generator) -> Columns:
    people = np.repeat(who, _QUESTIONS)
    asked = np.stack([rng.choice(len(heard), 3, replace=False) for _ in people])
    seen = heard[asked] + rng.normal(scale=0.15, size=(len(asked), 3, heard.shape[1]))
    far = np.stack(
        [np.linalg.norm(seen[:, (i + 1) % 3] - seen[:, (i + 2) % 3], axis=1) for i in range(3)]
    )
    odd = far.argmin(axis=0)  # the other two are nearest to each other
    a, b, c = names[asked].T
    chosen = names[asked[np.arange(len(asked)), odd]]
    return {"participant": people, "a": a, "b": b, "c": c, "odd": chosen}
