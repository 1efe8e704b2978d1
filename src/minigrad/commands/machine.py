"""The command `doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from minigrad.commands.common import console, print_json, table_of


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Look at this machine: Python, packages, threads, caches, GPU or simulator, Jupyter, disk; each with its fix.

    Exits with 1 if something keeps the course from working.
    """
    from minigrad.commands.doctor import examine

    found = list(examine())
    wrong = [each for each in found if not each.ok]
    if as_json:
        print_json({"ok": not wrong, "findings": [asdict(each) for each in found]})
        raise typer.Exit(1 if wrong else 0)
    table = table_of("", "", "found", "why, or what to do")
    for each in found:
        mark = "[green]ok[/green]" if each.ok else "[bold red]mend[/bold red]"
        table.add_row(mark, each.topic, escape(each.found), escape(each.why if each.ok else each.fix))
    console.print(table)
    if wrong:
        console.print(f"To mend: {', '.join(each.topic for each in wrong)}.", style="bold", highlight=False)
    raise typer.Exit(1 if wrong else 0)
