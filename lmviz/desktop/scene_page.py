"""A scene as a page: its model reads its text again, and what Circuits asks about is asked again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.places import elsewhere
from lmviz.base.reporting import Report
from lmviz.desktop.scene import Scene, SceneModel, found_from, open_scene

if TYPE_CHECKING:
    from lmviz.pages.page import HtmlPage

Agree = Callable[[str], bool]
"""Is asked whether a file may be read that a scene names, and that does not lie beside it."""


def scene_page(
    path: str | Path,
    *,
    title: str = "",
    heads: tuple[tuple[int, int], ...] = (),
    top: int = 0,
    agree: Agree = lambda _: False,
    progress: Report | None = None,
) -> HtmlPage:
    """The page of a scene's file: the text that its first model reads, under its surgery.

    A model outside the scene's folder is read only where `agree` says so of its path. LmvizError where a
    scene has no model or no text, or where they cannot be read.
    """
    from lmviz.api.page_results import page_results
    from lmviz.api.pages import page
    from lmviz.api.training import open_model

    path = Path(path)
    scene = open_scene(path)
    if not scene.models or not (scene.prefix or scene.source):
        raise LmvizError(
            f"{path.name} shows no model that reads a text: save a scene with a model and a text, or name a "
            "model and --text."
        )
    shown = scene.models[0]
    model = open_model(_named(shown, path, agree), shown.step, special_tokens=not scene.spells_out)
    results = page_results(
        model,
        scene.prefix,
        source=scene.source or None,
        changed=scene.changed or None,
        measure=scene.measure,
        interventions=() if scene.is_surgery_off else scene.surgery,
        special_tokens=not scene.spells_out,
        progress=progress,
    )
    return page(results, title=title or path.stem, heads=heads, top=top)


def _named(model: SceneModel, path: Path, agree: Agree) -> str:
    """What opens a model of a scene; LmvizError where it lies elsewhere, and nobody agrees to that."""
    if model.sample:
        return model.sample
    folder = found_from(model.path, path.parent)
    outside = elsewhere(folder, [path.parent])
    if outside is not None and not agree(outside):
        raise LmvizError(
            f"{path.name} names {outside} as its model, which was not read: name a model and --text."
        )
    return str(folder)


def has_page(scene: Scene) -> bool:
    """Whether a scene has what a page of it shows."""
    return bool(scene.models and (scene.prefix or scene.source))
