"""A test file of psql in statements, each with the lines that belong to it."""

from __future__ import annotations

import pathlib
import re

# What a statement is read in: comments, strings, names, dollar quotes, words, single characters.
TOKENS = re.compile(
    r"--[^\n]*|/\*|[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|(\$[A-Za-z_]*\$)|\w+|\\[^\n]*|\s+|.", re.DOTALL,
)
FROM_STDIN = re.compile(r"\bcopy\b.*\bfrom\s+stdin\b", re.IGNORECASE | re.DOTALL)
FROM_FILE = re.compile(r"COPY\s+(\S+)\s+FROM\s+:'filename'\s*(.*?);", re.IGNORECASE | re.DOTALL)
TEMPORARY = re.compile(r"(CREATE\s+)(?:LOCAL\s+)?TEMP(?:ORARY)?\s+(TABLE|VIEW|SEQUENCE)\s+(\w+)", re.IGNORECASE)
CREATED = re.compile(r"CREATE\s+TABLE", re.IGNORECASE)
OF_NAME = re.compile(r"(\w\s+)name(\s*[,)\n])")
SET_FILE = re.compile(r"\\set\s+filename\s+:abs_srcdir\s+'([^']+)'")


def split(text: str) -> list[str]:
    """Statements and commands of psql, in their order, each with what stands before it since the last one."""
    found: list[str] = []
    start = at = depth = 0
    while at < len(text):
        token = TOKENS.match(text, at)
        assert token is not None
        at, piece = token.end(), token[0]
        if piece == "/*":
            at = end_of_comment(text, at)
        elif token[1]:
            closing = text.find(token[1], at)
            at = len(text) if closing < 0 else closing + len(token[1])
        elif piece in "()":
            depth += 1 if piece == "(" else -1
        elif piece.startswith("\\") or piece == ";" and depth <= 0:
            depth = 0
            if piece == ";" and FROM_STDIN.search(text[start:at]):
                closing = text.find("\n\\.\n", at)
                at = len(text) if closing < 0 else closing + 4
            found.append(text[start:at].strip("\n"))
            start = at
    return found


def end_of_comment(text: str, at: int) -> int:
    """Comments nest."""
    depth = 1
    while depth and at < len(text):
        opened, closed = text.find("/*", at), text.find("*/", at)
        if closed < 0:
            return len(text)
        if 0 <= opened < closed:
            depth, at = depth + 1, opened + 2
        else:
            depth, at = depth - 1, closed + 2
    return at


def is_command(statement: str) -> bool:
    """Of psql alone."""
    return bare(statement).startswith("\\")


def bare(statement: str) -> str:
    """Without comments before it."""
    return re.sub(r"^(\s|--[^\n]*(\n|$)|/\*.*?\*/)+", "", statement, flags=re.DOTALL)


def of_file(path: pathlib.Path, data: pathlib.Path) -> list[str]:
    """The statements of a test, for both servers changed where one missing feature would hide what many others say: files of the server become
    files of the client, temporary tables are plain ones that are dropped at the end, and columns of the catalog's type `name` are texts."""
    name, made, dropped = "", [], list[str]()
    for statement in split(path.read_text()):
        known = SET_FILE.search(statement)
        if known:
            name = known[1]
        loaded = FROM_FILE.search(statement)
        if loaded:
            statement = f"\\copy {loaded[1]} FROM '{data}{name.removeprefix('/data')}' {loaded[2]}"
        temporary = TEMPORARY.search(statement)
        if temporary:
            dropped.append(f"DROP {temporary[2]} IF EXISTS {temporary[3]} CASCADE;")
            statement = TEMPORARY.sub(r"\1\2 \3", statement, 1)
        if CREATED.search(statement):
            statement = OF_NAME.sub(r"\1text\2", statement)
        made.append(statement)
    return made + dropped
