"""Models of other programs opened, and models and curves saved for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from lmviz.app.widgets.base.toast import Toast
from lmviz.app.window.notice import Notice

if TYPE_CHECKING:
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.session import Session
    from lmviz.app.window.commanded_window import CommandedWindow
    from lmviz.app.workers.job import Report

CHECKPOINTS = (
    "Checkpoints (config.json *.safetensors *.bin *.pt *.pth *.ckpt *.gguf);;"
    "N-grams in ARPA format (*.arpa *.arpa.gz);;"
    "All files (*)"
)

_said: WeakKeyDictionary[QWidget, str] = WeakKeyDictionary()
"""What was said last about a saving that failed, by window."""


def choose_checkpoint(window: CommandedWindow, parent: QWidget) -> None:
    """Ask for any file of a checkpoint, and open the model."""
    name, _ = QFileDialog.getOpenFileName(parent, "Open a checkpoint", "", CHECKPOINTS)
    if not name:
        return
    from lmviz.runs.opening import find_model

    if find_model(Path(name)) is None:  # which would be opened as a text
        sentence = (
            f"{name} belongs to no checkpoint: choose its weights, or the config.json that lies beside them."
        )
        window.session.say(sentence)
        return
    window.open_paths([name])


def choose_base(window: CommandedWindow, parent: QWidget, adapter: Path) -> bool:
    """Ask for any file of the model that an adapter is added to; whether one was chosen."""
    name, _ = QFileDialog.getOpenFileName(
        parent, f"Choose the base of {adapter.name}", str(adapter.parent), CHECKPOINTS
    )
    if not name:
        return False
    from lmviz.interchange.chosen_bases import choose_base as keep
    from lmviz.runs.opening import find_model

    try:
        keep(adapter, find_model(Path(name)) or Path(name))
    except OSError as error:
        window.session.say(f"The choice cannot be kept ({error.strerror}): check the space on the disk.")
        return False
    return True


def examine_checkpoint(parent: QWidget) -> None:
    """Ask for any file of a checkpoint, and show what the doctor says of it."""
    name, _ = QFileDialog.getOpenFileName(parent, "Examine a checkpoint", "", CHECKPOINTS)
    if not name:
        return
    from lmviz.app.window.doctor_report import DoctorReport
    from lmviz.runs.opening import find_model

    DoctorReport(parent, find_model(Path(name)) or Path(name)).show()


def choose_model_of_hub(window: CommandedWindow, parent: QWidget) -> None:
    """Ask for a name, download the model of that name, and open it."""
    name, wanted = QInputDialog.getText(
        parent, "Download a model", "Its name on the Hugging Face hub, such as openai-community/gpt2:"
    )
    if not wanted or not name.strip():
        return

    def work(report: Report) -> Path:
        from lmviz.interchange.hub import download_model

        return download_model(name.strip(), report)

    session = window.session
    session.work.start_job(
        f"Downloading {name.strip()}",
        work,
        lambda folder: window.open_paths([folder]),
        session.say,
    )


def choose_model_file(session: Session, parent: QWidget) -> None:
    """Ask for a place, and save the shown model there at the shown step."""
    model = session.library.model
    if model is None:
        return
    if model.family == "ngram":
        title, kinds, ending = "Save the n-gram in ARPA format", "ARPA (*.arpa)", ".arpa"
    else:
        title, kinds, ending = "Save a folder for transformers", "Folder (*)", ""
    _choose(session, parent, model, title, kinds, ending, session.library.step)


def choose_curves_folder(session: Session, parent: QWidget) -> None:
    """Ask for a place, and save the curves of the shown model there for TensorBoard."""
    model = session.library.model
    if model is not None:
        title, kinds = "Save a folder for TensorBoard", "Folder (*.tfevents)"
        _choose(session, parent, model, title, kinds, ".tfevents", None)


def _choose(
    session: Session,
    parent: QWidget,
    model: OpenedModel,
    title: str,
    kinds: str,
    ending: str,
    step: int | None,
) -> None:
    name, _ = QFileDialog.getSaveFileName(parent, title, f"{model.folder.stem}{ending}", kinds)
    if not name:
        return
    out, folder = Path(name), model.folder
    if ending and out.suffix.lower() != ending:
        out = out.with_name(out.name + ending)

    def work(report: Report) -> Path:
        from lmviz.runs.converting import convert
        from lmviz.runs.opening import open_recorded

        return convert(open_recorded(folder), out, step)

    def fail(sentence: str) -> None:
        _said[parent] = sentence
        session.say(sentence)

    def confirm(saved: Path) -> None:
        notice, said = parent.findChild(Notice), _said.pop(parent, "")
        if notice is not None and said:
            notice.withdraw(said)
        Toast.show_over(parent, f"Saved {saved.name} in {saved.parent}.")

    session.work.start_job(f"Saving {out.name}", work, confirm, fail)
