"""`lmviz train --race`: several trainings in turn, a bar for each, and a table of what they came to."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.cli.terminal import print_json, print_table, say, stopping, training_bars

if TYPE_CHECKING:
    from lmviz.runs.race_table import LaneResult
    from lmviz.runs.racing import PlannedLane
    from lmviz.text.corpus import Corpus
    from lmviz.training.race import Race


def varied(values: dict[str, str]) -> dict[str, Any]:
    """`--race name=1,2,3` as the list of its values; LmvizError where there is only one."""
    lists = {name: [word.strip() for word in words.split(",")] for name, words in values.items()}
    for name, words in lists.items():
        if len(words) < 2:
            raise LmvizError(f"--race {name} has one value: give several, separated by commas, or use --set.")
    return lists


def say_memory(lanes: Sequence[PlannedLane], corpus: Corpus) -> None:
    """Say how much memory lanes take together, before it is taken; LmvizError where it is too much."""
    from lmviz.runs.racing import needed_memory

    needed = needed_memory(lanes, corpus) / 1e6
    say(f"{len(lanes)} trainings in turn, which take about {needed:,.1f} MB of memory together.")


def run_race(race: Race, out: str, as_json: bool) -> int:
    """Train all lanes to the end under their bars, and print what they came to; the exit code."""
    from lmviz.runs.race_folder import open_race
    from lmviz.runs.race_table import lane_results

    with (
        stopping(race.stop) as caught,
        training_bars([lane.name for lane in race.lanes]) as show,
    ):
        for lane, progress in race:
            show(lane.name, progress)
    results = lane_results(open_race(Path(out)).lanes)
    _report(race, results, out, as_json)
    if caught:
        say(f"Continue with: lmviz train --resume --out {shlex.quote(out)}")
        return 128 + caught[0]
    return 1 if any(lane.trouble for lane in race.lanes) else 0


def _report(race: Race, results: tuple[LaneResult, ...], out: str, as_json: bool) -> None:
    from lmviz.runs.race_labels import value_in_words
    from lmviz.runs.race_table import bands

    troubles = {lane.name: lane.trouble for lane in race.lanes}
    if as_json:
        lanes = [
            {
                "lane": result.name,
                "settings": dict(result.settings),
                "step": result.step,
                "steps": result.steps,
                "loss": result.loss,
                "validation_loss": result.validation,
                "best": result.best,
                "tokens_per_second": result.speed,
                "stopped": troubles.get(result.name) or result.trouble or result.state,
            }
            for result in results
        ]
        print_json({"race": out, "turns": race.turns, "lanes": lanes})
        return
    names = list(dict.fromkeys(name for result in results for name in result.settings)) or ["lane"]
    rows = [
        [
            *(result.settings.get(name, result.name if name == "lane" else None) for name in names),
            *map(_rounded, (result.loss, result.validation, result.best)),
            None if result.speed is None else round(result.speed),
            f"stopped at step {result.step:,}" if troubles.get(result.name) else result.state,
        ]
        for result in results
    ]
    print_table([*names, "loss", "validation", "best", "tokens/s", "state"], rows)
    for band in bands(results):
        which = ", ".join(f"{name}={value_in_words(value)}" for name, value in band.settings.items())
        print(
            f"{which + ': ' if which else ''}best {band.mean:.4f} on average over {len(band.lanes)} seeds, "
            f"from {band.lowest:.4f} to {band.highest:.4f}."
        )
    for name, trouble in troubles.items():
        if trouble:
            print(f"{name}: {trouble}")


def _rounded(loss: float | None) -> float | None:
    return None if loss is None else round(loss, 4)
