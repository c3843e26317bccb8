"""The window's commands, in menus; the palette and the keyboard map are made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from lmviz.app.look.theme import CHOICES, SYSTEM_SIZE, theme_switch
from lmviz.app.look.typefaces import TYPE_SIZES
from lmviz.app.opening.paths import title_of_path
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.widgets.base.plain import caption
from lmviz.app.window.lectures import OPENED
from lmviz.app.window.other_words import OF_PERSPECTIVES, OF_SAMPLES
from lmviz.base.counting import counted_from

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from lmviz.app.widgets.controls.command_palette import CommandPalette
    from lmviz.app.window.choosing import Choosing
    from lmviz.app.window.commanded_window import CommandedWindow

PLAIN_KEYS = (
    ("← →", "previous or next position; in Inside, stage of the computation"),
    ("↑ ↓", "previous or next stage; in Inside, position"),
    ("space", "play and pause"),
    ("Shift", "while pointing at a token: which tokens attend to it"),
    ("Esc", "unpin; bring back what an enlarged panel hides; stop reading a text"),
    ("Return", "in the prefix: a line break"),
    ("B or .", "in a lecture: the screen black, and back"),
)
"""Keys that are no commands, because what is being typed in may use them itself."""

FOCUS_KEYS = (
    ("Tab", "the next control"),
    ("← → ↑ ↓", "move in a picture, a list, a plot or a tree"),
    ("Home, End", "the first or last token or stage"),
    ("Page up, Page down", "a page of a table or list"),
    ("Return, space", "choose what is marked"),
    ("F2", "rename the run that is marked in the list"),
    ("Backspace", "one step back in “Why this number?”; the last answer of a poll; a picture made blank"),
    ("A … E", "in a poll, one more answer; space shows the answers"),
    ("N", "numbers for symbols in the equation"),
    ("0", "all of a heatmap or of a graph again; Ctrl+wheel zooms"),
    ("+, −", "in the graph of a network: larger, smaller"),
    ("a letter", "in the cards of the families: the one that begins with it"),
)
"""What keys do in the panel that has the focus."""

FEATURE_WORDS = "sparse autoencoder SAE dictionary transcoder"

EXPORTS = ("Pictures", "Tables of numbers", "Python code", "Pages")
"""What can be taken of panels, in a submenu each: the kinds of `board.exporting`."""

KEEP = "Keep a copy of each checkpoint"

SAVED_FAMILIES = ("transformer", "ngram")
"""The families that other programs have."""

TERMS = (
    ("Ablation: set a head or a unit to zero", "attention", "surgery_view"),
    ("Activation patching: take a state from another source", "attention", "context_view"),
    ("Hooks, here called taps: values over the text", "inside", "state_view"),
    ("Induction heads: badges of all heads", "attention", "heads_view"),
    ("Induction heads over training: what each head does", "circuits", "heads_over_time_view"),
    ("Logit lens: the prediction after each layer", "inside", "lens_view"),
    ("Residual stream: the picture of the whole model", "inside", "picture_view"),
)
"""Where the window shows what is known by these words, by perspective and panel."""


class Commands:
    """Fills the window's menu bar. `all()` lists every command."""

    def __init__(self, window: CommandedWindow, parent: QWidget) -> None:
        self._window, self._parent = window, parent
        self._session = window.session
        self._lasting: list[tuple[str, QAction]] = []
        self._palette: CommandPalette | None = None
        self._changing: dict[QMenu, Callable[[], None]] = {}
        self._possible: list[tuple[QAction, Callable[[], bool]]] = []
        self._fill_file(self._menu("File"))
        self._fill_view(self._menu("View"))
        self._fill_model(self._menu("Model"))
        self._fill_lecture(self._menu("Lecture"))
        self._fill_help(self._menu("Help"))
        session = self._session
        for changed in (
            session.training.changed,
            session.library.model_changed,
            session.library.models_changed,
        ):
            changed.connect(self._allow)
        session.surgery.changed.connect(self._allow)
        session.series_changed.connect(self._allow)
        window.transport.can_step_changed.connect(self._allow)
        window.lectures.changed.connect(self._allow)
        window.student_files.changed.connect(self._allow)
        session.lesson.changed.connect(self._allow)
        self._allow()

    def all(self) -> Iterator[QAction]:
        """Every command, those of lists that change included."""
        yield from (action for _, action in self._lasting)
        for menu, fill_anew in self._changing.items():
            fill_anew()
            yield from menu.actions()

    @cached_property
    def choosing(self) -> Choosing:
        """What asks for files."""
        from lmviz.app.window.choosing import Choosing  # as below: not before the first paint

        return Choosing(self._window, self._parent)

    def show_palette(self) -> None:
        """Let a person find a command by typing."""
        from lmviz.app.widgets.controls.command_palette import (
            CommandPalette,  # as below: not before the first paint
        )

        if self._palette is None:
            self._palette = CommandPalette(lambda: list(self.all()), self._parent)
        self._palette.open()

    def show_keyboard_map(self) -> None:
        """Say what every key does."""
        from lmviz.app.widgets.controls.command_palette import command_text
        from lmviz.app.window.dialogs import KeyboardMap

        groups: dict[str, list[tuple[str, str]]] = {}
        for group, action in self._lasting:
            if not action.shortcut().isEmpty():
                keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
                groups.setdefault(group, []).append((keys, command_text(action)))
        panel = ("Where the focus is", FOCUS_KEYS)
        KeyboardMap([("Anywhere", PLAIN_KEYS), panel, *groups.items()], self._parent).show()

    def _menu(self, title: str) -> QMenu:
        return self._window.header.menu_bar.addMenu(f"&{caption(title)}")

    def _add_list(self, menu: QMenu, title: str, fill: Callable[[QMenu], None], none: str = "") -> None:
        """A submenu whose entries are made anew each time it opens; where there are `none`, that is said."""
        inner = menu.addMenu(caption(title))

        def fill_anew() -> None:
            inner.clear()
            fill(inner)
            if none and inner.isEmpty():
                inner.addAction(caption(none)).setEnabled(False)

        inner.aboutToShow.connect(fill_anew)
        self._changing[inner] = fill_anew

    def _add(
        self,
        menu: QMenu,
        title: str,
        act: Callable[[], object],
        keys: str = "",
        *,
        ticked: bool | None = None,
        possible: Callable[[], bool] | None = None,
        other_words: str = "",
    ) -> QAction:
        action = menu.addAction(caption(title))
        action.setProperty("other_words", other_words)  # for the palette
        if menu not in self._changing:
            self._lasting.append((menu.title().replace("&", ""), action))
        action.triggered.connect(lambda _=False: act())
        if keys:
            action.setShortcut(QKeySequence(keys))
            self._parent.addAction(action)  # so that its keys work while the menu is closed
        if ticked is not None:
            action.setCheckable(True)
            action.setChecked(ticked)
        if possible is not None:
            self._possible.append((action, possible))
        return action

    def _add_file(self, menu: QMenu, title: str, kinds: str) -> None:
        """A command that opens a file of some kinds."""
        self._add(menu, title, lambda: self.choosing.open_file(title.rstrip("…"), kinds))

    def _allow(self) -> None:
        """Offer only what can act now."""
        for action, possible in self._possible:
            action.setEnabled(possible())
        self._projector.setChecked(theme_switch().projector)  # a lecture that is given sets it too
        keeps = self._shows_series() and self._session.series.keeps_copies
        self._keeping.setChecked(keeps)
        room = self._session.series.kept_bytes / 1e6 if keeps else 0.0
        self._keeping.setText(caption(f"{KEEP} ({room:,.1f} MB)" if room else KEEP))

    def _shows_series(self) -> bool:
        """Whether the shown model is a series of checkpoints of another program."""
        model = self._session.library.model
        return model is not None and model.run.was_trained_elsewhere and model.run.has_steps

    def _keep_copies(self) -> None:
        """Keep a copy of each checkpoint of the shown series, or of no more."""
        if self._shows_series():
            self._session.series.keep_copies(not self._session.series.keeps_copies)

    def _fill_file(self, menu: QMenu) -> None:
        self._add(menu, "Open text…", lambda: self.choosing.open_texts(), "Ctrl+O")
        folder = lambda: self.choosing.open_folder("Open a folder of texts", self._session.text.folder)  # noqa: E731
        self._add(menu, "Open folder of texts…", folder)
        self._add_list(menu, "Read one of the texts", self._fill_texts)
        self._add(menu, "Open a run or a sample model…", lambda: self.choosing.open_run(), "Ctrl+R")
        self._add(menu, "Open a checkpoint of another program…", lambda: self.choosing.open_checkpoint())
        self._add(menu, "Open the checkpoints of a training…", lambda: self.choosing.open_series())
        self._add(menu, "Examine a checkpoint…", lambda: self.choosing.examine_checkpoint())
        self._add(menu, "Open a lesson…", lambda: self.choosing.open_lesson())
        self._add_file(menu, "Open a poll…", "Polls (*.poll)")
        self._add(menu, "Open a question for Circuits…", lambda: self.choosing.open_question())
        self._add(menu, "Open a scene…", lambda: self.choosing.open_scene())
        self._add(menu, "Download a model…", lambda: self.choosing.download_model())
        self._add_list(menu, "Open recent", self._fill_recent, "Nothing opened yet")
        menu.addSeparator()
        self._add(menu, "Save scene…", lambda: self.choosing.save_scene(), "Ctrl+S")
        self._add(menu, "Export as a page…", self._export_page)
        export = menu.addMenu("Export")
        for kind in EXPORTS:
            self._add_list(export, kind, partial(self._fill_export, kind), "None of what is shown here")
        export.addSeparator()
        for title, save, possible in (
            ("Save the model for other programs…", lambda: self.choosing.save_model(), self._can_save_model),
            ("Save its curves for TensorBoard…", lambda: self.choosing.save_curves(), self._can_save_curves),
        ):
            self._add(export, title, save, possible=possible)
        menu.addSeparator()
        self._add(menu, "Quit", self._parent.close, "Ctrl+Q")

    def _fill_recent(self, menu: QMenu) -> None:
        for path in self._window.settings.recent:
            self._add(menu, f"Open {title_of_path(path)}", partial(self._window.open_paths, [path]))

    def _fill_export(self, kind: str, menu: QMenu) -> None:
        from lmviz.app.board.exporting import fill_with_panels  # not needed for the first paint

        fill_with_panels(menu, kind, self._window.perspective.panels)

    def _export_page(self) -> None:
        """A page of the panels in sight that have something to show."""
        from lmviz.app.board.page_export import export_page, has_page  # not needed for the first paint

        board = self._window.perspective
        panels = [panel for panel in board.panels if panel.is_in_sight and has_page(panel)]
        if panels:
            titles = {row.name: row.title for row in shown_perspectives()}
            export_page(panels, titles[board.name])
        else:
            self._session.say("Nothing in sight can be shown on a page: open a model and type a text.")

    def _fill_view(self, menu: QMenu) -> None:
        window = self._window
        for perspective in shown_perspectives():
            act = lambda name=perspective.name: window.show_perspective(name)  # noqa: E731
            words = OF_PERSPECTIVES.get(perspective.name, "")
            self._add(menu, f"Go to {perspective.title}", act, perspective.keys, other_words=words)
        menu.addSeparator()
        themes = menu.addMenu("Theme")
        group = QActionGroup(themes)
        for choice in CHOICES:
            act = lambda choice=choice: window.set_theme(choice)  # noqa: E731
            title = f"{choice.capitalize()} theme" if choice != "system" else "System theme"
            action = self._add(themes, title, act, ticked=theme_switch().choice == choice)
            group.addAction(action)
        sizes = menu.addMenu("Size of type")
        group = QActionGroup(sizes)
        for percent in (SYSTEM_SIZE, *TYPE_SIZES):
            act = lambda percent=percent: window.set_type_size(percent)  # noqa: E731
            title = f"Type at {percent} %" if percent else "Type in the size of the system"
            action = self._add(sizes, title, act, ticked=theme_switch().type_size == percent)
            group.addAction(action)
        toggle = lambda: window.set_projector(not theme_switch().projector)  # noqa: E731
        self._projector = self._add(menu, "Projector mode", toggle, "F10", ticked=theme_switch().projector)
        self._add(menu, "Enlarge the panel under the pointer", window.toggle_enlarged, "F9")
        self._add(menu, "Pointer halo", window.toggle_halo, "F7", ticked=False)
        self._add(menu, "Full screen", window.toggle_full_screen, "F11")
        count = lambda: window.count_from_zero(counted_from() > 0)  # noqa: E731
        self._add(menu, "Count layers and heads from 0", count, ticked=counted_from() == 0)
        menu.addSeparator()
        self._add(menu, "Values or gradients", self._session.gradients.toggle, "G")
        self._add_list(menu, "Panels", self._fill_panels)
        self._add(
            menu, "The panel under the pointer in a window of its own", window.toggle_panel_window, "Shift+F9"
        )
        self._add(menu, "Reset the arrangement", window.reset_arrangement)

    def _fill_panels(self, menu: QMenu) -> None:
        menu.addActions(self._window.perspective.toggle_actions)

    def _fill_model(self, menu: QMenu) -> None:
        session, transport = self._session, self._window.transport
        may_train = lambda: session.training.state.phase not in ("preparing", "running")  # noqa: E731
        self._add(menu, "Train", transport.train_as_planned, "Ctrl+T", possible=may_train)
        pause, stop, may_step = transport.pause_button, transport.stop_button, lambda: transport.can_step
        self._add(menu, "Pause training", pause.click, possible=pause.isEnabled)
        self._add(menu, "One training step", transport.step_button.click, "Ctrl+.", possible=may_step)
        self._add(menu, "Stop training", stop.click, possible=stop.isEnabled)
        resume = session.training.resume
        self._add(menu, "Continue training", resume, possible=lambda: session.training.can_resume)
        menu.addSeparator()
        self._add(menu, "Find features…", lambda: self.choosing.find_features(), other_words=FEATURE_WORDS)
        menu.addSeparator()
        self._add_list(menu, "Open a sample model", self._fill_samples, "This installation has none")
        self._add_list(menu, "Open one of your runs", self._fill_runs, "None yet")
        follow = lambda: session.library.follow_live(not session.library.live)  # noqa: E731
        follows = lambda: session.training.trains_shown_model  # noqa: E731
        self._add(menu, "Follow training live", follow, "Ctrl+L", possible=follows)
        self._keeping = self._add(menu, KEEP, self._keep_copies, ticked=False, possible=self._shows_series)
        film = transport.time.film_button
        self._add(menu, "Play training like a film", transport.time.toggle_film, possible=film.isEnabled)
        menu.addSeparator()
        undo, redo = session.surgery.undo, session.surgery.redo
        can_undo, can_redo = lambda: session.surgery.can_undo, lambda: session.surgery.can_redo
        self._add(menu, "Undo change", undo, "Ctrl+Z", possible=can_undo)
        self._add(menu, "Redo change", redo, "Ctrl+Shift+Z", possible=can_redo)
        clear, has_any = session.surgery.clear, lambda: bool(session.surgery.interventions)
        self._add(menu, "Remove all changes", clear, possible=has_any)

    def _fill_runs(self, menu: QMenu) -> None:
        from lmviz.runs.run_list import list_runs

        for run in list_runs(self._session.training.runs_folder):
            act = partial(self._window.open_paths, [run.folder])
            words = f"{run.folder.name} {run.family} {run.text}"
            self._add(menu, f"Open run {run.title}", act, other_words=words)

    def _fill_texts(self, menu: QMenu) -> None:
        from lmviz.text.catalogue import CATALOGUE

        for entry in CATALOGUE:
            if entry.is_present:
                open_entry = partial(self._session.text.open, entry.name)
                self._add(menu, f"Read text {entry.title}", open_entry, other_words=entry.description)
        for text in self._session.text.own:
            self._add(menu, f"Read text {text.title}", partial(self._session.text.open_own, text))

    def _fill_samples(self, menu: QMenu) -> None:
        from lmviz.api.training import sample_models
        from lmviz.interchange.public_models import OFFERED_MODELS

        for name in sample_models():
            act = partial(self._session.library.open, name)
            self._add(menu, f"Open sample model {name}", act, other_words=OF_SAMPLES.get(name, ""))
        menu.addSeparator()
        for public in OFFERED_MODELS:
            words = f"Open {public.title}" if public.folder() else f"Download {public.sentence}"
            self._add(menu, words, partial(self.choosing.open_public, public.name))

    def _fill_lecture(self, menu: QMenu) -> None:
        lectures = self._window.lectures
        is_open = lambda: lectures.lecture is not None  # noqa: E731
        self._add_file(menu, "Open a lecture…", OPENED)
        self._add_list(menu, "Lectures that come with lmviz", self._fill_lectures)
        menu.addSeparator()
        for title, act, keys in (
            ("Give the lecture, or stop", lectures.toggle_given, "F5"),
            ("Next item", lectures.go_on, "PgDown"),
            ("Item before", lectures.go_back, "PgUp"),
            ("Black screen", lectures.toggle_black, ""),
            ("Notes and clock", lectures.show_notes, ""),
        ):
            action = self._add(menu, title, act, keys, possible=is_open)
            if keys:  # in the window of the notes as well
                action.setShortcutContext(Qt.ShortcutContext.ApplicationShortcut)
        self._add_list(menu, "Go to item", self._fill_items, "No lecture is open")
        menu.addSeparator()
        self._add(menu, "Save as the next scene…", lectures.save_scene, "Ctrl+Shift+S")
        files = self._window.student_files
        can_make, can_pack = lambda: files.can_make_handout, lambda: files.can_pack
        self._add(menu, "Save a handout…", files.save_handout, possible=can_make)
        can_save = lambda: files.can_save_pages  # noqa: E731
        self._add(menu, "Save the answers…", files.save_answers, possible=can_save)
        self._add(menu, "Save pages for a web server…", files.save_pages, possible=can_save)
        self._add(menu, "Save a bundle for students…", files.save_bundle, possible=can_pack)
        self._add(menu, "Notes in bundles", files.toggle_notes, ticked=files.packs_notes)
        lessons = self._window.lessons
        self._add(menu, "My results…", lessons.save_results, possible=lambda: lessons.has_results)
        self._add(menu, "Leave the lecture", lectures.leave, possible=is_open)

    def _fill_lectures(self, menu: QMenu) -> None:
        from lmviz.lectures.reading import shipped_lectures

        for path in shipped_lectures():
            title = path.stem.replace("-", " ").capitalize()
            self._add(menu, title, partial(self._window.open_lecture, path))

    def _fill_items(self, menu: QMenu) -> None:
        lectures = self._window.lectures
        for number, item in enumerate(lectures.lecture.items if lectures.lecture is not None else ()):
            self._add(menu, f"{number + 1} · {item.title}", partial(lectures.go_to, number))

    def _fill_help(self, menu: QMenu) -> None:
        self._add(menu, "Tour", self._window.beginning.start_tour)
        self._add(menu, "Lessons", partial(self._window.lessons.toggle, by_keys=True), "F8")
        self._add(menu, "Find a command…", self.show_palette, "Ctrl+K")
        self._add_list(menu, "Terms of the field", self._fill_terms)
        self._add(menu, "Keyboard map", self.show_keyboard_map, "F1")
        self._add(menu, "Examine this machine…", self._examine_machine)
        self._add(menu, "Open log", self._open_log)
        self._add(menu, "About lmviz", self._show_about)

    def _fill_terms(self, menu: QMenu) -> None:
        for title, perspective, panel in TERMS:
            self._add(menu, title, partial(self._show_term, perspective, panel))

    def _show_term(self, perspective: str, panel: str) -> None:
        self._window.show_perspective(perspective)
        self._window.bring_in_front(panel)

    def _open_log(self) -> None:
        from PySide6.QtCore import QUrl
        from PySide6.QtGui import QDesktopServices

        from lmviz.base.log import log_path

        QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_path())))

    def _examine_machine(self) -> None:
        from lmviz.app.window.dialogs import DoctorReport

        DoctorReport(self._parent).show()

    def _show_about(self) -> None:
        from lmviz.app.window.dialogs import About

        About(self._parent).show()

    def _can_save_model(self) -> bool:
        """Whether the model that is shown is one that other programs have."""
        model = self._session.library.model
        return model is not None and model.family in SAVED_FAMILIES

    def _can_save_curves(self) -> bool:
        """Whether there are curves of the model that is shown."""
        model = self._session.library.model
        return model is not None and bool(self._session.training.history_of(model).curves)
