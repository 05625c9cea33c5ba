"""The command line's grammar: the commands, their words and options, and their help."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from engine.paths import Layout
from memui import __version__, options
from memui.console import Console
from memui.ending import UsageError

Options = Callable[[argparse.ArgumentParser], None]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its module and function, and its positional words (`?` optional, `*` many).

    `example` is what follows `memui [STORE]`. `writes` says that it may have to wait for another
    run, `asks` that it asks before it writes.
    """

    runs: str
    says: str
    words: tuple[str, ...] = ()
    options: Options | None = None
    example: str = ""
    writes: bool = False
    asks: bool = False
    takes_store: bool = True


COMMANDS: Final[dict[str, Command]] = {
    "list": Command("look:list_memories", "list the memories with their descriptions"),
    "show": Command(
        "timeline:show",
        "print one memory, with a mark for every character that cannot be seen",
        ("PATH",),
        options.show,
        "show facts/deploy-window.md",
    ),
    "search": Command(
        "look:search",
        "find the memories that hold every word, in names, descriptions and bodies",
        ("QUERY*",),
        example="search deploy window",
    ),
    "log": Command(
        "timeline:log",
        "print what was done, or every version of one memory",
        ("PATH?",),
        options.log,
        "log facts/deploy-window.md",
    ),
    "doctor": Command("look:doctor", "name every odd file and what is odd about it"),
    "plan": Command(
        "plan:plan",
        "propose a consolidation; nothing changes",
        (),
        options.plan,
        "plan --operations deduplicate,prune -o plan.json",
    ),
    "check": Command(
        "plan:check",
        "print what a plan breaks, which files changed since, and what it would lose",
        ("PLAN",),
        example="check plan.json",
    ),
    "review": Command(
        "plan:review",
        "open a plan, or the newest that waits, on the review screen",
        ("PLAN?",),
        options.review,
        "review plan.json",
    ),
    "plans": Command("plans:plans", "list the plans that wait for their review"),
    "discard": Command(
        "plans:discard_plan",
        "take a plan from those that wait; --undo brings it back",
        ("PLAN",),
        options.discard,
        "discard 3f2a",
    ),
    "export": Command(
        "export:export",
        "write a review as Markdown, HTML, a patch or JSON",
        ("PLAN?",),
        options.export,
        "export plan.json -o review.html",
    ),
    "apply": Command(
        "apply:apply_plan",
        "apply what is approved, all of it or nothing",
        ("PLAN",),
        options.apply,
        "apply plan.json --approve 1,3-5 --reject 2",
        writes=True,
        asks=True,
    ),
    "undo": Command(
        "undo:undo",
        "take back a run (its number, its id, or the last one), or a part of it",
        ("RUN?",),
        options.undo,
        "undo 12 --action 3",
        writes=True,
        asks=True,
    ),
    "recover": Command(
        "recover:recover",
        "finish or take back an interrupted run; merge in again what was overwritten",
        (),
        options.recover,
        "recover --facts",
        writes=True,
        asks=True,
    ),
    "add": Command(
        "curate:add",
        "add a memory from standard input; no other is ever overwritten",
        (),
        options.add,
        'add --path facts/tea --text "Tea steeps for two minutes."',
        writes=True,
    ),
    "edit": Command(
        "curate:edit",
        "edit a memory in $VISUAL or $EDITOR, or give its new text on standard input",
        ("PATH",),
        options.edit,
        "edit facts/deploy-window.md",
        writes=True,
    ),
    "describe": Command(
        "curate:describe",
        "set a memory's description; every other byte stays",
        ("PATH", "TEXT"),
        None,
        'describe facts/deploy-window.md "when we may deploy"',
        writes=True,
    ),
    "gc": Command(
        "gc:gc",
        "shrink memui's record: remove old runs and what only they needed",
        (),
        options.gc,
        "gc --keep-days 30 --keep-runs 50",
        writes=True,
        asks=True,
    ),
    "demo": Command(
        "demo:demo", "try everything on a made store; no key, no network", takes_store=False
    ),
}
VALUED: Final = frozenset(
    "-C --in --store --layout --wait -o --output --planner --operations --approve --reject"
    " --on-stale --path --title --text --from --format --action --on-conflict --keep --take"
    " --merge --at --keep-days --keep-runs --reason --edit --leave --reset"
    " --again --feedback -n --newest".split()
)
"""The options that take a value, so that the value is never taken for a command."""

