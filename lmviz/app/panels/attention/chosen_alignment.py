"""Which attention to the source the panels of a translation show: the head that the session has chosen."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.app.session.attention_heads import CROSS, Head
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.inspection.alignment import SourceAttention, source_attentions, written_words
from lmviz.text.tokenizer import visible

NO_ALIGNMENT = (
    "This model sees its source only through the encoder's last state, so no word of it is aligned. "
    "A translator trained with attention “dot” or “bilinear”, or a Transformer, shows an alignment."
)


@dataclass(frozen=True)
class ChosenAlignment:
    """The attention to the source of a reading that is shown.

    `heads` are those (layer, head) that are shown together, one or several; `written` are the words of the
    rows and `source` those of the columns, as they are shown.
    """

    reading: Reading
    attention: SourceAttention
    layer: int
    head: int
    heads: tuple[Head, ...]
    has_heads: bool
    written: tuple[str, ...]
    source: tuple[str, ...]


def chosen_alignment(session: Session) -> ChosenAlignment | None:
    """What the session has chosen of its reading; None where the reading has no attention to a source.

    A head that the model lacks gives way to the nearest that it has.
    """
    reading = session.reading.current
    found = () if reading is None else source_attentions(reading.trace)
    if reading is None or not found:
        return None

    def there(wanted: Head) -> Head:
        layer = min(wanted[0], len(found) - 1)
        return layer, min(wanted[1], found[layer].heads - 1)

    one, heads = session.attention.chosen_of(CROSS)
    layer, head = there(one)
    several = tuple(dict.fromkeys(map(there, heads)))
    attention = found[layer]
    return ChosenAlignment(
        reading=reading,
        attention=attention,
        layer=layer,
        head=head,
        heads=several if len(several) > 1 else ((layer, head),),
        has_heads=reading.trace[attention.weights].axes[0] == "head",
        written=tuple(map(visible, written_words(reading.trace))),
        source=tuple(reading.names("source")),
    )


def out_of_translation(model: OpenedModel, what: str) -> str:
    """Why a model that reads no source has nothing to show, and what would show it; empty where it has."""
    if model.reads_picture:
        return f"{model.name} {model.does}, which it reads once. Open a model that translates to see {what}."
    if model.reads_source:
        return ""
    return f"{model.name} reads no source. Open a model that translates to see {what}."
