"""Files that students are given: bundles of a lecture or a lesson, and handouts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from lmviz.app.session.part import Part
from lmviz.app.widgets.base.toast import Toast
from lmviz.app.window.lectures import Lectures, LectureWindow
from lmviz.app.window.lessons import perspective_names

if TYPE_CHECKING:
    from lmviz.app.window.handout import HandoutMaker
    from lmviz.base.reporting import Report
    from lmviz.lectures.lecture import Lecture, LectureItem
    from lmviz.lessons.lesson import Lesson

WITHOUT_NOTES = "lectures/bundles_without_notes"
HANDOUTS = "Handouts (*.pdf *.html)"


class StudentFiles(Part):
    """Saves the lecture that is open, or the lesson one is in, and opens bundles.

    `packed` follows a bundle, or a folder of pages, that was written; `unpacked` gives the lecture or lesson
    in a bundle that was opened; `changed` follows the beginning and the end of a handout.
    """

    packed = Signal(object)
    unpacked = Signal(object)
    changed = Signal()

    def __init__(self, window: LectureWindow, lectures: Lectures, parent: QWidget) -> None:
        super().__init__(parent)
        self._window, self._lectures, self._parent = window, lectures, parent
        self._handout: HandoutMaker | None = None
        self._came_from: tuple[Lesson | None, int] = (None, 0)  # the lesson and step before the handout

    @property
    def can_pack(self) -> bool:
        """Whether a lecture is open, or a lesson that stands in a file."""
        return self._file is not None

    @property
    def can_make_handout(self) -> bool:
        """Whether a lecture or a lesson is open, and no handout of it is being made."""
        return self.can_save_pages and self._handout is None

    @property
    def can_save_pages(self) -> bool:
        """Whether a lecture or a lesson is open."""
        return self._lectures.lecture is not None or self._lesson is not None

    @property
    def _lesson(self) -> Lesson | None:
        return self._window.session.lesson.lesson

    @property
    def _file(self) -> Path | None:
        if self._lectures.lecture is not None:
            return self._lectures.lecture.path
        if self._lesson is None:
            return None
        from lmviz.lessons.reading import file_of  # asked before the first paint, where no lesson is open

        return file_of(self._lesson)

    @property
    def packs_notes(self) -> bool:
        """Whether the presenter's notes go into a bundle."""
        return not self._window.settings.is_on(WITHOUT_NOTES)

    def toggle_notes(self) -> None:
        """Have the notes go into bundles, or not."""
        self._window.settings.keep(WITHOUT_NOTES, self.packs_notes)

    def save_bundle(self) -> None:
        """Ask for a file, and put the open lecture or a lesson of one's own there, with all it names."""
        from PySide6.QtWidgets import QFileDialog  # not needed for the first paint

        from lmviz.desktop.association import BUNDLE_ENDING

        path = self._file
        if path is None:
            return
        kinds, usual = f"Bundles (*{BUNDLE_ENDING})", f"{path.stem}{BUNDLE_ENDING}"
        name, _ = QFileDialog.getSaveFileName(self._parent, "Save a bundle for students", usual, kinds)
        if name:
            self.pack(path, Path(name) if name.endswith(BUNDLE_ENDING) else Path(name + BUNDLE_ENDING))

    def pack(self, path: Path, out: Path) -> None:
        """Write the lecture or lesson of a file as a bundle."""
        from lmviz.lectures.bundle import pack

        def write() -> tuple[Path, int]:
            written = pack(path, out, names, notes=notes)
            return written, written.stat().st_size

        def tell(written: tuple[Path, int]) -> None:
            out, size = written
            self.packed.emit(out)
            Toast.show_over(self._parent, f"Saved {out.name}, {size / 1e6:.1f} MB.")

        names, notes = perspective_names(), self.packs_notes
        work = self._window.session.work
        work.start_job(f"Packing {path.name}", lambda report: write(), tell, self)

    def save_pages(self) -> None:
        """Ask for a folder, and write the open lecture or lesson there as pages for a web server."""
        from PySide6.QtWidgets import QFileDialog  # not needed for the first paint

        shown = self._lectures.lecture or self._lesson
        if shown is None:
            return
        name = QFileDialog.getExistingDirectory(self._parent, "Save pages for a web server into a folder")
        if name:
            self.write_pages(shown, Path(name))

    def write_pages(self, shown: Lecture | Lesson, out: Path) -> None:
        """Write a lecture or a lesson as pages into a folder."""
        from lmviz.lectures.course_page import CourseFolder, write_lecture, write_lesson
        from lmviz.lectures.lecture import Lecture

        def write(report: Report) -> CourseFolder:
            if isinstance(shown, Lecture):
                return write_lecture(shown, out, names, report)
            return write_lesson(shown, out, names, report)

        def tell(written: CourseFolder) -> None:
            self.packed.emit(written.folder)
            Toast.show_over(self._parent, f"Saved {len(written.pages)} pages in {written.folder.name}.")

        names, work = perspective_names(), self._window.session.work
        work.start_job(f"Writing pages of {shown.title}", write, tell, self)

    def open_bundle(self, path: Path) -> None:
        """Unpack a bundle beside lmviz's data; `unpacked` gives the lecture or lesson in it."""
        from lmviz.lectures.bundle import unpack

        work = self._window.session.work
        work.start_job(f"Unpacking {path.name}", lambda report: unpack(path), self.unpacked.emit, self)

    def save_handout(self) -> None:
        """Ask for a file, and make a handout of the lecture that is open, or of the lesson one is in."""
        from PySide6.QtWidgets import QFileDialog  # not needed for the first paint

        from lmviz.app.window.handout import HandoutMaker

        if not self.can_make_handout:
            return
        name, _ = QFileDialog.getSaveFileName(self._parent, "Save a handout", "handout.pdf", HANDOUTS)
        if not name:
            return
        path = Path(name) if Path(name).suffix else Path(f"{name}.pdf")
        title, about, items, language = self._shown()
        lesson = self._lesson
        self._came_from = lesson, self._window.session.lesson.number
        self._handout = HandoutMaker(self._window, self._parent, self._lectures.put_on)
        self._handout.finished.connect(self._end_handout)
        self._handout.make(title, about, items, path, language)
        self.changed.emit()

    def save_answers(self) -> None:
        """Ask for a file, and write the answers to all that the open lecture or lesson asks."""
        from PySide6.QtWidgets import QFileDialog  # not needed for the first paint

        from lmviz.app.window.handout import printed_answers, save_printed

        if not self.can_save_pages:
            return
        name, _ = QFileDialog.getSaveFileName(self._parent, "Save the answers", "answers.pdf", HANDOUTS)
        if not name:
            return
        path = Path(name) if Path(name).suffix else Path(f"{name}.pdf")
        title, _, items, language = self._shown()
        save_printed(printed_answers(title, items, language), path, self._window, self._parent)

    def _shown(self) -> tuple[str, str, tuple[LectureItem, ...], str]:
        """The title of what is open, what it is about, its items, and its language."""
        from lmviz.lectures.lecture import steps_of

        lecture, lesson = self._lectures.lecture, self._lesson
        if lecture is not None:
            return lecture.title, lecture.about, lecture.items, lecture.language
        assert lesson is not None, "one of the two is open"
        return lesson.title, lesson.about, steps_of(lesson), lesson.language

    def _end_handout(self) -> None:
        """Show again what was shown before the handout was made."""
        self._handout = None
        lesson, step = self._came_from
        if self._lectures.lecture is not None:
            self._lectures.go_to(self._lectures.number)
        elif lesson is not None:
            self._window.lessons.open(lesson, step)
        self.changed.emit()

    def close(self) -> None:
        """Leave a handout that is being made."""
        if self._handout is not None:
            self._handout.stop()
