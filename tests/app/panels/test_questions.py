"""Which questions a panel has to ask: neither one that is on its way nor one whose answer is drawn."""

from lmviz.app.panels.questions import Questions


class Asked:
    """Questions under one key, and whether the answer to the last of them is still to come."""

    def __init__(self) -> None:
        self.is_busy = False
        self.questions = Questions(lambda key: self.is_busy)

    def ask(self, question: str) -> None:
        self.questions.begin("key", question)
        self.is_busy = True

    def answer(self, goes_on: bool = False) -> None:
        """An answer comes; with `goes_on` the same question is asked on as it is drawn."""
        self.is_busy = False

        def draw() -> None:
            self.is_busy = goes_on

        self.questions.draw("key", draw)

    def drawn(self) -> list[str]:
        return [question for question in ("one", "other") if self.questions.is_drawn("key", question)]


def test_what_is_drawn_answers_the_question_before_until_the_next_is_answered() -> None:
    asked = Asked()
    asked.ask("one")
    assert asked.questions.is_awaited("key", "one")
    assert not asked.drawn()
    asked.answer()
    assert asked.drawn() == ["one"]
    asked.ask("other")
    assert not asked.questions.is_awaited("key", "one")
    assert asked.drawn() == ["one"]
    asked.answer()
    assert asked.drawn() == ["other"]


def test_a_question_that_goes_on_is_drawn_with_its_last_answer() -> None:
    asked = Asked()
    asked.ask("one")
    asked.answer()
    asked.ask("other")
    asked.answer(goes_on=True)
    assert asked.drawn() == ["one"]
    assert asked.questions.is_awaited("key", "other")
    asked.answer()
    assert asked.drawn() == ["other"]


def test_a_part_of_an_answer_that_grows_is_no_answer_and_not_the_one_before_either() -> None:
    asked = Asked()
    asked.ask("one")
    asked.answer()
    asked.ask("other")
    asked.is_busy = False

    def draw_and_ask_on() -> None:
        asked.questions.replace("key")
        asked.is_busy = True

    asked.questions.draw("key", draw_and_ask_on)
    assert not asked.drawn()
    asked.answer()
    assert asked.drawn() == ["other"]


def test_where_an_answer_asks_something_else_nothing_is_known_of_what_is_drawn() -> None:
    asked = Asked()
    asked.ask("one")
    asked.answer()
    asked.ask("other")
    asked.is_busy = False
    asked.questions.draw("key", lambda: asked.ask("one"))
    assert not asked.drawn()
    assert asked.questions.is_awaited("key", "one")


def test_what_is_forgotten_is_to_be_asked_again() -> None:
    asked = Asked()
    asked.ask("one")
    asked.questions.draw("key", lambda: asked.questions.forget("key"))
    assert not asked.drawn()
    asked.ask("one")
    asked.answer()
    asked.questions.forget("key")
    assert not asked.drawn()
    assert not asked.questions.is_awaited("key", "one")
