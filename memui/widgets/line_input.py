"""One line that a person types. Pasted text cannot bring controls or hidden characters into it."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from engine.characters import hidden


class LineInput(Input):
    """An input without a border. Arrow down leaves it for what it found."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "down", show=False)]

    class Down(Message):
        """The person goes on to what is below."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(compact=True, **kwargs)

    def replace(self, text: str, start: int, end: int) -> None:
        """Put what can be seen of a text in place; typed and pasted text both come this way."""
        unseen = {found.offset for found in hidden(text)}
        kept = (c for n, c in enumerate(text) if n not in unseen and c not in "\n\t\r")
        super().replace("".join(kept), start, end)

    def action_down(self) -> None:
        """Go on to what is below."""
        self.post_message(self.Down())
