"""Asks which files to open, and where to save: what the commands for files begin with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget
from shiboken6 import isValid

from lmviz.app.opening.scenes import scene_of
from lmviz.app.panels.corpus.texts import FILTER
from lmviz.app.widgets.base.plain import window_title
from lmviz.app.widgets.base.toast import Toast
from lmviz.app.window.dialogs import DoctorReport
from lmviz.app.window.open_model import OpenModelDialog, RenameDialog
from lmviz.base.errors import LmvizError
from lmviz.base.places import shipped
from lmviz.circuits.shipped_questions import is_question
from lmviz.desktop.scene import ENDING, save_scene
from lmviz.interchange import chosen_bases
from lmviz.runs.opening import find_model, open_recorded
from lmviz.runs.run_list import list_race, list_runs

if TYPE_CHECKING:
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.window.commanded_window import CommandedWindow
    from lmviz.base.reporting import Report
    from lmviz.runs.run_list import ListedRun

    _Listed = tuple[Sequence[ListedRun], Sequence[ListedRun]]

CHECKPOINTS = (
    "Checkpoints (config.json *.safetensors *.bin *.pt *.pth *.ckpt *.gguf);;"
    "N-grams in ARPA format (*.arpa *.arpa.gz);;"
    "All files (*)"
)
SCENES = f"Scenes (*{ENDING})"


class Choosing:
    """`Choosing(window, parent)`: each method asks, and then opens or saves what was chosen."""

    def __init__(self, window: CommandedWindow, parent: QWidget) -> None:
        self._window, self._parent, self._session = window, parent, window.session
        self._said = ""  # what was said last about a saving that failed

    def open_file(self, title: str, kinds: str) -> None:
        """A file of some kinds, written as Qt takes them."""
        if name := self._file(title, kinds):
            self._window.open_paths([name])

    def open_texts(self) -> None:
        """Texts, and show what came of it: Train says it beside its button."""
        names, _ = QFileDialog.getOpenFileNames(self._parent, "Open text", self._session.text.folder, FILTER)
        if not names:
            return
        self._window.open_paths(names)
        are_questions = all(is_question(Path(name)) for name in names)
        if self._window.perspective.name != "train" and not are_questions:
            self._window.show_perspective("corpus")

    def open_folder(self, title: str, beginning: Path | str) -> None:
        """A folder, sought from that of the beginning."""
        if name := QFileDialog.getExistingDirectory(self._parent, title, str(beginning)):
            self._window.open_paths([name])

    def open_lesson(self) -> None:
        """A lesson of one's own."""
        if name := self._file("Open a lesson", "Lessons (*.md)"):
            self._window.open_lesson(Path(name))

    def open_question(self) -> None:
        """A question about a circuit, which is asked."""
        if name := self._file("Open a question", "Questions (*.txt)"):
            self._window.show_perspective("circuits")
            self._session.contrast.open_file(Path(name))

    def open_scene(self) -> None:
        """A scene, which is put on."""
        self.open_file("Open a scene", SCENES)

    def find_features(self) -> None:
        """Features in the states of the shown model: a form, and the curves while they are found."""
        from lmviz.app.window.find_features_dialog import FindFeaturesDialog

        FindFeaturesDialog(self._session.features.finding, self._parent).show()

    def open_run(self) -> None:
        """A run or a sample model from a list, in which runs can be renamed."""
        runs = self._session.training.runs_folder

        def show(listed: _Listed) -> None:
            dialog = OpenModelDialog(*listed, self._parent)
            dialog.chosen.connect(self._open_listed)
            dialog.other_folder_wanted.connect(lambda: self.open_folder("Open the folder of a run", runs))
            self._show_list(dialog, look, runs)

        def look() -> _Listed:
            samples = sorted(list_runs(shipped("sample_models")), key=lambda entry: entry.title)
            return list_runs(runs), tuple(samples)

        self._session.work.open_file(runs, look, show, self._session.say)

    def open_run_in(self, folder: Path) -> None:
        """One of the runs in a folder, or all of them as a race."""

        def show(listed: _Listed) -> None:
            dialog = OpenModelDialog(*listed, self._parent)
            dialog.setWindowTitle(window_title(f"Choose one of the runs in {folder.name}"))
            dialog.chosen.connect(open_chosen)
            dialog.other_folder_wanted.connect(lambda: self.open_folder("Open the folder of a run", folder))
            self._show_list(dialog, look, folder)

        def look() -> _Listed:
            return list_race(folder), ()

        def open_chosen(chosen: Path) -> None:
            self._window.open_race(chosen) if chosen == folder else self._window.open_paths([chosen])

        self._session.work.open_file(folder, look, show, self._session.say)

    def _show_list(self, dialog: OpenModelDialog, look: Callable[[], _Listed], folder: Path) -> None:
        """A list of runs, which are listed anew when one is renamed."""

        def show_again(listed: _Listed) -> None:
            if isValid(dialog):  # it may be closed by then
                dialog.show_runs(*listed)

        def rename(run: Path, name: str) -> None:
            self._session.library.rename(run, name)
            self._session.work.open_file(folder, look, show_again, self._session.say)

        dialog.renamed.connect(rename, Qt.ConnectionType.QueuedConnection)  # the list is still being edited
        dialog.open()

    def rename_model(self, model: OpenedModel) -> None:
        """Another name of a model."""
        dialog = RenameDialog(model.name, self._parent)
        dialog.named.connect(lambda name: self._session.library.rename(model.folder, name))
        dialog.open()

    def open_checkpoint(self) -> None:
        """Any file of a checkpoint, whose model is opened."""
        name = self._file("Open a checkpoint", CHECKPOINTS)

        def open_found(found: Path | None) -> None:
            if found is None:  # which would be opened as a text
                self._session.say(
                    f"{name} belongs to no checkpoint: choose its weights, or the config.json beside them."
                )
            else:
                self._window.open_paths([name])

        if name:
            self._find_model(Path(name), open_found)

    def _find_model(self, path: Path, then: Callable[[Path | None], object]) -> None:
        """Call `then` with the model that a file belongs to, None for none: its folder may be slow."""
        self._session.work.open_file(path, lambda: find_model(path), then, self._session.say)

    def open_series(self) -> None:
        """A folder with the checkpoints of a training of another program, which opens as a run.

        Before that, the doctor says what there is to say of them; nobody has to wait for it.
        """
        title = "Open the folder of a training"
        if name := QFileDialog.getExistingDirectory(self._parent, title, str(Path.cwd())):
            DoctorReport(self._parent, Path(name), lambda: self._window.open_paths([name])).show()

    def open_with_base(self, adapter: Path) -> None:
        """Any file of the model that an adapter is added to, with which this is opened."""
        name = self._file(f"Choose the base of {adapter.name}", CHECKPOINTS, str(adapter.parent))
        if not name:
            return

        def choose() -> None:
            try:
                chosen_bases.choose_base(adapter, find_model(Path(name)) or Path(name))
            except OSError as error:
                raise LmvizError(
                    f"The choice cannot be kept ({error.strerror}): check the space on the disk."
                ) from error

        open_it = lambda _: self._session.library.open(adapter)  # noqa: E731
        self._session.work.open_file(Path(name), choose, open_it, self._session.say)

    def examine_checkpoint(self) -> None:
        """Any file of a checkpoint, of which the doctor says what there is to say."""
        if name := self._file("Examine a checkpoint", CHECKPOINTS):
            path = Path(name)
            self._find_model(path, lambda found: DoctorReport(self._parent, found or path).show())

    def download_model(self) -> None:
        """The name of a model, and perhaps steps of its training, which are downloaded and opened."""
        from lmviz.app.window.download_dialog import DownloadDialog

        dialog = DownloadDialog(self._parent)
        dialog.wanted.connect(self._download)
        dialog.open()

    def open_public(self, name: str) -> None:
        """A public model by its name on the hub: opened where it is here, otherwise downloaded first."""
        from lmviz.interchange.public_models import OFFERED_MODELS

        found = next(model for model in OFFERED_MODELS if model.name == name).folder()
        if found is None:
            self._download(name)
        else:
            self._window.open_paths([found])

    def _download(self, name: str, steps: str = "") -> None:
        def work(report: Report) -> Path:
            from lmviz.interchange.hub import download_model
            from lmviz.interchange.hub_steps import download_steps, read_steps

            return download_steps(name, read_steps(steps), report) if steps else download_model(name, report)

        self._session.work.start_job(
            f"Downloading {name}",
            work,
            lambda folder: self._window.open_paths([folder]),
            self._session.say,
        )

    def save_scene(self) -> None:
        """A place for a scene of what the window shows."""
        path = self._place("Save scene", f"scene{ENDING}", SCENES, ENDING)
        if path is None:
            return
        view = self._window.perspective
        scene = scene_of(self._session, view.name, view.in_front)
        self._session.work.save_file(
            path, lambda: save_scene(scene.beside(path.parent), path), self._confirm, self._session.say
        )

    def save_model(self) -> None:
        """A place for the shown model, as it is at the shown step."""
        model, step = self._session.library.model, self._session.library.step
        if model is not None and model.family == "ngram":
            self._save(model, "Save the n-gram in ARPA format", "ARPA (*.arpa)", ".arpa", step)
        elif model is not None:
            self._save(model, "Save a folder for transformers", "Folder (*)", "", step)

    def save_curves(self) -> None:
        """A place for the curves of the shown model, as TensorBoard reads them."""
        model = self._session.library.model
        if model is not None:
            self._save(model, "Save a folder for TensorBoard", "Folder (*.tensorboard)", ".tensorboard", None)

    def _file(self, title: str, kinds: str, folder: str = "") -> str:
        """The file that a person chooses; empty where none is."""
        return QFileDialog.getOpenFileName(self._parent, title, folder, kinds)[0]

    def _place(self, title: str, usual: str, kinds: str, ending: str) -> Path | None:
        """The file that a person chooses to write, which has this ending."""
        name, _ = QFileDialog.getSaveFileName(self._parent, title, usual, kinds)
        path = Path(name)
        if not name:
            return None
        return path if path.suffix.lower() == ending or not ending else path.with_name(path.name + ending)

    def _save(self, model: OpenedModel, title: str, kinds: str, ending: str, step: int | None) -> None:
        folder = model.folder
        out = self._place(title, f"{folder.stem}{ending}", kinds, ending)
        if out is None:
            return

        def work(report: Report) -> Path:
            from lmviz.runs.converting import convert

            return convert(open_recorded(folder), out, step)

        def fail(sentence: str) -> None:
            self._said = sentence
            self._session.say(sentence)

        def confirm(saved: Path) -> None:
            said, self._said = self._said, ""
            if said:
                self._window.withdraw(said)
            self._confirm(saved)

        self._session.work.start_job(f"Saving {out.name}", work, confirm, fail)

    def _confirm(self, saved: Path) -> None:
        Toast.show_over(self._parent, f"Saved {saved.name} in {saved.parent}.")

    def _open_listed(self, folder: Path) -> None:
        if folder.parent == shipped("sample_models"):
            self._session.library.open(folder)  # it is always offered, and so not among the recent ones
        else:
            self._window.open_paths([folder])
