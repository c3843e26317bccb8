"""Widgets whose height follows from their width, such as a text in lines."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Generic, TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas

Layout = TypeVar("Layout")
KEPT = 4  # layouts: Qt asks for the heights of several widths again and again, and the text may be long


class HighAsWide(Canvas):
    """A canvas whose height follows from its width: subclasses override `heightForWidth`."""

    takes_height: ClassVar[bool] = False
    """Whether it gets more height than it needs where there is some."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        kinds = QSizePolicy.Policy
        policy = QSizePolicy(kinds.Expanding, kinds.Expanding if self.takes_height else kinds.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True


class InLines(Generic[Layout], HighAsWide):
    """Subclasses say how they are laid out in a width and how high that is, and call `lay_out_anew`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layouts: dict[tuple[int, float], Layout] = {}

    @abstractmethod
    def lay_out(self, width: int) -> Layout:
        """Where everything stands in a width in pixels."""

    @abstractmethod
    def height_of(self, layout: Layout) -> float:
        """How high that is, in pixels."""

    def laid_out(self, width: int | None = None) -> Layout:
        """Where everything stands, in another width than that of the widget where one is given."""
        key = (self.width() if width is None else width, self.theme.scale)
        if key not in self._layouts:
            while len(self._layouts) >= KEPT:
                del self._layouts[next(iter(self._layouts))]
            self._layouts[key] = self.lay_out(key[0])
        return self._layouts[key]

    def lay_out_anew(self) -> None:
        """Forget where things stood: they are others, or have other sizes."""
        self._layouts.clear()
        self.updateGeometry()
        self.update()

    def adopt_theme(self) -> None:
        self._layouts.clear()
        super().adopt_theme()

    def heightForWidth(self, width: int) -> int:
        return round(self.height_of(self.laid_out(width)))

    def sizeHint(self) -> QSize:
        width = self.width() if self.testAttribute(Qt.WidgetAttribute.WA_Resized) else round(self.length(480))
        return QSize(width, self.heightForWidth(width))
