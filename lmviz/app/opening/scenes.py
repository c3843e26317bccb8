"""Scenes: what the window shows written into a file, and put on again step by step."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.opening.paths import race_at
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.network_focus import NetworkCell
from lmviz.app.session.permission import Limits
from lmviz.base.places import elsewhere, shipped
from lmviz.desktop.scene import Scene, SceneModel, SceneNetwork, SceneText, found_from, open_scene
from lmviz.runs.opening import find_model
from lmviz.text.catalogue import find_entry

if TYPE_CHECKING:
    from lmviz.app.opening.shell import Shell
    from lmviz.app.session.opened_model import Moment, OpenedModel
    from lmviz.app.session.session import Session
    from lmviz.inspection.intervention import Intervention

SLOW = 600  # milliseconds after which it is said that a scene is being opened
LENT = {
    "compared": "comparison",
    "shows_gradients": "gradients",
    "spells_out": "spelling",
    "sampling": "sampling",
}
"""What each field of a scene borrows: given back when another model is shown, or the lecture is left."""

IN_SIGHT = "perspective in_front text models prefix source changed measure position stage cell head side"
STAYS = (*IN_SIGHT.split(), "surgery", "is_surgery_off", "network", "race")
"""The fields that are what one looks at: that stays. Surgery ends with the model that it changes."""

LARGEST_CONTENT = 1_000_000
"""Characters of a pasted text that a scene holds."""


class Scenes(QObject):
    """Opens scenes. `shown` is emitted when all that could be opened stands as it did.

    A newer scene takes the place of one that is still being opened, and what a person does meanwhile stays.
    """

    shown = Signal()

    def __init__(self, window: Shell, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._session = window, window.session
        self._scene: Scene | None = None
        self._opened: dict[int, OpenedModel] = {}
        self._awaited = 0
        self._opening = ""  # the sentence that says so
        self._missing = ""  # the sentence that says what is not there
        self._race: Path | None = None
        self._is_seen = True  # whether the window goes where the scene takes place
        self._then: Callable[[], None] | None = None
        self._asked = 0  # scenes so far
        self._say_soon = QTimer(self, singleShot=True, interval=SLOW)
        self._say_soon.timeout.connect(lambda: window.offer(self._opening, "Stop", self._give_up))
        self._session.library.failed.connect(self._stop)
        self._session.reading.changed.connect(self._pin)
        self._session.reading.failed.connect(self._stand_unread)
        self._session.library.model_changed.connect(self._leave)

    def open(self, path: Path, *, is_seen: bool = True, then: Callable[[], None] | None = None) -> None:
        """Put on the scene in a file; the notice says what is wrong with it, or missing.

        `then` is called once as much of it stands as can. Without `is_seen` the window stays where it is:
        what comes then stands on the scene.
        """

        def take(found: FoundScene) -> None:
            if number == self._asked:  # else a newer one has been asked for
                self._put_on(found, path, is_seen, then)

        def refuse(sentence: str) -> None:
            self._session.say(sentence)
            if then is not None and number == self._asked:
                then()

        self._asked += 1
        number, finding = self._asked, self._finding()
        self._session.work.open_file(path, lambda: finding(open_scene(path), path), take, refuse)

    def forget_next(self) -> None:
        """Let a scene that is still being opened not come any more."""
        self._asked += 1
        self._stop()

    def _finding(self) -> Callable[[Scene, Path], FoundScene]:
        """What finds, in a thread, the files that a scene names."""
        known = frozenset(model.folder for model in self._session.library.models)
        return partial(found_scene, known, self._session.permission.limits())

    def _put_on(self, found: FoundScene, path: Path, is_seen: bool, then: Callable[[], None] | None) -> None:
        """Put a scene on, once a person agrees where it names files elsewhere."""
        scene = found.scene
        if found.outside:
            again = partial(self.open, path, is_seen=is_seen, then=then)
            self._session.permission.ask_person(found.outside, path.name, again)
            return
        self._stop()
        self.leave()
        self._is_seen, self._then = is_seen, then
        self._opened = {}
        self._opening = f"{path.name} is being opened…"
        self._say_soon.start()
        self._missing, missing = "", list[str]()
        if is_seen and scene.perspective in {row.name for row in shown_perspectives()}:
            self._window.show_afresh(scene.perspective, scene.in_front)
        if scene.text is not None and not found.missing_text:
            self._open_text(scene.text, path)
        missing += [found.missing_text] if found.missing_text else []
        missing += [
            f"the model {model.sample or model.path}"
            for model, folder in zip(scene.models, found.folders, strict=True)
            if folder is None
        ]
        if scene.race and found.race is None:
            missing.append(f"the race {scene.race}")
        self._race = found.race
        if scene.network is not None:
            self._open_network(scene.network)
        if missing:
            names = " and ".join(missing)
            self._missing = f"{path.name} names {names}, and there is none: put it beside the scene."
        self._begin(scene, found.folders)

    def leave(self) -> None:
        """Give back what the scene has set out of sight, but for what a person has changed since."""
        self._session.lending.give_back("scene", but_changed=True)

    def prepare(self, scene: Scene, path: Path) -> None:
        """Have the models and the text read that the scene of a file names, so that it is put on sooner.

        Nothing is read about which a person would be asked first.
        """

        def take(found: FoundScene) -> None:
            if found.outside or number != self._asked:
                return
            library = self._session.library
            known = {model.folder for model in library.models}
            library.prepare(
                (folder, model.step)
                for model, folder in zip(scene.models, found.folders, strict=True)
                if folder is not None and folder not in known
            )
            if scene.text is not None and not scene.text.content and not found.missing_text:
                self._read_text(scene.text, path, self._session.text.prepare)

        number, finding, work = self._asked, self._finding(), self._session.work
        work.ask_beside("scene to come", lambda: finding(scene, path), take, lambda sentence: None)

    def _open_network(self, network: SceneNetwork) -> None:
        session = self._session
        session.network.write(network.text)
        session.network.choose_slip(network.has_slip)
        session.network.stand_at(network.version, network.pushed, network.popped)
        session.network_focus.release()
        if network.cell is not None:
            name, place = network.cell
            session.network_focus.choose_cell(NetworkCell(name, place, network.is_gradient))

    def _open_text(self, text: SceneText, path: Path) -> None:
        """Read the scene's text, unless it is the one that is open."""
        session = self._session
        if text.content:
            corpus = session.text.corpus
            if corpus is None or corpus.content != text.content.encode():
                session.text.paste(text.content, text.options, text.name)
        else:
            self._read_text(text, path, session.text.open)

    def _read_text(self, text: SceneText, path: Path, read: Callable[..., object]) -> None:
        """`read` a text of files or of the catalogue, unless it is the one that is open."""
        files, target = _files_of(text, path.parent)
        sources = [text.catalogue] if text.catalogue else [str(file) for file in files]
        corpus = self._session.text.corpus
        if corpus is None or (list(corpus.sources), corpus.options) != (sources, text.options):
            read(sources, text.options, target=target)

    def _begin(self, scene: Scene, folders: Sequence[Path | None]) -> None:
        """Open the models one after the other; the scene goes on when all are there."""
        self._scene = scene
        places: dict[Path, list[int]] = {}  # a model may stand there at several steps, and is opened once
        for number, folder in enumerate(folders):
            if folder is not None:
                places.setdefault(folder, []).append(number)
        self._awaited = sum(map(len, places.values()))
        library = self._session.library
        known = {model.folder: model for model in library.models}
        for folder, numbers in places.items():
            opened = known.get(folder)
            if opened is not None:
                self._keep_opened(scene, numbers, opened)
            else:
                library.open_beside(folder, partial(self._keep_opened, scene, numbers))
        if not places:
            self._set_up()

    def _keep_opened(self, scene: Scene, numbers: Sequence[int], opened: OpenedModel) -> None:
        if scene is self._scene:
            self._opened |= dict.fromkeys(numbers, opened)
            if len(self._opened) == self._awaited:
                self._set_up()

    def _set_up(self) -> None:
        """Everything is open: look at it as the scene does."""
        scene, session = self._scene, self._session
        assert scene is not None, "nothing is set up without a scene"
        library = session.library
        session.lending.borrow(LENT.values(), "scene")
        library.follow_live(False)
        if 0 in self._opened:
            library.choose(self._opened[0], scene.models[0].step)
            session.comparison.choose(self._compared(scene))
        session.surgery.clear()
        session.gradients.show(scene.shows_gradients)
        session.library.spell_out(scene.spells_out)
        session.writing.set_sampling(**scene.sampling.to_values())
        session.attention.begin_with(scene.side, scene.head)
        session.reading.set_source(scene.source)
        session.reading.set_prefix(scene.prefix)
        if scene.changed or scene.measure or "contrast" in vars(session):  # else nobody has asked yet
            session.contrast.set_other(scene.changed)
            session.contrast.set_measure(scene.measure)
        if 0 in self._opened:
            for change in scene.surgery:
                session.surgery.add(change)
            session.surgery.set_off(scene.is_surgery_off)
        session.lending.note_set("scene")
        if session.reading.question is None:
            self._finish()
        else:
            self._pin()

    def _leave(self) -> None:
        """Another model than those of the scene is shown: that is no longer the scene."""
        model, own = self._session.library.model, {opened.folder for opened in self._opened.values()}
        if self._scene is None and model is not None and model.folder not in own:
            self.leave()

    def _compared(self, scene: Scene) -> list[Moment]:
        return [
            (opened, scene.models[number].step)
            for number, opened in sorted(self._opened.items())
            if number and number <= len(scene.compared) and scene.compared[number - 1]
        ]

    def _pin(self) -> None:
        """Pin what was pinned, once the scene's prefix has been read as the scene reads it."""
        scene, session = self._scene, self._session
        if scene is None or len(self._opened) < self._awaited or session.reading.is_busy:
            return
        reading, focus = session.reading.current, session.focus
        if session.reading.prefix != scene.prefix:
            self._give_up()  # a person types something else
        elif reading is not None and reading.trace.text == scene.prefix:
            if scene.position is None:
                focus.follow_end()
            else:
                focus.choose_position(scene.position)
            focus.choose_stage(scene.stage)
            cell = scene.cell
            focus.choose_cell(cell if cell is not None and reading.has_cell(*cell) else None)
            self._finish()

    def _stand_unread(self) -> None:
        """What it reads cannot be read, as with a change of surgery that its model does not allow."""
        if self._scene is not None and len(self._opened) == self._awaited:
            self._finish()

    def _finish(self) -> None:
        scene, then = self._scene, self._then
        if scene is not None and self._race is not None:
            self._session.race.open(self._race)  # its lanes among the scene's models keep their step
        if scene is not None and self._is_seen and self._window.perspective_name == scene.perspective:
            self._window.show_afresh(
                scene.perspective, scene.in_front
            )  # what fitted the model before may not now
        self._stop()
        self.shown.emit()
        if then is not None:
            then()
        self._say_what_is_missing()

    def _give_up(self) -> None:
        """What of a scene is not there yet stays as it is."""
        then = self._then
        self._stop()
        if then is not None:
            then()
        self._say_what_is_missing()

    def _say_what_is_missing(self) -> None:
        """Last, so that nothing else of the same scene takes it away."""
        missing, self._missing = self._missing, ""
        if missing:
            self._session.say(missing)

    def _stop(self) -> None:
        self._scene = self._then = None
        self._say_soon.stop()
        self._window.withdraw(self._opening)


