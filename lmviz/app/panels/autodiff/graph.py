"""The graph of the network: values as numbered cells, gradients appearing as the sweep reaches them."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QPushButton

from lmviz.app.panels.autodiff.drawn import drawn_units, drawn_values, folding
from lmviz.app.panels.autodiff.network_panel import NetworkPanel
from lmviz.app.session.network_focus import NetworkCell
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, picker, row, sheet, stack
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.diagrams.editable_numbers import EditableNumbers
from lmviz.app.widgets.diagrams.network_picture import NetworkPicture
from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.widgets.diagrams.unit_picture import UnitPicture
from lmviz.app.widgets.diagrams.zoom_buttons import ZoomButtons
from lmviz.autodiff.names import cell_label, label
from lmviz.autodiff.node import COMPUTED, read_address

DIGITS = 6
MODULES, FOLDED = "modules", "folded"
DRAWINGS = (MODULES, "unrolled", FOLDED)
VERSIONS = {"A": "gather", "B": "add up"}
TITLES = {
    "A": "A value asks all its consumers what they hand back, and adds that up.",
    "B": "A module that is popped adds to the gradient of each of its inputs.",
}


class GraphPanel(NetworkPanel):
    """The picture, and the switch between gathering and adding up."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.picture = named(NetworkPicture(), "network_picture")  # the drawing itself
        self._units = named(UnitPicture(), "unit_picture")
        self._drawing = picker("network_drawing_picker", "how the network is drawn", DRAWINGS)
        self._drawing.setToolTip(
            "Every module, or the units of a recurrent network: unrolled over its steps, or folded."
        )
        self._drawing.activated.connect(lambda _: self.refresh())
        self._versions = {version: QPushButton(words) for version, words in VERSIONS.items()}
        group = QButtonGroup(self)
        self._module = MutedLine(right=True)
        for version, button in self._versions.items():
            button.setObjectName(f"version_{version.lower()}_button")
            button.setCheckable(True)
            button.setToolTip(paragraph(TITLES[version]))
            button.clicked.connect(lambda _=False, version=version: session.network.choose_version(version))
            group.addButton(button)
        self._slip = Label("slip: gradients begin at 1", name="graph_slip", role="warning")
        head = sheet(row((self._module, 1), self._slip, *self._versions.values()))
        self._area = scrolling(self.picture, sideways=True)
        self._at = (-1, -1)
        around_units = scrolling(self._units, sideways=True)
        self._pages = stack(self._area, around_units)
        self._area.verticalScrollBar().rangeChanged.connect(self._come_back_into_sight)
        ZoomButtons(self.picture, self._area)
        ZoomButtons(self._units, around_units)
        self._card = self.add_card("Graph", head, self._pages)
        self._card.layout_below.addWidget(self._drawing, 0, Qt.AlignmentFlag.AlignLeft)
        focus = session.network_focus
        for picture in (self.picture, self._units):
            self._connect(picture)
        self.show_failures(session.network)
        focus.cell_changed.connect(self._mark)
        focus.module_changed.connect(self._mark)
        self._title = session.network.title
        session.network.network_changed.connect(self._fit_another)
        self.follow(session.network.network_changed, session.network.numbers_changed)

    def _connect(self, picture: EditableNumbers) -> None:
        """What a person does with the numbers of a drawing."""
        focus, network = self.session.network_focus, self.session.network
        picture.set_readout(self._read_out)
        picture.part_hovered.connect(lambda cell: focus.hover_cell(NetworkCell(*cell) if cell else None))
        picture.part_clicked.connect(lambda cell: focus.choose_cell(NetworkCell(*cell)))
        picture.module_hovered.connect(focus.hover_module)
        picture.number_given.connect(lambda cell, value: network.edit(cell.name, cell.place, value))
        picture.number_released.connect(lambda cell: network.release(cell.name))

    def _fit_another(self) -> None:
        """Draw a network that was opened as at first; one that is edited has no title."""
        before, self._title = self._title, self.session.network.title
        if self._title not in ("", before):
            self._at = (-1, -1)
            self.picture.start_over()
            self._units.start_over()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Each value under its name, and its gradient under "gradient/" and its name."""
        found = {}
        for node in self.session.network.current:
            if node.value is not None:
                found[node.name] = node.value
            if node.gradient is not None:
                found[f"gradient/{node.name}"] = node.gradient
        return found

    def recipe(self) -> str:
        """The gradients from Python."""
        text = self.session.network.current.text
        return (
            f'import lmviz\n\nnet = lmviz.autodiff.read("""\n{text}\n""")\nnet.backward()\n'
            "for value in net:\n    print(value.name, value.value, value.gradient)\n"
        )

    def refresh(self) -> None:
        network = self.session.network
        values, unrolled = drawn_values(network.current)
        self.picture.set_network(values, network.largest_gradient, unrolled=unrolled)
        self._show_units()
        self._versions[network.current.tape.version].setChecked(True)
        self._slip.setVisible(network.has_slip)
        self._say_where()
        self._mark()
        self._come_into_sight()

    def _show_units(self) -> None:
        """Draw the units of a recurrent network where that is chosen, and offer it only for one."""
        network, chosen = self.session.network, self._drawing.currentText()
        found = folding(network.current)
        self._drawing.setVisible(found is not None)
        self._pages.setCurrentIndex(0 if found is None or chosen == MODULES else 1)
        if found is not None and chosen != MODULES:
            self._units.set_folded(chosen == FOLDED)
            self._units.set_units(*drawn_units(network.current, found), network.largest_gradient)

    def _come_into_sight(self) -> None:
        """Scroll to the module that was pushed or popped last, or else to the one that is pushed first."""
        tape = self.session.network.current.tape
        begins = not tape.pushed and self.picture.is_part and bool(tape.modules)
        if (tape.pushed, tape.popped) == self._at or not (tape.pushed or begins):
            return
        node = tape.modules[max(0, min(tape.pushed - tape.popped, tape.pushed - 1))]
        if not self.picture.shows(node.name):  # another network has been opened, and is not drawn yet
            return
        self._at = (tape.pushed, tape.popped)
        middle = self.picture.box_rectangle(node.name).center().toPoint()
        self._area.ensureVisible(middle.x(), middle.y(), 160, 90)

    def _come_back_into_sight(self) -> None:
        """Where a part is in sight, it has another place once the picture has got its size."""
        if self.picture.is_part:
            self._at = (-1, -1)
            self._come_into_sight()

    def _say_where(self) -> None:
        """The title counts the steps of the sweep, and beside it stands the module of the last one."""
        tape = self.session.network.current.tape
        total, node = len(tape.modules), None
        title = f"Forward 0 of {total}"
        if tape.popped:
            node, title = tape.modules[tape.pushed - tape.popped], f"Backward {tape.popped} of {total}"
        elif tape.pushed:
            node, title = tape.modules[tape.pushed - 1], f"Forward {tape.pushed} of {total}"
        self._card.set_title(title)
        if node is None or node.module is None:
            self._module.set_text("")
        else:
            self._module.set_text(f"{node.module.word.replace('_', ' ')} {label(node.name)}")

    def _mark(self) -> None:
        focus, net = self.session.network_focus, self.session.network.current
        cell = focus.shown
        self.picture.set_pinned(ValueCell(*cell))
        self._units.set_pinned(ValueCell(*cell))
        operands = set()
        arithmetic = focus.arithmetic
        for group in () if arithmetic is None else arithmetic.terms:
            for factor in group.factors:
                name, is_gradient = read_address(factor.source)
                if name in net:
                    operands |= {
                        ValueCell(name, tuple(map(int, place)), is_gradient) for place in factor.indices
                    }
        self.picture.set_operands(operands)
        tape = net.tape
        on = tape.entries
        following = tape.modules[tape.pushed : tape.pushed + 1] if not tape.is_complete else on[-1:]
        self.picture.set_lit(focus.module, following[0].name if following else "")

    def _read_out(self, cell: ValueCell) -> tuple[str, list[str]]:
        node = self.session.network.current[cell.name]
        array = node.gradient if cell.is_gradient else node.value
        words = cell_label(cell.name, cell.place)
        if array is None:
            return "", [words]
        if cell.is_gradient:
            return number(float(array[cell.place]), DIGITS), [f"gradient of {words}"]
        how = "double click to type, drag up or down to change"
        if node.kind == COMPUTED:
            held = node.held is not None and node.held[cell.place] == node.held[cell.place]
            how = "set by hand; clear it to have it computed again" if held else how
        return number(float(array[cell.place]), DIGITS), [words, how]
