"""Pages out of sight, which another theme reaches when they are shown.

Qt styles every widget that was ever shown, seen or not: with all perspectives built there are 3,600, of
which one sees a few hundred, and a change of theme took half a second. So the widgets of a hidden page are
marked such that Qt passes them over: as not polished, and as having a style of their own. Hidden pages are
perspectives, and within one that is seen the panels behind others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

POLISHED, OWN_STYLE = Qt.WidgetAttribute.WA_WState_Polished, Qt.WidgetAttribute.WA_SetStyle
PASSED_OVER = "passed_over"

_keeper: QWidget | None = None


def pass_over_hidden(pages: Iterable[QWidget]) -> None:
    """Mark what is on those of some pages that are hidden, before a sheet is taken from the application.

    A page that was `passed_over`, as its property says, calls `style_now` before it is shown.
    """
    global _keeper
    for page in pages:
        if isValid(page) and page.isHidden() and not page.isWindow():  # nothing was shown in none
            if _keeper is None or not isValid(_keeper):
                # As long as any widget has a sheet, Qt remembers which fonts and colours sheets have
                # replaced, and gives them back to what was passed over before it styles that again.
                _keeper = QWidget(page)  # of a page, with which it goes
                _keeper.hide()
                _keeper.setStyleSheet("QFrame { }")
            page.setProperty(PASSED_OVER, True)
            for widget in _within(page):
                if widget.testAttribute(POLISHED) and not widget.testAttribute(OWN_STYLE):
                    widget.setAttribute(POLISHED, False)
                    widget.setAttribute(OWN_STYLE, True)


def style_now(page: QWidget) -> None:
    """Style what was passed over, as Qt would have done, but for pages on it that stay hidden."""
    page.setProperty(PASSED_OVER, False)
    found = list(_within(page))
    inner = [each for each in found if each.isHidden() and each.property(PASSED_OVER)]
    later = {within for each in inner for within in (each, *each.findChildren(QWidget))}
    left = [
        widget
        for widget in found
        if widget not in later and widget.testAttribute(OWN_STYLE) and not widget.testAttribute(POLISHED)
    ]
    for widget in left:
        widget.setAttribute(OWN_STYLE, False)
    for kind in (QEvent.Type.Polish, QEvent.Type.StyleChange):
        for widget in left:
            if isValid(widget):
                QCoreApplication.sendEvent(widget, QEvent(kind))


def _within(page: QWidget) -> Iterator[QWidget]:
    """A page and all within it, from without, lists of choices too, but no panel in a window of its own."""
    own = page.window()
    yield page
    for widget in page.findChildren(QWidget):
        window = widget.window()
        if window is own or window.windowType() == Qt.WindowType.Popup:
            yield widget
