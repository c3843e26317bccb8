"""How different two colours are for people who see red and green alike.

The simulation is that of Machado, Oliveira & Fernandes (2009) at full severity; the difference is CIEDE2000
(Sharma, Wu & Dalal 2005).
"""

from __future__ import annotations

import math

import numpy as np

SIMULATED = {
    "everybody": np.eye(3),
    "protanopes": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopes": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
"""What linear red, green and blue become for each."""

XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
"""Of linear sRGB, with the white of D65."""


def lab(color: str, seen_by: str) -> tuple[float, float, float]:
    """A colour "#RRGGBB" in CIE L*a*b*, as some people see it."""
    encoded = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    linear = np.clip(SIMULATED[seen_by] @ linear, 0, 1)
    shares = (XYZ @ linear) / (XYZ @ np.ones(3))
    roots = np.where(shares > 216 / 24389, np.cbrt(shares), (24389 / 27 * shares + 16) / 116)
    return float(116 * roots[1] - 16), float(500 * (roots[0] - roots[1])), float(200 * (roots[1] - roots[2]))


def difference(first: tuple[float, float, float], second: tuple[float, float, float]) -> float:
    """ΔE of CIEDE2000 between two colours in L*a*b*."""
    chroma = (math.hypot(*first[1:]) + math.hypot(*second[1:])) / 2
    stretch = 1.5 - 0.5 * math.sqrt(chroma**7 / (chroma**7 + 25**7))
    hues, chromas = [], []
    for _, a, b in (first, second):
        chromas.append(math.hypot(stretch * a, b))
        hues.append(math.degrees(math.atan2(b, stretch * a)) % 360)
    apart = hues[1] - hues[0]
    apart += 360 if apart < -180 else -360 if apart > 180 else 0
    gray = not all(chromas)
    lightness, more_chroma = second[0] - first[0], chromas[1] - chromas[0]
    turned = 0.0 if gray else 2 * math.sqrt(chromas[0] * chromas[1]) * math.sin(math.radians(apart) / 2)
    mean, mean_chroma = (first[0] + second[0]) / 2, sum(chromas) / 2
    mean_hue = sum(hues) if gray else (hues[0] + apart / 2) % 360
    weight = (
        1
        - 0.17 * math.cos(math.radians(mean_hue - 30))
        + 0.24 * math.cos(math.radians(2 * mean_hue))
        + 0.32 * math.cos(math.radians(3 * mean_hue + 6))
        - 0.20 * math.cos(math.radians(4 * mean_hue - 63))
    )
    of_lightness = 1 + 0.015 * (mean - 50) ** 2 / math.sqrt(20 + (mean - 50) ** 2)
    of_chroma, of_hue = 1 + 0.045 * mean_chroma, 1 + 0.015 * mean_chroma * weight
    rotation = -2 * math.sqrt(mean_chroma**7 / (mean_chroma**7 + 25**7))
    rotation *= math.sin(math.radians(60 * math.exp(-(((mean_hue - 275) / 25) ** 2))))
    parts = lightness / of_lightness, more_chroma / of_chroma, turned / of_hue
    return math.sqrt(sum(part**2 for part in parts) + rotation * parts[1] * parts[2])
