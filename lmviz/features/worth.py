"""What a dictionary is worth, measured on text that it was not learned from."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.base.figures import percentage


@dataclass(frozen=True)
class Worth:
    """What features keep of the states of `tokens` held-out tokens, and of the model's loss on them.

    `variance_explained` is the share of the states' variance around their mean. `active` is how many
    features are on at a token (L0), `silent` how many never are on this text. The losses are in nats a
    predicted token: the model's own, and with the reconstruction, the mean or zeros in place of the states;
    None where the model predicts no tokens. The first state of a text stays as it is.
    """

    tokens: int
    variance_explained: float
    active: float
    silent: int
    loss: float | None = None
    loss_reconstructed: float | None = None
    loss_mean: float | None = None
    loss_zeros: float | None = None

    @property
    def recovered(self) -> float | None:
        """Where the loss stands between the mean's, 0, and the model's own, 1; None if it was not measured.

        Never shown alone: near 1 it hides what is lost.
        """
        return _share(self.loss, self.loss_reconstructed, self.loss_mean)

    @property
    def recovered_of_zeros(self) -> float | None:
        """The same between the loss with zeros in place of the states and the model's own."""
        return _share(self.loss, self.loss_reconstructed, self.loss_zeros)

    @property
    def sentence(self) -> str:
        """What the features are worth, in a sentence."""
        explained = f"{percentage(self.variance_explained)} of the variance"
        if self.loss is None or self.loss_reconstructed is None or self.loss_mean is None:
            return f"They explain {explained}."
        return (
            f"They explain {explained}, and with them in their place the loss is "
            f"{self.loss_reconstructed:.3f}, between the model's own, {self.loss:.3f}, and that with the "
            f"mean, {self.loss_mean:.3f}."
        )


def _share(own: float | None, reconstructed: float | None, without: float | None) -> float | None:
    if own is None or reconstructed is None or without is None or without == own:
        return None
    return (without - reconstructed) / (without - own)
