"""The command line: what is asked, of which store, and how it ended."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final, NoReturn

from engine.errors import EngineError, InvalidPlan
from engine.paths import Layout
from memui import __version__
from memui.console import Console
from memui.context import Context
from memui.ending import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, UsageError, error_shape, judge

Options = Callable[[argparse.ArgumentParser], None]
Handler = Callable[[Context, argparse.Namespace], int]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: where its handler is, its positional words (`?` optional, `*` many)."""

    handler: str
    says: str
    words: tuple[str, ...] = ()
    options: Options | None = None


def _plan_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--planner", default="rules", choices=["rules"], help="who proposes")
    parser.add_argument("--operations", metavar="A,B", help="only these operations")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the plan to FILE")


def _apply_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--approve", metavar="all|1,3-5", help="approve these actions")
    parser.add_argument("--reject", metavar="2", help="reject these actions")
    parser.add_argument(
        "--on-stale",
        choices=["stop", "skip"],
        default="stop",
        help="what to do if the files of an approved action changed (default: stop)",
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--path", metavar="PATH", help="where it goes, .md is added")
    parser.add_argument("--title", metavar="TITLE", help="its title, and description")


def _edit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="the new text, from FILE or standard input (-)",
    )


def _show_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--at", metavar="RUN|DIGEST", help="as a run left it, or the version with this digest"
    )


def _gc_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep-days", type=int, metavar="N", help="keep younger runs (90)")
    parser.add_argument("--keep-runs", type=int, metavar="N", help="keep the newest runs (100)")
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and stop")


COMMANDS: Final[dict[str, Command]] = {
    "list": Command("look:list_memories", "list the memories with their descriptions"),
    "show": Command("timeline:show", "print one memory", ("PATH",), _show_options),
    "search": Command("look:search", "find words in names, descriptions and bodies", ("QUERY*",)),
    "log": Command("timeline:log", "what was done, to the store or to one memory", ("PATH?",)),
    "doctor": Command("look:doctor", "name every odd file and what is odd about it"),
    "plan": Command("plan:plan", "propose a consolidation; changes nothing", (), _plan_options),
    "check": Command("plan:check", "what a plan breaks, and what it would lose", ("PLAN",)),
    "review": Command("plan:review", "review a plan on the screen", ("PLAN?",)),
    "apply": Command("apply:apply_plan", "apply what is approved", ("PLAN",), _apply_options),
    "undo": Command("undo:undo", "take back a run (the last one)", ("RUN?",)),
    "recover": Command("undo:recover", "finish or take back an interrupted run"),
    "add": Command("curate:add", "add a memory from standard input", (), _add_options),
    "edit": Command("curate:edit", "edit a memory in $EDITOR", ("PATH",), _edit_options),
    "describe": Command("curate:describe", "set a memory's description", ("PATH", "TEXT")),
    "gc": Command("gc:gc", "shrink memui's record: remove old runs", (), _gc_options),
    "demo": Command("demo:demo", "try everything on a made store; no key, no network"),
}

