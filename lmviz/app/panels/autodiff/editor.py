"""The network as a few lines of text, and those that come with lmviz."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.text.network_editor import NetworkEditor
from lmviz.autodiff.modules.table import MODULES

FILES = "Networks (*.net *.txt);;All files (*)"
OTHER = "own network"


class EditorPanel(Panel):
    """The text, its faults at their lines, and a picker of networks; what is typed is read at once."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("autodiff_editor_view")
        self._editor = named(NetworkEditor(tuple(MODULES)), "autodiff_editor")
        self._picker = picker("network_picker", "network", least=12)
        self._shipped = session.network.shipped
        self._picker.addItems([each.title for each in self._shipped])
        self._said = MutedLine()
        self._fault = Label(name="autodiff_fault", role="warning", wraps=True)
        self._open = LinkButton("open_network_button", "open…", "open a network from a text file")
        self._save = LinkButton("save_network_button", "save…", "save the network as a text file")
        self._torch = LinkButton("torch_button", "as PyTorch", "copy the same network as a PyTorch program")
        actions = row(self._open, self._save, self._torch, STRETCH)
        body = column(self._picker, (self._editor, 1), self._fault, self._said, actions)
        self._card = self.add_card("Network", "", body)
        self._editor.text_written.connect(session.network.write)
        self._editor.line_hovered.connect(self._hover_line)
        self._picker.activated.connect(lambda at: session.network.open_shipped(self._shipped[at].name))
        self._open.clicked.connect(self._open_file)
        self._save.clicked.connect(self._save_file)
        self._torch.clicked.connect(self._copy_torch)
        self.show_failures(session.network)
        self.follow(
            session.network.text_changed,
            session.network.numbers_changed,
            session.network_focus.module_changed,
        )

    def recipe(self) -> str:
        """The network as Python, with its numbers of now; none while its text has faults."""
        if self.session.network.faults:
            return ""
        text = self.session.network.text
        return f'import lmviz\n\nnet = lmviz.autodiff.read("""\n{text}\n""")\nnet.forward()\nnet.backward()\n'

    def refresh(self) -> None:
        network = self.session.network
        net = network.current
        self._editor.set_text(network.text)
        self._editor.set_faults({fault.line: fault.sentence for fault in network.faults})
        first = next(iter(network.faults), None)
        self._fault.setText("" if first is None else f"Line {first.line}: {first.sentence}")
        self._fault.setVisible(first is not None)
        self._torch.setEnabled(first is None)
        self._mark_lines()
        if first is None:
            modules, size = len(net.tape.modules), net.size
            said = f"{_amount(modules, 'module')} · {_amount(size, 'parameter')} · no mistake"
        else:  # what the network has that was read before is not what stands here
            said = _amount(len(network.faults), "mistake")
        self._said.set_text(said)
        titles = [each.title for each in self._shipped]
        if network.title in titles:
            self._picker.setCurrentIndex(titles.index(network.title))
        else:
            self._picker.setCurrentIndex(-1)
            self._picker.setPlaceholderText(network.title or OTHER)

    def _mark_lines(self) -> None:
        """Which lines are on the tape, and which is pointed at: of a text with mistakes, none is."""
        net = self.session.network.current
        lines = {} if self.session.network.faults else net.lines
        self._editor.set_lit(lines.get(self.session.network_focus.module, 0))
        popped = {lines[node.name] for node in net.tape.modules if lines and net.tape.is_reached(node)}
        on = {lines[node.name] for node in net.tape.entries if lines}
        self._editor.set_marks(dict.fromkeys(popped, "‹") | dict.fromkeys(on, "›"))

    def _hover_line(self, line: int) -> None:
        if self.session.network.faults:  # the lines are no longer those of the network
            return
        net = self.session.network.current
        of_line = [name for name, its in net.lines.items() if its == line]
        computed = [name for name in of_line if net[name] in net.tape.modules]
        found = computed[-1:] or of_line[:1]
        self.session.network_focus.hover_module(found[0] if found else "")

    def _open_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Open a network", "", FILES)
        if name:
            self.session.network.open_file(Path(name))

    def _save_file(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save the network", "mine.net", FILES)
        if name:
            self._editor.hand_over()
            self.session.network.save_file(Path(name))

    def _copy_torch(self) -> None:
        self._editor.hand_over()
        if not self.session.network.faults:
            QGuiApplication.clipboard().setText(self.session.network.current.torch)
            self._said.set_text("The program for PyTorch is on the clipboard.")


def _amount(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
