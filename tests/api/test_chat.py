"""`lmviz.chat`: the text that a folder's template makes of a chat."""

import pytest
from foreign_tokenizers import CHAT, chat_folder

import lmviz
from lmviz.text.chat import Turn


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("transformers")
    return chat_folder(tmp_path_factory.mktemp("chat") / "little-chat")


@pytest.mark.slow
@pytest.mark.parametrize("turn", [("user", "Who asks?"), ["user", "Who asks?"], Turn("user", "Who asks?")])
def test_it_is_what_the_template_makes_and_the_answer_is_begun(folder, turn):
    model = lmviz.open_model(folder)
    prompt = lmviz.chat(model, [turn])
    assert prompt == lmviz.chat(str(folder), (turn,)) == CHAT
    without = lmviz.chat(model, [turn], answers=False)
    assert prompt.startswith(without)
    assert len(without) < len(prompt)
    assert lmviz.trace(model, prompt).text == prompt


NO_CHATS = [
    ("Hello", "a list of pairs"),
    (7, "a list of pairs"),
    ([], "Nobody speaks"),
    ([("user",)], "is not a turn"),
    (["ab"], "is not a turn"),
    ([("user", 3)], "is not a turn"),
    ([None], "is not a turn"),
]


def test_what_is_no_chat_is_refused(folder):
    """All in one test: the folder is written by one worker."""
    for turns, sentence in NO_CHATS:
        with pytest.raises(lmviz.LmvizError, match=sentence):
            lmviz.chat(folder, turns)


def test_a_model_without_a_template_has_no_chats():
    with pytest.raises(lmviz.LmvizError, match="no template for chats"):
        lmviz.chat("stories-lstm", [("user", "Hello")])