_EPILOG: Final = """\
STORE is the root of an agent's memory (~/.strands), a store's own folder, any folder of
Markdown notes, or ROOT#NAME. It stands before the command or its other words, or after -C.
Without it: $MEMUI_STORE, ./.strands, ~/.strands.

examples:
  memui ~/.strands                         browse, search, review, undo
  memui ~/.strands list --json
  memui ~/.strands plan -o plan.json       propose; nothing changes
  memui ~/.strands review plan.json
  memui ~/.strands apply plan.json --approve 1,3-5
  memui ~/.strands undo
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. Try: {self.prog} --help")


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-C", "--in", dest="spec", metavar="STORE", help="which store")
    parser.add_argument("--store", metavar="NAME", help="one of several stores below a root")
    parser.add_argument("--layout", choices=[str(layout) for layout in Layout], help="override it")
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else")
    parser.add_argument("--yes", "-y", action="store_true", help="do it without asking")
    parser.add_argument("--wait", type=float, metavar="N", help="seconds to wait for another run")


def _main_parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS)) + 2
    listed = "\n".join(f"  {name:<{width}}{command.says}" for name, command in COMMANDS.items())
    parser = _Parser(
        prog="memui",
        usage="memui [STORE] [COMMAND ...]",
        description="Stay in charge of what your AI agents remember.",
        epilog=f"commands (memui COMMAND --help says more):\n{listed}\n\n{_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"memui {__version__}")
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    _common(parser)
    return parser


def _command_parser(name: str, command: Command) -> argparse.ArgumentParser:
    words = " ".join(
        f"[{w[:-1]}]" if w.endswith("?") else f"{w.rstrip('*')}" for w in command.words
    )
    parser = _Parser(
        prog=f"memui {name}",
        usage=" ".join(f"memui [STORE] {name} {words} [options]".split()),
        description=f"{command.says[0].upper()}{command.says[1:]}.",
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    if command.options is not None:
        command.options(parser)
    _common(parser)
    return parser


def _split(argv: Sequence[str]) -> tuple[str | None, str | None, list[str]]:
    """(store before the command, command, the other words)."""
    if argv and argv[0] in COMMANDS:
        return None, argv[0], list(argv[1:])
    if len(argv) > 1 and not argv[0].startswith("-") and argv[1] in COMMANDS:
        return argv[0], argv[1], list(argv[2:])
    for at, word in enumerate(argv[:-1]):
        # options first: memui -C STORE list
        if word in COMMANDS and at >= 2 and argv[0].startswith("-"):
            return None, word, [*argv[:at], *argv[at + 1 :]]
    if len(argv) > 2 and argv[-1] in COMMANDS and argv[0].startswith("-"):
        return None, argv[-1], list(argv[:-1])
    return None, None, list(argv)


def _is_store(word: str) -> bool:
    path = os.path.expanduser(word)
    return os.path.isdir(path) or ("#" in word and os.path.isdir(path.rpartition("#")[0]))


def _assign(name: str, command: Command, asked: argparse.Namespace) -> None:
    """Give the positional words their names; a folder in front of them is the store."""
    words: list[str] = asked.words
    needed = [w for w in command.words if not w.endswith(("?", "*"))]
    most = len(command.words) if not command.words or command.words[-1][-1] != "*" else 10_000
    if asked.spec is None and words and _is_store(words[0]):
        spare = len(words) > len(needed) if command.words else True
        only_optional = len(words) > most or (command.words and command.words[-1][-1] in "?*")
        if spare and (only_optional or not command.words or len(words) > most):
            asked.spec = words.pop(0)
    if len(words) > most:
        raise UsageError(f"{name} does not take {words[most]!r}. Try: memui {name} --help")
    for position, word in enumerate(command.words):
        key = word.rstrip("?*").lower()
        if word.endswith("*"):
            asked.__dict__[key] = words[position:]
        elif position < len(words):
            asked.__dict__[key] = words[position]
        elif word.endswith("?"):
            asked.__dict__[key] = None
        else:
            raise UsageError(f"{name} needs {word}. Try: memui {name} --help")


def _context(console: Console, asked: argparse.Namespace) -> Context:
    name: str | None = asked.store
    spec: str | None = asked.spec
    if name and spec is None and (os.sep in name or name.startswith("~")) and _is_store(name):
        spec, name = name, None
    return Context(
        console=console,
        spec=spec,
        name=name,
        layout=Layout(asked.layout) if asked.layout else None,
        json=asked.json,
        yes=asked.yes,
        wait_for=asked.wait,
    )


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code of design 15."""
    words = list(sys.argv[1:] if argv is None else argv)
    console = Console()
    wants_json = "--json" in words
    try:
        code = _run(console, words)
        console.flush()
        return code
    except SystemExit as done:  # argparse printed help or the version
        return int(done.code or 0)
    except BrokenPipeError:
        _silence()
        return EXIT_OK
    except KeyboardInterrupt:
        console.tell("Stopped. Nothing was left half done.")
        return EXIT_INTERRUPTED
    except (UsageError, EngineError) as error:
        return _report(console, error, wants_json=wants_json)
    except OSError as error:
        failure = EngineError(f"{error.filename or 'Output'}: {error.strerror}.")
        return _report(console, failure, wants_json=wants_json)
    except Exception as error:  # noqa: BLE001 - a bug is said in one line; the rest on request
        console.tell("memui has a bug: {}: {}", type(error).__name__, str(error))
        if os.environ.get("MEMUI_DEBUG"):
            for line in traceback.format_exc().split("\n"):
                console.tell("{}", line)
        else:
            console.tell("MEMUI_DEBUG=1 shows where. Nothing was left half done.")
        return EXIT_FAILED


def _run(console: Console, words: list[str]) -> int:
    # What follows `--` are words, whatever they look like: names may start with a dash.
    cut = words.index("--") if "--" in words else len(words)
    spec, name, rest = _split(words[:cut])
    literal = words[cut + 1 :]
    if name is None:
        asked = _main_parser().parse_intermixed_args(rest)
        asked.words += literal
        if len(asked.words) > 1:
            raise UsageError(f"There is no command {asked.words[1]!r}. Try: memui --help")
        if asked.words:
            asked.spec = asked.words[0]
        handler = _handler("browse:browse")
    else:
        command = COMMANDS[name]
        asked = _command_parser(name, command).parse_intermixed_args(rest)
        asked.words += literal
        if spec is not None:
            if asked.spec is not None:
                raise UsageError("The store is named twice")
            asked.spec = spec
        _assign(name, command, asked)
        handler = _handler(command.handler)
    return handler(_context(console, asked), asked)


def _handler(path: str) -> Handler:
    module, _, function = path.partition(":")
    found: Handler = getattr(import_module(f"memui.commands.{module}"), function)
    return found


def _report(console: Console, error: Exception, *, wants_json: bool) -> int:
    """Say what is wrong, what was not changed and what to do next; the exit code."""
    hint = getattr(error, "hint", "")
    _, status = judge(error)
    if wants_json:
        console.json(error_shape(error))
    else:
        console.tell("memui: {}", str(error))
        if isinstance(error, InvalidPlan):
            for violation in error.violations:
                where = "" if violation.action is None else f"action {violation.action + 1}: "
                console.tell("  {}{} [{}]", where, violation.message, violation.code)
        if hint:
            console.tell("{}", hint)
    return status


def _silence() -> None:
    """After a broken pipe: whatever is still buffered goes nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
