"""
A loss of your own
==================

A comparison whose margin falls short pays a loss. Any object with five members will do, and
`check_loss` says whether it keeps its promises.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from sdpmetric import Huber, SDPMetric, SquaredHinge, check_loss

# %%
# A smooth hinge whose corner is a cubic: zero from ``h`` on, and a straight line below ``-h``. It
# has a continuous second derivative, which Huber's does not.
#
# - ``value``, ``slope`` and ``curvature`` take an array of ``t = z - rho`` and return one.
# - ``support``: beyond this ``t`` the slope is zero. `triplets="all"` needs a finite one.
# - ``max_slope``: the largest ``|slope|``. If it is finite, C must exceed its inverse.


@dataclass(frozen=True)
class CubicHinge:
    h: float = 0.1
    max_slope: float = 1.0

    @property
    def support(self):
        return self.h

    def _parts(self, t):
        """From 0 at ``t = h`` to 1 at ``t = -h``, and what lies beyond, in units of 2h."""
        u = (self.h - t) / (2 * self.h)
        return np.clip(u, 0.0, 1.0), np.maximum(u - 1.0, 0.0)

    def value(self, t):
        u, beyond = self._parts(t)
        return 2 * self.h * (u**3 - u**4 / 2 + beyond)

    def slope(self, t):
        u, _ = self._parts(t)
        return -(3 * u**2 - 2 * u**3)

    def curvature(self, t):
        u, _ = self._parts(t)
        return 6 * u * (1 - u) / (2 * self.h)


check_loss(CubicHinge())  # says nothing: all is well

# %%
# And what it says if not:


class Careless(CubicHinge):
    def slope(self, t):
        return 0.5 * super().slope(t)


try:
    check_loss(Careless())
except ValueError as error:
    print(error)

# %%

t = np.linspace(-0.8, 0.5, 400)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
losses = {
    "CubicHinge(0.3)": CubicHinge(0.3),
    "Huber(0.3)": Huber(0.3),
    "squared hinge": SquaredHinge(),
}
for (name, loss), style in zip(losses.items(), ("-", "--", ":"), strict=True):
    ax.plot(t, loss.value(t), style, linewidth=2, label=name)
ax.set(xlabel="t = margin of the comparison less rho", ylabel="loss")
ax.legend()

# %%
# It fits like any other, with the same certificate.

X, y = load_wine(return_X_y=True)
metric = SDPMetric(loss=CubicHinge(0.05)).fit(StandardScaler().fit_transform(X), y)
print(metric.status_, f"gap {metric.gap_:.1e}, margin {metric.rho_:.3f}")