_STORE: Final = """\
STORE is the root of an agent's memory (~/.strands), a store's own folder, any folder of
Markdown notes, or ROOT#NAME. It stands before the command, as its first word, or after -C.
Without it: $MEMUI_STORE, ./.strands, ~/.strands. A folder called as a command is: ./list"""
_EXITS: Final = """\
exit codes: 0 done, or nothing to do; 1 the world failed (no such store or file, I/O); 2 usage;
3 the plan breaks rules; 4 conflict or stale; 5 some approved actions were skipped; 6 locked"""
_EXAMPLES: Final = """\
examples:
  memui ~/.strands                              browse, search, review, undo
  memui list ~/.strands --json
  memui plan ~/.strands -o plan.json            propose; nothing changes
  memui ~/.strands review plan.json
  memui ~/.strands apply plan.json --approve 1,3-5
  memui ~/.strands undo                         take it back"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        said = f"{message[:1].upper()}{message[1:]}"
        raise UsageError(f"{said}.", hint=f"Try: {self.prog} --help")

    def _print_message(self, message: str, _file: object = None) -> None:
        """Help and the version, printed as everything is: argparse would hide a full disk."""
        console = Console()
        for line in message.rstrip("\n").split("\n"):
            console.say("{}", line)
        console.flush()


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return number


def _parser(prog: str, usage: str, says: str, epilog: str) -> _Parser:
    parser = _Parser(
        prog=prog,
        usage=usage,
        description=says,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    return parser


def _common(parser: argparse.ArgumentParser, command: Command | None) -> None:
    parser.add_argument("-h", "--help", action="help", help="print this help")
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else")
    # Scripts may say both to every command; help names them where they matter.
    asks = "do it without asking" if command and command.asks else argparse.SUPPRESS
    parser.add_argument("-y", "--yes", action="store_true", help=asks)
    waits = "seconds to wait for another run (default: 10 on a terminal, else 0)"
    parser.add_argument(
        "--wait",
        type=_seconds,
        metavar="N",
        help=waits if command and command.writes else argparse.SUPPRESS,
    )
    if command and not command.takes_store:
        parser.set_defaults(spec=None, store=None, layout=None)
        return
    store = parser.add_argument_group("which store")
    store.add_argument("-C", "--in", dest="spec", metavar="STORE", help="the store")
    store.add_argument("--store", metavar="NAME", help="one of several stores below a root")
    store.add_argument(
        "--layout",
        choices=[str(layout) for layout in Layout],
        metavar="LAYOUT",
        help=f"{', '.join(Layout)}; left out, it is recognised",
    )


def listed() -> Sequence[tuple[str, str]]:
    """Every command with what it does."""
    return [(name, command.says) for name, command in COMMANDS.items()]


def main_parser() -> argparse.ArgumentParser:
    """The parser of a call without a command; its help is that of the program."""
    size = max(map(len, COMMANDS)) + 2
    lines = "\n".join(f"  {name:<{size}}{says}" for name, says in listed())
    parser = _parser(
        "memui",
        "memui [STORE] [COMMAND ...]",
        "Stay in charge of what your AI agents remember. Without a command: the screens.",
        f"commands (memui COMMAND --help says more):\n{lines}\n\n"
        f"{_STORE}\n\n{_EXAMPLES}\n\n{_EXITS}",
    )
    _common(parser, None)
    parser.add_argument(
        "--version",
        action="version",
        version=f"memui {__version__}",
        help="print the version",
    )
    return parser


def command_parser(name: str) -> argparse.ArgumentParser:
    """The parser of one command's options and words."""
    command = COMMANDS[name]
    words = [
        f"[{word[:-1]}]" if word.endswith("?") else word.replace("*", "...")
        for word in command.words
    ]
    where = ["[STORE]"] if command.takes_store else []
    example = f"example:\n  memui ~/.strands {command.example}\n\n" if command.example else ""
    parser = _parser(
        f"memui {name}",
        " ".join(["memui", *where, name, *words, "[options]"]),
        f"{command.says[0].upper()}{command.says[1:]}.",
        f"{example}{_STORE}" if command.takes_store else "",
    )
    if command.options is not None:
        command.options(parser)
    _common(parser, command)
    return parser
