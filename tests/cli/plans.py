"""What the tests of the command line plan for: three memories, and actions on them."""

from __future__ import annotations

import json
from typing import Any

NET = '---\ndescription: "net"\n---\n\n# Net\n\n- On Tuesday.\n- At 20:00.\n'
KILN = '---\ndescription: "kiln"\n---\n\n# Kiln\n\n- Cone 6.\n'
FILES: dict[str, str | bytes] = {
    "facts/net.md": NET,
    "facts/copy.md": NET,
    "facts/kiln.md": KILN,
}
HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2J\u202e[@click=app.quit]x[/][/nope]\x9b31m"


def plan(*actions: dict[str, Any]) -> str:
    return json.dumps({"actions": list(actions), "summary": "tidy"})


def delete(path: str) -> dict[str, Any]:
    return {"action": "delete", "path": path, "reason": "old"}


def update(path: str, content: str) -> dict[str, Any]:
    return {"action": "update", "path": path, "content": content, "reason": "new"}
