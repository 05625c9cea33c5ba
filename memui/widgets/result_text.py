"""The text area of the editor: what it shows is what is saved, and nothing in it is obeyed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from rich.text import Span, Text
from textual.document._document import EditResult, Location
from textual.document._edit import Edit
from textual.widgets import TextArea

from engine.characters import visible
from memui.presentation.standins import StandIns, line_end


class ResultText(TextArea):
    """Edits a text for which `can_edit` has no objection.

    Hidden characters are stand-ins in the document (`StandIns`); everything that comes in passes
    `edit`, everything that goes out `written` or `get_text_range`.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"result-text--mark"}

    def __init__(self, text: str, **kwargs: Any) -> None:
        self._stand_ins = StandIns()
        self._end = line_end(text)
        super().__init__(self._stand_ins.put(text), show_line_numbers=True, compact=True, **kwargs)

    @property
    def written(self) -> str:
        """The text as it would be saved: with the line ends that it came with."""
        text = self._stand_ins.lift(self.document.text)
        return text.replace("\n", self._end) if self._end != "\n" else text

    @property
    def under(self) -> str:
        """The mark that names the hidden character under the cursor; empty for any other."""
        row, column = self.cursor_location
        char = self._stand_ins.char(self.document.get_line(row)[column : column + 1])
        return "" if char is None else visible(char)

    def edit(self, edit: Edit) -> EditResult:
        """Typed and pasted text comes this way: hidden characters get their stand-ins."""
        return super().edit(replace(edit, text=self._stand_ins.put(edit.text)))

    def get_text_range(self, start: Location, end: Location) -> str:
        """A part of the text as it would be saved, for the clipboard."""
        return self._stand_ins.lift(super().get_text_range(start, end))

    def action_cut(self) -> None:
        """Cut the selection, or the line under the cursor."""
        super().action_cut()
        self.app.copy_to_clipboard(self._stand_ins.lift(self.app.clipboard))

    def get_line(self, line_index: int) -> Text:
        """A line as it is painted: signs of ours where hidden characters are."""
        shown, marks = self._stand_ins.signs(self.document.get_line(line_index))
        painted = Text(shown, end="", no_wrap=True)
        if marks:
            style = self.get_component_rich_style("result-text--mark")
            painted.spans.extend(Span(at, at + 1, style) for at in marks)
        return painted
