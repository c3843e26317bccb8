"""A picture of the whole model at one word; which one depends on what its trace holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget

from lmviz.app.panels.inside.ladder_page import LadderPage
from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.inside.unrolled_page import UnrolledPage
from lmviz.app.panels.inside.whole_model_page import WholeModelPage
from lmviz.app.panels.inside.window_page import WindowPage
from lmviz.app.panels.panel import Panel
from lmviz.app.session.offers import FIRST_MODEL, MODEL_OFFER
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.diagrams.ladder import LadderView
from lmviz.app.widgets.diagrams.unrolled import UnrolledView
from lmviz.app.widgets.diagrams.whole_model import WholeModelView
from lmviz.app.widgets.diagrams.word_window import WordWindowView
from lmviz.inspection.recipes.recipe import arrays_recipe

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.panels.inside.page import Page
    from lmviz.app.session.reading import Reading
    from lmviz.app.session.session import Session
    from lmviz.inspection.gradient import Gradient


class PicturePanel(Panel):
    """Shows the first page that fits the trace."""

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("picture_view")
        self._unrolled, self._whole = UnrolledPage(self), WholeModelPage(self)
        self._ladder, self._window = LadderPage(self), WindowPage(self)
        self._all: tuple[Page, ...] = (self._ladder, self._window, self._unrolled, self._whole)
        leave_arrow_keys(self, *self._unrolled.views, self._whole.view, self._ladder.view, self._window.view)
        self._page: Page | None = None
        self._reading: Reading | None = None
        self._position = -1
        self._gradient: Gradient | None = None
        self._pages = QStackedWidget()
        for page in self._all:
            self._pages.addWidget(page.widget)
        self._invitation = Invitation("picture_invitation")
        self._invitation.accepted.connect(lambda: session.library.open(FIRST_MODEL))
        self._pages.addWidget(self._invitation)
        self._card = Card("Picture", "", self._pages)
        self.column.addWidget(self._card)
        self.follow(
            session.library.model_changed,
            session.reading.prefix_changed,
            session.reading.changed,
            session.focus.position_changed,
            session.focus.hovered_position_changed,
            session.focus.stage_changed,
            session.gradients.changed,
            session.gradients.shown_changed,
        )

    @property
    def unrolled(self) -> UnrolledView:
        """The picture of a recurrence over the text."""
        return self._unrolled.unrolled

    @property
    def whole(self) -> WholeModelView:
        """The picture of layers on a stream."""
        return self._page.view if isinstance(self._page, WholeModelPage) else self._whole.view

    @property
    def ladder(self) -> LadderView:
        """The picture of back-off."""
        return self._ladder.view

    @property
    def window_view(self) -> WordWindowView:
        """The picture of a fixed window."""
        return self._window.view

    @property
    def page(self) -> Page | None:
        """The page that is shown; None where there is nothing to draw."""
        return self._page

    def exported_arrays(self) -> dict[str, np.ndarray]:
        reading = self.session.reading.current
        if reading is None or self._page is None:
            return {}
        found, names = self.session.gradients.current, self._page.addresses(reading.trace)
        if found is not None:
            return {f"gradient/{name}": found[name].array for name in names if name in found}
        return {name: reading.trace[name].array for name in names}

    def recipe(self) -> str:
        reading = self.session.reading.current
        if reading is None or self._page is None or self.session.gradients.current is not None:
            return ""
        return arrays_recipe(reading.moment, self._page.addresses(reading.trace))

    def refresh(self) -> None:
        reading = self.session.reading.current
        page = (
            None if reading is None else next((page for page in self._all if page.fits(reading.trace)), None)
        )
        if self._page is not None and page is not self._page:
            self._page.forget()
        self._page = page
        if reading is None or page is None:
            self._reading = None
            self._card.set_title("Picture")
            self._card.set_aside("")
            self._invite()
            return
        # Before it is drawn: a page out of sight would not learn how large it has become.
        self._pages.setCurrentWidget(page.widget)
        position = self.session.reading.position
        title, aside = page.title(reading, position)
        self._card.set_title(title)
        self._card.set_aside(aside)
        gradient = self.session.gradients.current
        drawn = (self._reading, self._position, self._gradient)
        if reading is not drawn[0] or position != drawn[1] or gradient is not drawn[2]:
            self._reading, self._position, self._gradient = reading, position, gradient
            page.show(reading, position)
        page.mark(reading)

    def handle_failure(self, key: str) -> None:
        """What could not be drawn is asked again with the next change."""
        self._reading = None

    def _invite(self) -> None:
        """Show a sentence that says what to do in place of the picture."""
        self._pages.setCurrentWidget(self._invitation)
        if self.session.library.model is None:
            self._invitation.invite("Open or train a model to look inside.", MODEL_OFFER)
        elif self.session.reading.current is not None:
            self._invitation.invite(
                "A table of probabilities has no layers to draw: its stages stand beside."
            )
        else:
            is_coming = bool(self.session.reading.prefix)
            self._invitation.invite("" if is_coming else "Type a prefix above to see its computation.")
