"""Opens what was open when the last session ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.text.corpus_options import CorpusOptions

if TYPE_CHECKING:
    from lmviz.app.opening.first_screen import FirstScreen
    from lmviz.app.opening.settings import LastSession
    from lmviz.app.session.session import Session


def open_last(session: Session, last: LastSession, first: FirstScreen | None = None) -> None:
    """Open what the last session had open, in place of the first screen."""
    if last.sources:
        source = last.sources[0] if len(last.sources) == 1 else last.sources
        try:
            options = CorpusOptions.from_values(last.corpus_options)
            session.text.open(source, options, target=last.target or None)
        except LmvizError as sentence:
            session.text.failed.emit(str(sentence))
    untouched = "" if first is None else first.trace.text
    if first is not None and first.model in session.library.models and str(first.model.folder) != last.run:
        session.library.close(first.model)
    for run in last.runs:
        session.library.open(run, last.step if run == last.run and not last.live else None)
    session.special_tokens.read_as_letters(last.spells_out)
    session.reading.set_source(last.translated)
    if session.reading.prefix in ("", untouched):
        session.reading.set_prefix(last.prefix)
