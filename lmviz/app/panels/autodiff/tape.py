"""The tape: a step forward pushes a module, a step back pops it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QGridLayout, QPushButton

from lmviz.app.panels.autodiff.network_panel import NetworkPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.tables.tape_list import HEIGHT, ON, POPPED, WAITING, TapeEntry, TapeList
from lmviz.autodiff import Node
from lmviz.autodiff.names import label
from lmviz.autodiff.node import INPUT

BEAT = 700  # milliseconds from one step to the next while it plays


class TapePanel(NetworkPanel):
    """The stack of modules with its steps; the space bar plays it forward and then back."""

    can_play = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.tape = TapeList()  # the stack itself
        network = session.network
        self._push = _button("tape_forward", "push ▸", "compute the next module and push it", network.push)
        self._pop = _button("tape_backward", "◂ pop", "pop a module and send its gradient back", network.pop)
        self._forward = _button("tape_run_forward", "forward", "compute every value", network.run_forward)
        self._backward = _button(
            "tape_run_backward", "backward", "compute every gradient", network.run_backward
        )
        self._empty = _button("tape_rewind", "empty", "take everything off the tape", network.rewind)
        self._pop.setProperty("role", "primary")
        self._beat = QTimer(self, interval=BEAT)
        self._beat.timeout.connect(self._play_on)
        buttons = QGridLayout()
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.addWidget(self._push, 0, 0, 1, 3)
        buttons.addWidget(self._pop, 0, 3, 1, 3)
        for place, button in enumerate((self._forward, self._backward, self._empty)):
            buttons.addWidget(button, 1, 2 * place, 1, 2)
        self._area = scrolling(self.tape)
        body = column(buttons, (self._area, 1))
        self._card = self.add_card("Tape", "", body)
        self.tape.entry_hovered.connect(session.network_focus.hover_module)
        session.network_focus.module_changed.connect(lambda: self.tape.set_lit(session.network_focus.module))
        self.follow(network.network_changed, network.numbers_changed)

    @property
    def entries(self) -> tuple[TapeEntry, ...]:
        """What is shown, the bottom first."""
        return self.tape.entries

    @property
    def is_playing(self) -> bool:
        """Whether it steps by itself."""
        return self._beat.isActive()

    def toggle_play(self) -> None:
        """Step by itself: forward to the end, then back to an empty tape."""
        if self._beat.isActive():
            self._beat.stop()
        else:
            if self.session.network.current.tape.is_swept:
                self.session.network.rewind()
            self._beat.start()

    def refresh(self) -> None:
        tape = self.session.network.current.tape
        on = len(tape)
        entries = []
        for place, node in enumerate(tape.modules):
            state = ON if place < on else POPPED if place < tape.pushed else WAITING
            entries.append(self._entry(node, state, is_top=place == on - 1, is_after=place == on))
        self.tape.set_entries(entries)
        self._card.set_aside(f"{tape.pushed} pushed · {tape.popped} popped")
        self._push.setEnabled(bool(tape.popped) or not tape.is_complete)
        self._pop.setEnabled(bool(on))
        self._backward.setEnabled(not tape.is_swept)
        QTimer.singleShot(0, self, self._come_into_sight)  # when the list is as high as its entries

    def _come_into_sight(self) -> None:
        """Scroll to what is pushed or popped next, or was popped last."""
        tape = self.session.network.current.tape
        if tape.modules:
            at = len(tape) - 1 if tape.is_complete else len(tape)
            middle = self.tape.part_rectangle(max(0, min(at, len(tape.modules) - 1))).center().toPoint()
            self._area.ensureVisible(middle.x(), middle.y(), 0, round(1.5 * self.tape.length(HEIGHT)))

    def _entry(self, node: Node, state: str, *, is_top: bool, is_after: bool) -> TapeEntry:
        assert node.module is not None
        tape = self.session.network.current.tape
        words, is_next = "", False
        if is_top and tape.is_complete:
            words, is_next = "next to pop", True
        elif is_after and state == WAITING:
            words, is_next = "next to push", True
        elif is_after and state == POPPED:
            words = "just popped"
        handed = [
            f"g {label(input.name)}"
            for input in node.inputs
            if state == POPPED and input.kind != INPUT and "·" not in input.name
        ]
        name = "" if "·" in node.name else label(node.name)
        word = node.module.word.replace("_", " ")
        return TapeEntry(node.name, word, name, state, ", ".join(handed), words, is_next)

    def _play_on(self) -> None:
        network = self.session.network
        tape = network.current.tape
        if not self.is_in_sight or tape.is_swept:
            self._beat.stop()
        elif tape.is_complete:
            network.pop()
        else:
            network.push()


def _button(name: str, words: str, description: str, act: Callable[[], None]) -> QPushButton:
    button = named(QPushButton(words), name, description)
    button.setToolTip(paragraph(description))
    button.clicked.connect(lambda _=False: act())
    return button
