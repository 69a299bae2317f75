"""A test through psql, statement by statement, and what psql prints for each."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

from regress.statements import is_command

MARK = "@@statement "
TEST_SECONDS_MAX = 300
# A form of values that both sides have.
PREAMBLE = "\\set VERBOSITY verbose\n\\pset format unaligned\n\\pset null ''\nSET statement_timeout = '10s';\n"


def script(statements: list[str]) -> str:
    """The statements with a mark before each. Commands of psql are left where they are."""
    lines = [PREAMBLE]
    for number, statement in enumerate(statements):
        # What formats results otherwise would be compared, too; what asks for a number of rows at a time is another protocol.
        if is_command(statement) and re.search(r"\\(pset|x\b|a\b|t\b|d|c\b|connect|set FETCH_COUNT|set VERBOSITY|set SHOW_)", statement):
            continue
        lines.append(f"\\echo {MARK}{number}\n{statement}\n")
    return "".join(lines)


def outputs(conninfo: str, folder: pathlib.Path, statements: list[str]) -> dict[int, str]:
    """By the number of the statement. What is not reached, because the server is gone or the time is up, is not there."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    environment |= {"PG_ABS_SRCDIR": str(folder), "PGTZ": "America/Los_Angeles"}
    path = folder / "asked.sql"
    path.write_text(script(statements))
    command = ["psql", "--no-psqlrc", "--quiet", "--file", str(path), conninfo]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment) as process:
        try:
            printed, _ = process.communicate(timeout=TEST_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            printed, _ = process.communicate()
    pieces = re.split(rf"^{MARK}(\d+)\n", printed.decode(errors="replace"), flags=re.MULTILINE)
    return {int(number): said for number, said in zip(pieces[1::2], pieces[2::2])}
