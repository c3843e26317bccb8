"""What the panels of Features have in common: whose features they show, and what there has to be before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmviz.app.session.features import OpenedDictionary, why_no_features
from lmviz.app.session.opened_model import Moment
from lmviz.app.session.session import Session

if TYPE_CHECKING:
    from lmviz.features.feature_reading import FeatureReading, NamedWords

NO_MODEL = "Open a model to look at its features."
NO_FEATURES = (
    "A dictionary takes the states of a model apart into features, each of which is on in few places. "
    "Open one, or find one."
)
NO_TEXT = "Open a text: what features do is read off it."
READING = "The text is being read."
FOLLOWS = ("features.changed", "features.chosen_changed", "features.named", "library.model_changed")


@dataclass(frozen=True, eq=False)
class AskedFeature:
    """The feature that is looked at, with the dictionary, its reading, and the model that was read."""

    opened: OpenedDictionary
    reading: FeatureReading
    number: int
    moment: Moment

    @property
    def key(self) -> tuple[object, ...]:
        """What an answer about it depends on."""
        return self.opened.dictionary, self.reading.tokens, self.number, self.moment

    @property
    def name(self) -> str:
        """The name that a person gave it, or where it fires → what comes next."""
        return name_in_words(self.opened, self.reading, self.number)

    @property
    def recipe(self) -> list[str]:
        """Lines of Python that open the dictionary."""
        return [f"dictionary = lmviz.open_features({str(self.opened.file)!r})"]


def name_in_words(opened: OpenedDictionary, reading: FeatureReading, feature: int) -> str:
    """The name that a person gave a feature, or where it fires → what comes next."""
    return opened.name_of(feature) or f"{reading.at(feature)} → {reading.next(feature)}"


def asked_feature(session: Session) -> AskedFeature | str:
    """The feature that is looked at; or the sentence that says what there has to be first."""
    features = session.features
    features.renew()
    missing = what_is_missing(session)
    if missing:
        return missing
    opened, reading, moment = features.opened, features.reading, features.moment
    if opened is None or reading is None or moment is None or features.chosen < 0:
        return READING
    return AskedFeature(opened, reading, features.chosen, moment)


def what_is_missing(session: Session) -> str:
    """What there has to be before features can be looked at; empty where nothing is missing."""
    model, features = session.library.model, session.features
    if model is None:
        return NO_MODEL
    if why_no_features(model):
        return why_no_features(model)
    if features.opened is None:
        return NO_FEATURES
    return NO_TEXT if features.needs_text else ""


def named(words: NamedWords) -> str:
    """Words with their quotation marks, "many words" without."""
    shown = [f"“{word}”" for word, _ in words.standing_out]
    return ", ".join(shown) if shown else str(words)
