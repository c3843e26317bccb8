"""What the window remembers of a training."""

from lmviz.app.session.training_state import History
from lmviz.training.progress import Progress


def progress(step: int, **measured: object) -> Progress:
    return Progress(step=step, steps=10, loss=1.0, **measured)


def test_what_is_measured_only_now_and_then_stays_known() -> None:
    history = History()
    history.append(progress(1, update_ratios={"embedding": 0.1}))
    history.append(progress(2))
    assert history.update_ratios == {"embedding": 0.1}
    history.append(progress(3, update_ratios={"embedding": 0.2}))
    assert history.update_ratios == {"embedding": 0.2}
    assert history.loss.steps.tolist() == [1, 2, 3]
