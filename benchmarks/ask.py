"""Do the questions that `sdpmetric ask` chooses teach a metric faster than random ones?

A simulated study: 100 items with 20 features, 12 listeners. Listeners attend to six features, each
of them a little differently, and every answer has noise of its own. They answer in turn; the metric
is fitted again after each round, as the page does it. The score is the triplet accuracy on 2,000
fresh random questions that the same listeners answer, with noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import t

from benchmarks.common import Array, parser, progress, save, save_picture, show
from sdpmetric import Responses, suggest_triplets
from sdpmetric.page.fitting import fit, new_metric
from sdpmetric.page.questions import Chooser, Question, Seen
from sdpmetric.responses.judging import predicted

N_ITEMS, N_FEATURES, N_LISTENERS, N_FRESH = 100, 20, 12, 2000
HEARD = np.array([1.0, 0.9, 0.8, 0.6, 0.5, 0.4])  # weights of the features that listeners attend to
NOISE = 0.2  # deviation of the place of an item, in each feature that is heard, for one answer
DIFFER = 0.3  # deviation of the logarithm of a listener's weights
OFFERED = 60  # questions that a fit offers, as the page's learner does


@dataclass(frozen=True, eq=False)
class World:
    """Items, and what each listener hears of them."""

    X: Array
    heard: Array  # (listeners, items, features heard)
    rng: np.random.Generator

    @classmethod
    def of(cls, seed: int) -> World:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(N_ITEMS, N_FEATURES))
        weights = HEARD * np.exp(rng.normal(scale=DIFFER, size=(N_LISTENERS, len(HEARD))))
        return cls(X, X[None, :, : len(HEARD)] * weights[:, None], rng)

    def odd(self, rows: Array, who: Array) -> Array:
        """The odd one out of each question, by a listener."""
        seen = self.heard[who[:, None], rows]
        seen = seen + self.rng.normal(scale=NOISE, size=seen.shape)
        far = [
            np.linalg.norm(seen[:, (i + 1) % 3] - seen[:, (i + 2) % 3], axis=1) for i in range(3)
        ]
        chosen: Array = rows[np.arange(len(rows)), np.argmin(far, axis=0)]
        return chosen

    def fresh(self) -> tuple[Responses, float]:
        """Fresh random questions with answers, and how well the mean listener does."""
        rows = np.array([self.rng.choice(N_ITEMS, 3, replace=False) for _ in range(N_FRESH)])
        who = self.rng.integers(N_LISTENERS, size=N_FRESH)
        said = Responses.from_odd_one_out(rows, self.odd(rows, who))
        return said, float(predicted(self.heard.mean(axis=0), said, None).mean())


def study(seed: int, active: bool, n_answers: int, every: int) -> tuple[list[float], float]:
    """The accuracy after every so many answers, and the ceiling."""
    world = World.of(seed)
    fresh, ceiling = world.fresh()
    chooser = Chooser(N_ITEMS, "odd-one-out", n_answers, active=active, seed=seed)
    own: list[list[Question]] = [[] for _ in range(N_LISTENERS)]
    rows: Array = np.empty((0, 3), dtype=int)
    said: Array = np.empty(0, dtype=int)
    metric, fitted, found = new_metric(), None, []
    while len(rows) < n_answers:
        if active:
            asked = rows if len(rows) else None
            options: dict[str, Any] = {"ask": "odd-one-out", "asked": asked}
            chooser.offer(
                suggest_triplets(world.X, fitted, OFFERED, random_state=len(rows), **options)
            )
        random = [q.rows for mine in own for q in mine if q.source == "random"]
        for mine in own:
            mine.append(chooser.choose(Seen(mine, random)))
        new = np.array([mine[-1].rows for mine in own])
        rows = np.concatenate([rows, new])
        said = np.concatenate([said, world.odd(new, np.arange(N_LISTENERS))])
        due = len(rows) % every == 0
        if active or due:
            fitted = fit(metric, world.X, Responses.from_odd_one_out(rows, said))
        if due and fitted is not None:
            found.append(float(fitted.score(world.X, fresh.triplets)))
    return found, ceiling


def summary(values: Array) -> dict[str, list[float]]:
    """Mean over seeds and its 95 % interval by Student's t."""
    mean = values.mean(axis=0)
    half = t.ppf(0.975, len(values) - 1) * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return {"mean": mean.tolist(), "low": (mean - half).tolist(), "high": (mean + half).tolist()}


def draw(numbers: list[int], arms: dict[str, Any], ceiling: float) -> Figure:
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    ax = figure.subplots()
    for (name, arm), colour in zip(arms.items(), ("#23617f", "#b0701a"), strict=True):
        ax.plot(numbers, arm["mean"], color=colour, label=name, linewidth=2)
        ax.fill_between(numbers, arm["low"], arm["high"], color=colour, alpha=0.2, linewidth=0)
    ax.axhline(ceiling, color="grey", linestyle=":", label="mean listener, without noise")
    ax.set(xlabel="answers", ylabel="accuracy on fresh questions")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, loc="lower right")
    return figure


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--seeds", type=int, default=20)
    arguments.add_argument("--answers", type=int, default=960)
    arguments.add_argument("--every", type=int, default=48)
    options = arguments.parse_args(argv)
    results: dict[str, list[list[float]]] = {"chosen by the metric": [], "random": []}
    ceilings = []
    with progress() as bar:
        task = bar.add_task("studies", total=2 * options.seeds)
        for seed in range(options.seeds):
            for name, active in (("chosen by the metric", True), ("random", False)):
                found, ceiling = study(seed, active, options.answers, options.every)
                results[name].append(found)
                ceilings.append(ceiling)
                bar.advance(task)
    numbers = list(range(options.every, options.answers + 1, options.every))
    arms = {name: summary(np.array(found)) for name, found in results.items()}
    chosen, drawn = (np.array(found) for found in results.values())
    gain = summary(chosen - drawn)
    ceiling = float(np.mean(ceilings))
    show(
        f"Accuracy on fresh questions, {options.seeds} seeds; ceiling {ceiling:.3f}",
        ["answers", "chosen", "random", "gain", "low", "high"],
        [
            (n, *(arm["mean"][i] for arm in arms.values()), *(gain[k][i] for k in gain))
            for i, n in enumerate(numbers)
        ],
    )
    save(
        "ask",
        {
            "seeds": options.seeds,
            "answers": numbers,
            "arms": arms,
            "gain": gain,
            "ceiling": ceiling,
            "random_share": 0.2,
        },
    )
    save_picture(draw(numbers, arms, ceiling), "ask")


if __name__ == "__main__":
    main()
