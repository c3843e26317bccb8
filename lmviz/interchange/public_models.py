"""Small public checkpoints of real English that are offered as a download, and where they are once here.

Sizes, licences and what they learned from are those that their pages on the hub state, as of November 2026.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from lmviz.base.figures import with_unit


@dataclass(frozen=True)
class OfferedModel:
    """A checkpoint of the Hugging Face hub: its name there, its title, about how many bytes to download."""

    name: str
    title: str
    bytes: int
    knows: str
    licence: str

    @property
    def sentence(self) -> str:
        """What there is to know before it is downloaded."""
        return f"{self.title}, {with_unit(self.bytes, 'B')}: {self.knows} ({self.licence})"

    def folder(self, cache: Path | None = None) -> Path | None:
        """Where it lies in the hub's cache; None where it was not downloaded, or not to its end."""
        snapshots = (cache or hub_cache()) / f"models--{self.name.replace('/', '--')}" / "snapshots"
        try:
            whole = [folder for folder in snapshots.iterdir() if os.path.exists(folder / "model.safetensors")]
        except OSError:
            return None
        return max(whole, key=lambda folder: folder.stat().st_mtime, default=None)


OFFERED_MODELS = (
    OfferedModel(
        "HuggingFaceTB/SmolLM2-135M",
        "SmolLM2 135M",
        272_000_000,
        "English of web pages, textbooks and stories, and some code",
        "Apache 2.0",
    ),
    OfferedModel(
        "distilbert/distilgpt2",
        "DistilGPT-2",
        356_000_000,
        "English of web pages, learned from GPT-2",
        "Apache 2.0",
    ),
)


def hub_cache() -> Path:
    """Where the hub's own library keeps what it downloads, by the variables that it reads."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if named := os.environ.get(name):
            return Path(named).expanduser()
    home = os.environ.get("HF_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache"), "huggingface"
    )
    return Path(home).expanduser() / "hub"