def scene_of(session: Session, perspective: str, in_front: Sequence[str] = ()) -> Scene:
    """What a session shows, as a scene with whole paths, to be put `beside` others; `in_front` as in `Scene`.

    Of the open models it holds the one that is looked into and those that are compared with it.
    """
    library, focus = session.library, session.focus
    contrast = session.contrast if "contrast" in vars(session) else None
    shown = [] if library.model is None else [session.comparison.present]
    chosen = [(model, model.nearest_snapshot(step)) for model, step in session.comparison.chosen]
    compared = [moment for moment in dict.fromkeys(chosen) if moment not in shown]
    return Scene(
        perspective=perspective,
        in_front=tuple(in_front),
        text=_text_of(session),
        models=tuple(_scene_model(model, step) for model, step in (*shown, *compared)),
        compared=(True,) * len(compared),
        prefix=session.reading.prefix,
        source=session.reading.source,
        changed="" if contrast is None else contrast.other,
        measure="" if contrast is None else contrast.measure,
        position=focus.position if focus.is_position_pinned else None,
        stage=focus.stage,
        cell=focus.cell,
        head=session.attention.head,
        side=session.attention.side,
        surgery=_surgery_of(session),
        is_surgery_off=session.surgery.is_off,
        shows_gradients=session.gradients.is_shown,
        spells_out=any(model.spells_out for model, _ in shown),
        network=_network_of(session) if perspective == "autodiff" else None,
        race=_race_of(session),
        sampling=session.writing.sampling,
    )


