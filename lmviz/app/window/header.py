"""The header: menus on the left; the model, its companions and the palette on the right."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QMenuBar, QSizePolicy, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import give_menu, reach_by_tab, row
from lmviz.app.widgets.base.figures import short
from lmviz.app.widgets.base.plain import Label, caption, paragraph
from lmviz.app.widgets.base.quiet_button import QuietButton

if TYPE_CHECKING:
    from lmviz.app.window.surgery_chip import SurgeryChip

ROOMY = 1150  # pixels at scale 1 from which the chip of changes can be written out
LONGEST_NAME = 40
"""Letters of a name; the whole one is in the list of models."""

NARROW = 800  # pixels at scale 1 below which only the family of the model has room


class Header(QFrame):
    """`Header(session)`; `menu_bar` takes the menus.

    Signals: `open_model_wanted`, `rename_wanted` with a model, `palette_wanted`.
    """

    open_model_wanted = Signal()
    rename_wanted = Signal(object)
    palette_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setObjectName("header")
        self._name = Label("lmviz", role="title")
        self.menu_bar = QMenuBar()
        self.menu_bar.setNativeMenuBar(False)
        # it has a sign for menus without room
        self.menu_bar.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.chip: SurgeryChip | None = None  # from the first change on
        self.model_button = QuietButton("model_picker", description="the model that is shown")
        self.compare_button = QuietButton("compare_picker", description="models to compare with")
        for button in (self.model_button, self.compare_button):
            button.setProperty("menu", True)
        self._models, self._companions = map(give_menu, (self.model_button, self.compare_button))
        self.compare_button.setText("compare with…")
        self.palette_button = QuietButton("palette_button", "Ctrl+K", description="find a command")
        self.palette_button.setToolTip("Find a command (Ctrl+K)")
        buttons = (self.model_button, self.compare_button, self.palette_button)
        self._row = row(self._name, (self.menu_bar, 1), *buttons, on=self, gap=10, margins=(16, 3, 16, 3))
        self._connect()
        self._show_model()

    def _connect(self) -> None:
        session = self._session
        self.palette_button.clicked.connect(self.palette_wanted)
        self._models.aboutToShow.connect(self._fill_models)
        self._companions.aboutToShow.connect(self._fill_companions)
        for changed in (
            session.library.model_changed,
            session.library.models_changed,
            session.library.step_changed,
            session.comparison.choice_changed,
        ):
            changed.connect(self._show_model)
        theme_switch().theme_changed.connect(self._show_model)
        session.surgery.changed.connect(self._offer_chip)

    def _offer_chip(self) -> None:
        """The changes have a chip beside the menus, which is made for the first of them."""
        if self.chip is None and self._session.surgery.interventions:
            self.make_all()

    def make_all(self) -> None:
        """Make the chip, which else is made when it is first needed: for a list of all controls."""
        if self.chip is not None:
            return
        from lmviz.app.window.surgery_chip import SurgeryChip

        self.chip = SurgeryChip(self._session, self)
        self._row.insertWidget(self._row.indexOf(self.model_button), self.chip)
        reach_by_tab(self.menu_bar, self.chip)
        self._fit_chip()

    def _fit_chip(self) -> None:
        if self.chip is not None:
            self.chip.set_short(self.width() < ROOMY * current_theme().scale)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_chip()
        self._show_model()

    @property
    def _is_narrow(self) -> bool:
        return self.width() < NARROW * current_theme().scale

    def _show_model(self) -> None:
        model, comparison = self._session.library.model, self._session.comparison
        compared = [moment for moment in comparison.chosen if not comparison.obstacle_to(moment[0])]
        words = describe(model, self._session.library.step) if model is not None else "no model yet"
        shown = _briefly(model) if model is not None and self._is_narrow else words
        self.model_button.setText(caption(shown))
        self.model_button.setToolTip(paragraph(words))
        color = _series_color(model) if model is not None else current_theme().strong_line
        self.model_button.setIcon(_dot(color))
        self.compare_button.setEnabled(bool(self._session.library.models))
        self.compare_button.setText(f"compare with {len(compared)}" if compared else "compare with…")

    def _fill_models(self) -> None:
        menu, session = self._models, self._session
        menu.clear()
        for model in session.library.models:
            step = session.library.step if model == session.library.model else model.snapshots[-1]
            told = describe(model, step)
            words = told if told.startswith(model.name) else f"{model.name}  ({told})"
            action = menu.addAction(_dot(_series_color(model)), caption(words))
            action.triggered.connect(lambda _=False, chosen=model: session.library.choose(chosen))
        menu.addSeparator()
        menu.addAction("Open a run or a sample model…", self.open_model_wanted.emit)
        shown = session.library.model  # another one may be shown by the time that an entry is chosen
        if shown is not None:
            rename = menu.addAction(caption(f"Rename {shown.name}…"), lambda: self.rename_wanted.emit(shown))
            rename.setEnabled(not _is_sample(shown))
            menu.addAction(caption(f"Close {shown.name}"), lambda: session.library.close(shown))

    def _fill_companions(self) -> None:
        """Models to tick, each at its newest snapshot, and the present moment to hold on to."""
        menu, session = self._companions, self._session
        menu.clear()
        for model in session.library.models:
            action = menu.addAction(caption(model.name))
            action.setCheckable(True)
            action.setChecked(any(moment[0] == model for moment in session.comparison.chosen))
            action.toggled.connect(lambda on, chosen=model: self._compare(chosen, on))
            if obstacle := session.comparison.obstacle_to(model):
                from lmviz.app.widgets.controls.refused_action import refuse  # not before the first paint

                refuse(menu, action, obstacle.reason, obstacle.sentence)
        if session.library.model is not None:
            menu.addSeparator()
            model, step = session.library.model, session.library.step
            if len(session.library.models) == 1:
                self._add_samples(menu.addMenu("Open a sample model beside it"), model)
            if model.when(step):
                hold = menu.addAction(caption(f"Compare with {model.name} as of step {step:,}"))
                hold.triggered.connect(
                    lambda: session.comparison.choose((*session.comparison.chosen, (model, step)))
                )

    def _add_samples(self, menu: QMenu, present: OpenedModel) -> None:
        """Sample models of the same task, each opened beside the present model, which stays the shown one."""
        from lmviz.api.training import find_run, sample_models
        from lmviz.training.run import Run

        def open_beside(name: str) -> None:
            self._session.library.open_beside(name, lambda opened: self._compare(opened, True))

        for name in sample_models():
            if name == present.folder.name:
                continue
            if Run.open(find_run(name)).description.task == present.task.name:
                menu.addAction(caption(name), lambda name=name: open_beside(name))

    def _compare(self, model: OpenedModel, on: bool) -> None:
        others = tuple(moment for moment in self._session.comparison.chosen if moment[0] != model)
        self._session.comparison.choose((*others, (model, model.snapshots[-1])) if on else others)


def describe(model: OpenedModel, step: int) -> str:
    """A model at a step in a few words: its family, its depth and its size, where that is known.

    One that another program has trained is known by its name.
    """
    parts = [_family_or_name(model)]
    configuration = model.description.configuration
    layers = configuration.get("layers")
    if layers:
        parts.append(f"{layers} layer" + ("" if layers == 1 else "s"))
    if "order" in configuration:
        parts.append(f"order {configuration['order']}")
    parameters = model.parameters_at(step)
    if parameters:
        parts.append(short(parameters))
    return " · ".join(parts)


def _family_or_name(model: OpenedModel) -> str:
    from lmviz.families import FAMILIES

    if model.run.was_trained_elsewhere:
        name = PurePosixPath(model.name).name  # without who put it on the hub
        return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    return FAMILIES[model.family].title if model.family in FAMILIES else model.family


def _briefly(model: OpenedModel) -> str:
    """The name of its family alone, or that of a model of another program."""
    from lmviz.families import FAMILIES

    if model.run.was_trained_elsewhere:
        return _family_or_name(model)
    return FAMILIES[model.family].short_title if model.family in FAMILIES else model.family


def _is_sample(model: OpenedModel) -> bool:
    """Whether a model came with lmviz, and so keeps its name."""
    from lmviz.base.places import shipped

    return model.folder.parent == shipped("sample_models").resolve()


def _series_color(model: OpenedModel) -> QColor:
    return current_theme().series_color(model.color_index)


def _dot(color: QColor) -> QIcon:
    picture = QPixmap(24, 24)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(6, 6, 12, 12)
    return QIcon(picture)
