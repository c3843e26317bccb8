"""Dice that fall as they are told."""

from random import Random


class Dice(Random):
    """Falls as it is told, each face in the middle of one of the equal parts of [0, 1)."""

    def __init__(self, thrown: tuple[int, ...], faces: int) -> None:
        super().__init__()
        self.thrown, self.faces = iter(thrown), faces

    def random(self) -> float:
        return (next(self.thrown) + 0.5) / self.faces
