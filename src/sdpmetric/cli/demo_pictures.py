"""Pictures made by rule, for trying `sdpmetric ask`: shapes that differ in six ways."""

from __future__ import annotations

import colorsys
import math
from typing import Any

import numpy as np

_SHAPES = 48


def files() -> dict[str, Any]:
    """The table ``shapes.csv`` and the text of each picture, by name."""
    rng = np.random.default_rng(3)
    table: dict[str, list[Any]] = {"shape": [], "file": []}
    made: dict[str, Any] = {"shapes.csv": table}
    for number in range(1, _SHAPES + 1):
        features: dict[str, Any] = {
            "sides": int(rng.integers(3, 9)),
            "size": round(float(rng.uniform(0.45, 1.0)), 2),
            "warmth": round(float(rng.uniform(0.0, 1.0)), 2),
            "lightness": round(float(rng.uniform(0.35, 0.7)), 2),
            "stripes": int(rng.integers(0, 6)),
            "tilt": int(rng.integers(0, 60)),
        }
        name = f"shape-{number:02}"
        file = f"pictures/{name}.svg"
        made[file] = _picture(**features)
        for column, cell in {"shape": name, "file": file, **features}.items():
            table.setdefault(column, []).append(cell)
    return made


def _picture(
    sides: int, size: float, warmth: float, lightness: float, stripes: int, tilt: int
) -> str:
    """A polygon with stripes, as SVG."""
    # From blue over violet to orange: no way through green, where hues are hard to order.
    hue = (0.58 + 0.5 * warmth) % 1.0
    fill, line = (_colour(hue, share) for share in (lightness, 0.6 * lightness))
    corners = []
    for corner in range(sides):
        angle = math.radians(tilt) + 2.0 * math.pi * corner / sides - math.pi / 2.0
        corners.append(f"{90.0 * size * math.cos(angle):.1f},{90.0 * size * math.sin(angle):.1f}")
    polygon = f'<polygon points="{" ".join(corners)}"'
    gap = 180.0 / (stripes + 1)
    bars = "".join(
        f'<rect x="-100" y="{-90 + gap * (i + 1) - 4:.1f}" width="200" height="8" fill="{line}"/>'
        for i in range(stripes)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-100 -100 200 200" width="400" '
        f'height="400">\n<clipPath id="c">{polygon}/></clipPath>\n{polygon} fill="{fill}"/>\n'
        f'<g clip-path="url(#c)">{bars}</g>\n{polygon} fill="none" stroke="{line}" '
        'stroke-width="3" stroke-linejoin="round"/>\n</svg>\n'
    )


def _colour(hue: float, lightness: float) -> str:
    return "#" + "".join(
        f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, lightness, 0.6)
    )
