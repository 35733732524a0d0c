"""
Answers of people
=================

Listeners are shown three songs and name the odd one out. Features of the songs are known. Which
distance between features predicts what they hear, for new listeners? How much of what can be
predicted at all is that? And what should be asked next?
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist

from sdpmetric import (
    ResponseKFold,
    Responses,
    TripletSDPMetricCV,
    accuracy_interval,
    noise_ceiling,
    sign_flip_test,
    suggest_triplets,
)

# %%
# The answers are made up: listeners hear two of six features, and one answer in five is a guess.
# Each of the 300 questions goes to four of the twelve listeners. Your own log would be a data frame
# with the same columns.

rng = np.random.default_rng(0)
songs = np.array([f"song {i}" for i in range(40)])
X = rng.normal(size=(40, 6))
shown = np.tile([rng.choice(40, 3, replace=False) for _ in range(300)], (4, 1))
i, j, k = shown.T
d = cdist(X[:, :2], X[:, :2])
odd = np.argmin([d[j, k], d[i, k], d[i, j]], axis=0)
odd = np.where(rng.random(1200) < 0.8, odd, rng.integers(3, size=1200))
log = {"a": songs[i], "b": songs[j], "c": songs[k], "odd": songs[shown[np.arange(1200), odd]]}
log["who"] = np.repeat([f"listener {n}" for n in range(12)], 100)

answers = Responses.from_odd_one_out(log, "odd", ids=songs, participants="who")
print(len(log["who"]), "answers are", len(answers), "triplets")

# %%
# Half of the listeners are held out. Among the others, the settings are chosen by listeners that
# are held out again.

train, held = next(ResponseKFold(2).split(answers))
heard = answers[train]
search = TripletSDPMetricCV(Cs=4, cv=ResponseKFold(3))
search.fit(X, heard.triplets, heard.weights, groups=heard.participants)
print("chosen:", {name: search.best_params_[name] for name in ("C", "coordinates", "prior_weight")})

# %%
# The noise ceiling says how well people predict each other. Answers scatter, so no metric can
# follow all of them: the share that follows the majority is an upper limit, the share that follows
# the majority of the *other* listeners is what one more listener would reach.

before = accuracy_interval(X, answers[held])
after = accuracy_interval(X, answers[held], search)
ceiling = noise_ceiling(answers)
print("Euclidean", before)
print("learned  ", after)
print(f"people    {ceiling.lower:.3f} to {ceiling.upper:.3f}")
print("p, if it were chance:", sign_flip_test(X, answers[held], search).p_value)

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for place, found in enumerate((before, after)):
    ax.plot([found.low, found.high], [place, place], color="#0072B2", linewidth=2)
    ax.plot(found.accuracy, place, "o", color="#0072B2")
ax.axvspan(ceiling.lower, ceiling.upper, color="#E69F00", alpha=0.4, label="people themselves")
ax.axvline(0.5, color="0.45", linestyle="--", label="coin")
ax.set_yticks([0, 1], ["Euclidean", "learned"])
ax.set(
    xlabel="triplets of new listeners predicted (95 % interval)", ylim=(-0.6, 1.6), xlim=(0.45, 1)
)
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2, frameon=False)

# %%
# The interval and the test count listeners, not triplets: a person gives many answers and each odd
# one out is two triplets, so counting triplets as if they were independent would promise too much.
#
# What to ask next: the questions that the metric is least sure of, no two about the same songs
# where that can be avoided.

for question in songs[suggest_triplets(X, search, 3)].tolist():
    print(question)
