"""Parts of an example that stand in several cells or in a list: several labels, or texts that are joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.encodings import RECOGNISED
from lmviz.text.label_names import Names, label_name, names_of_column
from lmviz.text.layout import Layout, column_name
from lmviz.text.list_cells import items_of
from lmviz.text.table import Record
from lmviz.text.task_text import Complaints

NONE = "none"
"""The label of a text none of whose columns of 0 and 1 has a 1."""

BETWEEN_LABELS = " + "
"""What stands between the names of several labels that are one class."""

FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "1.0", "true", "yes"), True),
    **dict.fromkeys(("0", "0.0", "false", "no", ""), False),
}
"""What says whether a text has a label, in small letters."""


class JoinedParts:
    """Makes one cell of each part; counts the texts that have several labels."""

    def __init__(self, options: CorpusOptions, label_names: Names) -> None:
        self._several, self._between = options.several, options.between
        self._label_names = label_names
        self.several = 0
        self._labelled = 0

    def watch(self, found: Iterator[Record], layout: Layout) -> Iterator[Record]:
        """The records with one cell for each part, if that is not so already."""
        return self._joined(found, layout) if layout.further or layout.lists else found

    def _joined(self, found: Iterator[Record], layout: Layout) -> Iterator[Record]:
        for number, cells, reason in found:
            if reason or not cells:
                yield number, cells, reason
                continue
            made = list(cells)
            for role, place in layout.roles.items():
                if role != "label":
                    made[place] = self._text(cells, layout, role)
            labels = self._labels(cells, layout) if "label" in layout.roles else None
            if labels is not None:
                self._labelled += 1
                self.several += len(labels) > 1
                if len(labels) > 1 and self._several == "single":
                    continue
                made[layout.roles["label"]] = self._label(labels)
            elif "label" in layout.roles:
                self._labelled += 1
            yield number, made, reason

    def _text(self, cells: Sequence[str], layout: Layout, role: str) -> str:
        """The text of a role: the words of a list with spaces between them, several texts with a mark."""
        places = layout.places(role)
        texts = [_words(cells[place]) if place in layout.lists else cells[place] for place in places]
        if len(places) == 1:
            return texts[0]
        return f" {self._between} ".join(text.strip() for text in texts if text.strip())

    def _labels(self, cells: Sequence[str], layout: Layout) -> Sequence[str] | None:
        """The labels of a text where it may have several; None where its cell is its label."""
        places = layout.places("label")
        if len(places) > 1:
            told = [cells[place].strip() for place in places]
            if all(cell.lower() in FLAGS for cell in told):
                names = [column_name(layout.names, place) for place in places]
                return [name for name, cell in zip(names, told, strict=True) if FLAGS[cell.lower()]] or [NONE]
            return list(dict.fromkeys(cell for cell in told if cell))
        items = items_of(cells[places[0]].strip()) if places[0] in layout.lists else None
        if items is None:
            return None
        known = names_of_column(self._label_names, layout.names[places[0]])
        return list(dict.fromkeys(label_name(item, known) for item in items))

    def _label(self, labels: Sequence[str]) -> str:
        if not labels:
            return ""
        return BETWEEN_LABELS.join(sorted(labels)) if self._several == "set" else labels[0]

    def say(self, complaints: Complaints) -> None:
        if self.several:
            complaints.remark(f"{self.sentence}: {_DONE[self._several]}.")

    @property
    def sentence(self) -> str:
        """How many texts have several labels."""
        has = "has" if self.several == 1 else "have"
        return f"{self.several:,} of {self._labelled:,} texts {has} several labels"


_DONE = {
    RECOGNISED: "only the first of each is read",
    "first": "only the first of each is read",
    "single": "they are left out",
    "set": "each set of labels is a class of its own",
}


def _words(cell: str) -> str:
    items = items_of(cell.strip())
    return cell if items is None else " ".join(items)