def _surgery_of(session: Session) -> tuple[Intervention, ...]:
    """The changes; those of features as the numbers that they come to in the text that is shown."""
    reading = session.reading.current
    stated = {} if reading is None else {each.describe(): each for each in reading.trace.interventions}
    found = []
    for change in session.surgery.interventions:
        if not callable(change.value):
            found.append(change)
        elif change.describe() in stated:
            found.append(replace(stated[change.describe()], required=False))
    return tuple(found)


def _race_of(session: Session) -> str:
    """The folder of the race that is open; "" where there is none, or nothing of it is written."""
    race = session.race.folder if "race" in vars(session) and session.race.lanes else None
    return "" if race is None else str(race)


def _text_of(session: Session) -> SceneText | None:
    """The open text as a scene names it; None where none is open, or where one that was pasted is long."""
    corpus = session.text.corpus
    if corpus is None:
        return None
    if not corpus.sources:
        content = corpus.content.decode("utf-8", "replace")
        if len(content) > LARGEST_CONTENT:
            return None
        return SceneText(content=content, name=corpus.name, options=corpus.options)
    if len(corpus.sources) == 1 and find_entry(corpus.sources[0]) is not None:
        return SceneText(catalogue=corpus.sources[0], options=corpus.options)
    target = next(iter(corpus.target_sources), "")
    return SceneText(
        files=tuple(os.path.abspath(source) for source in corpus.sources),
        target=os.path.abspath(target) if target else "",
        options=corpus.options,
    )


