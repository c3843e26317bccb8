"""Conversations in data sets as one text each: the role of who speaks, a colon, and what is said.

Data sets have turns as objects: {"role": "user", "content": "…"}, {"from": "human", "value": "…"} and others
alike; or as plain strings, where two speak in turn.
"""

from __future__ import annotations

from collections.abc import Sequence

_NAMES = "messages conversation conversations dialog dialogs dialogue dialogues turns chat chosen rejected"
CONVERSATION_NAMES = frozenset(_NAMES.split())
"""Names of lists of turns."""

_ROLES = ("role", "from", "speaker", "author", "user", "name", "sender")
_SURE_ROLES = _ROLES[:3]  # which a row of a table hardly has
_CONTENTS = ("content", "value", "text", "message", "utterance", "body")
_IN_TURN = ("A", "B")


class Conversation(str):
    """A cell with the turns of a conversation, each from a new line on."""

    __slots__ = ()


def conversation_of(value: object, name: str = "") -> Conversation | None:
    """The text of a list of turns, empty without any; None where a value of that name is no such list."""
    if value == [] and name.lower() in CONVERSATION_NAMES:
        return Conversation()
    turns = turns_of(value, name)
    return None if turns is None else Conversation(_joined(turns))


def turns_of(value: object, name: str = "") -> list[tuple[str, str]] | None:
    """Who says what in a list of turns; None where a value of that name is no such list.

    Turns of which nothing is said in words, such as the calls of a tool, are left out.
    """
    if not isinstance(value, list) or not value:
        return None
    is_of_strings = name.lower() in CONVERSATION_NAMES and all(isinstance(item, str) for item in value)
    if is_of_strings and len(value) > 1:
        return [(_IN_TURN[place % 2], str(item)) for place, item in enumerate(value)]
    keys = _keys_of(value[0], _ROLES if name.lower() in CONVERSATION_NAMES else _SURE_ROLES)
    if keys is None:
        return None
    role, content = keys
    turns = [
        (str(item[role]), _said(item.get(content)))
        for item in value
        if isinstance(item, dict) and isinstance(item.get(role), str)
    ]
    return [turn for turn in turns if turn[1]] if len(turns) == len(value) else None


def _keys_of(turn: object, roles: Sequence[str]) -> tuple[str, str] | None:
    """The names under which a turn has its role and what is said; None where it is no turn."""
    if not isinstance(turn, dict):
        return None
    role = next((name for name in roles if isinstance(turn.get(name), str)), None)
    content = next((name for name in _CONTENTS if name in turn and name != role), None)
    return None if role is None or content is None else (role, content)


def _said(content: object) -> str:
    """What a turn says; of parts, those that are text."""
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "\n".join(part.strip() for part in parts if isinstance(part, str))


def _joined(turns: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{role}: {said}" for role, said in turns)
