"""A delete is shown beside what says the same, and what nothing says is lit."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from memui.presentation.pages import Pair
from memui.widgets.page_view import PageView
from tests.memui.driving import drive, press, shown
from tests.memui.reviews import (
    DELETE,
    FILES,
    NEEDS,
    app_on,
    memory,
    page_text,
    put,
    screen_of,
    under_review,
)


def test_beside_each_line_stands_who_says_it_or_that_nobody_does(tmp_path: Path) -> None:
    odd = "Friday is off. [@click=app.quit]x[/]"
    files = {**FILES, "facts/window.md": memory("Deploys", "Deploy on Thursday.", odd)}
    root, _ = under_review(tmp_path, files=files)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, NEEDS)
        await pilot.pause()
        page = screen_of(pilot).query_one("#review-page", PageView).page
        rows = {
            row.left.plain: row.right for row in page.lines if isinstance(row, Pair) and row.left
        }
        covered, lost = rows["- Deploy on Thursday."], rows[f"- {odd}"]
        assert covered is not None
        assert "facts/deploy.md" in covered.plain
        assert lost is not None
        assert "✗ nowhere" in lost.plain
        assert odd in shown(pilot)

    drive(app_on(root), script, size=(260, 50))


def test_where_there_is_no_room_the_result_shows_the_memory_that_covers_it(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, DELETE)
        await press(pilot, "t", "t")
        text = page_text(pilot)
        assert "facts/backup.md  stays as it is" in text
        assert "Backups run at night." in text

    drive(app_on(root), script, size=(80, 24))