def _network_of(session: Session) -> SceneNetwork:
    tape, cell = session.network.current.tape, session.network_focus.pinned
    return SceneNetwork(
        text=session.network.current.text,
        version=tape.version,
        pushed=tape.pushed,
        popped=tape.popped,
        cell=None if cell is None else (cell.name, cell.place),
        is_gradient=cell is not None and cell.is_gradient,
        has_slip=session.network.has_slip,
    )


def _scene_model(model: OpenedModel, step: int) -> SceneModel:
    if model.folder.parent == shipped("sample_models").resolve():
        return SceneModel(sample=model.folder.name, step=step)
    return SceneModel(path=str(model.folder), step=step)


@dataclass(frozen=True)
class FoundScene:
    """A scene, and what is where it says.

    `outside` are the files that it names elsewhere, each with where it lies, about which a person is asked
    first; with any of them, the rest was not looked for. `folders` are those of its models, as they really
    lie, None where there is none. `missing_text` says which text is not there; "" for none.
    """

    scene: Scene
    outside: dict[str, str]
    folders: tuple[Path | None, ...] = ()
    missing_text: str = ""
    race: Path | None = None


def found_scene(known: AbstractSet[Path], limits: Limits, scene: Scene, path: Path) -> FoundScene:
    """Find the files that the scene of a file names; `known` are models that are open. For a thread."""
    outside = limits.outside(_named_in(scene, path.parent) - known, path.parent)
    if outside:
        return FoundScene(scene, outside)
    folders = (_model_folder(model, path.parent) for model in scene.models)
    return FoundScene(
        scene,
        {},
        tuple(None if folder is None else folder.resolve() for folder in folders),
        "" if scene.text is None else _missing_of(scene.text, path.parent),
        race_at(found_from(scene.race, path.parent)) if scene.race else None,
    )


def _missing_of(text: SceneText, folder: Path) -> str:
    """Which of a text is not there; "" where nothing is missing."""
    if text.catalogue:
        return "" if find_entry(text.catalogue) is not None else f"the text {text.catalogue}"
    files, target = _files_of(text, folder)
    missing = (file for file in (*files, target) if file is not None and not os.path.exists(file))
    return next((f"the text {file}" for file in missing), "")


def _files_of(text: SceneText, folder: Path) -> tuple[list[Path], Path | None]:
    """The files of a text, and the one of its other language, by their whole paths."""
    target = found_from(text.target, folder) if text.target else None
    return [found_from(name, folder) for name in text.files], target


def _named_in(scene: Scene, folder: Path) -> set[Path]:
    """The files and folders that a scene in a folder names by their places, and the models found there."""
    text = scene.text or SceneText()
    texts = {found_from(name, folder) for name in (*text.files, text.target) if name}
    models = {found_from(model.path, folder) for model in scene.models if model.path}
    found = {find_model(place) or place for place in models if elsewhere(place, (folder,)) is None}
    races = {found_from(scene.race, folder)} if scene.race else set()
    return texts | models | found | races


def _model_folder(model: SceneModel, folder: Path) -> Path | None:
    """Where a scene's model is; None where it is not."""
    if model.sample:
        here = shipped("sample_models") / Path(model.sample).name
        return here if os.path.isfile(here / "run.json") else None
    place = found_from(model.path, folder)
    return find_model(place) if os.path.exists(place) else None
