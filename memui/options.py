"""The options of each command, beside those that all of them take.

A function here is called as its command is.
"""

from __future__ import annotations

import argparse


def show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--raw", action="store_true", help="the file's bytes as they are (not onto a terminal)"
    )
    parser.add_argument(
        "--at", metavar="RUN|DIGEST", help="as a run left it, or the version with this digest"
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1,000,000")
    return int(text)


def log(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--newest",
        type=_count,
        metavar="N",
        help="only so many runs (default: 50, with --json all)",
    )
    parser.add_argument("--all", action="store_true", help="every run")


def gc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep-days", type=_count, metavar="N", help="keep younger runs (default: 90)"
    )
    parser.add_argument(
        "--keep-runs", type=_count, metavar="N", help="keep the newest runs (default: 100)"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and stop")


def _force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--force", action="store_true", help="write over a FILE that memui did not make"
    )


def plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--planner", default="rules", choices=["rules"], help="who proposes (default: rules)"
    )
    parser.add_argument(
        "--operations",
        metavar="A,B",
        help="only these: deduplicate, resolveContradictions, deriveInsights, prune, reorganize",
    )
    parser.add_argument(
        "--again",
        metavar="PLAN",
        help="plan once more after this plan: what was rejected goes to its planner, and what was"
        " said of actions that come again is carried over",
    )
    parser.add_argument(
        "--feedback", metavar="TEXT", help="with --again: your words for the planner"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the plan to FILE (- prints it); left out, it waits in the store's state folder",
    )
    _force(parser)


def discard(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--undo", action="store_true", help="let a plan that was discarded wait again"
    )


def apply(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--approve",
        metavar="all|1,3-5",
        action="append",
        help="approve these actions; left out, what the review approved is applied",
    )
    parser.add_argument("--reject", metavar="2,4-6", action="append", help="reject these actions")
    parser.add_argument(
        "--reason",
        metavar="2=TEXT",
        action="append",
        help="why an action is rejected, for the record",
    )
    parser.add_argument(
        "--edit",
        metavar="4=FILE",
        action="append",
        help="the result of an action is the text in FILE, or on standard input (-)",
    )
    parser.add_argument(
        "--leave",
        metavar="4:2,3",
        action="append",
        help="leave just these blocks of an action's result, as export numbers them (4:none)",
    )
    parser.add_argument(
        "--reset",
        metavar="5,6",
        action="append",
        help="take back what was said of these actions: undecided, and as they were planned",
    )
    parser.add_argument(
        "--on-stale",
        choices=["stop", "skip"],
        default="stop",
        help="what to do if the files of an approved action changed (default: stop)",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and stop")


def review(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plain", action="store_true", help="a dialogue of lines, no screen")


def export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=["md", "html", "patch", "json"],
        help="left out, it follows the name of FILE, or is md",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write it to FILE (- prints it)")
    _force(parser)


def undo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--action", metavar="1,3-5", help="only these actions of the run")
    parser.add_argument(
        "--path",
        metavar="PATH",
        help="only this memory: as it was before RUN, or the version RUN (a SHA-256)",
    )
    parser.add_argument(
        "--on-conflict",
        choices=["stop", "keep", "take", "merge"],
        default="stop",
        help="files that changed since: keep what is there, take what was before, or merge",
    )
    for choice, says in (
        ("keep", "keep this file as it is now"),
        ("take", "take this file as it was before the run"),
        ("merge", "take only what the run did out of this file"),
    ):
        parser.add_argument(f"--{choice}", metavar="PATH", action="append", default=[], help=says)


def recover(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--facts",
        action="store_true",
        help="also merge in again what another writer overwrote from a stale read",
    )


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--text", metavar="TEXT", help="the text, instead of standard input")
    parser.add_argument("--path", metavar="PATH", help="where it goes; .md is added")
    parser.add_argument("--title", metavar="TITLE", help="its description, and so its name")


def edit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="no editor: the new text is in FILE, or on standard input (-)",
    )
