"""What a statement is asked of: PostgreSQL, and Quire in each way that must give the same answer."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

from oracle.schema import Scenario
from oracle.servers import Quire
from oracle.wire import Answer, Wire

STATEMENT_SECONDS_MAX = 10


@dataclass(slots=True)
class Side:
    """`storage` is that of its tables: `row`, `column`, or nothing for PostgreSQL."""

    name: str
    storage: str
    engine: str
    wire: Wire
    is_extended: bool = False

    @property
    def is_peer(self) -> bool:
        return not self.storage

    def prepare(self, settings: tuple[str, ...]) -> None:
        if self.is_peer:
            return
        for sql in ("RESET ALL", f"SET engine = '{self.engine}'", f"SET statement_timeout = '{STATEMENT_SECONDS_MAX}s'", "SET synchronous_commit = off", *settings):
            self.wire.must(sql)


class Sides:
    """PostgreSQL, three machines on row tables, and column tables. Sides of one storage share tables."""

    def __init__(self, peer: str, folder: pathlib.Path, number: int):
        self.peer, self.folder, self.number = peer, folder, number
        with_admin = Wire(f"{peer} dbname=postgres")
        # A server that is not ours may have that of a run before.
        with_admin.must(f"DROP DATABASE IF EXISTS oracle_{number}")
        with_admin.must(f"CREATE DATABASE oracle_{number} TEMPLATE template0")
        with_admin.close()
        self.scenario: Scenario | None = None
        self.made_by: list[Side] = []
        self.settings: tuple[str, ...] | None = None
        self.servers = {storage: Quire(folder / f"{storage}.quire") for storage in ("row", "column")}
        self.connect()

    def connect(self) -> None:
        row, column = self.servers["row"].conninfo, self.servers["column"].conninfo
        self.all = [
            Side("postgres", "", "", Wire(f"{self.peer} dbname=oracle_{self.number}")),
            Side("row tuple", "row", "tuple", Wire(row)),
            Side("row batch", "row", "batch", Wire(row), True),
            Side("row auto", "row", "auto", Wire(row), True),
            Side("column", "column", "auto", Wire(column)),
        ]
        self.active = list(self.all)
        self.all[0].wire.must(f"SET statement_timeout = '{STATEMENT_SECONDS_MAX}s'; SET client_min_messages = error; SET bytea_output = hex")

    def narrow(self, name: str) -> None:
        """Only PostgreSQL and this side are asked from here on, which is faster; all of them if there is none of that name."""
        self.active = [side for side in self.all if side.is_peer or side.name == name or not name]

    def take_turn(self, number: int) -> None:
        """Column tables and one of the engines on row tables: another one for each statement."""
        of_rows = [side for side in self.all if side.storage == "row"]
        waiting = {side.name for side in of_rows} - {of_rows[number % len(of_rows)].name}
        self.active = [side for side in self.all if side.name not in waiting]

    @property
    def ours(self) -> list[Side]:
        return self.active[1:]

    def leaders(self) -> list[Side]:
        """One side of each storage, to make tables by."""
        return list({side.storage: side for side in self.active}.values())

    def set_up(self, scenario: Scenario) -> list[tuple[str, str, Answer]]:
        """Makes the tables anew; gives what failed, by side and statement."""
        self.clear()
        failed = []
        if self.settings != scenario.settings:
            for side in self.all:
                side.prepare(scenario.settings)
            self.settings = scenario.settings
        for side in self.leaders():
            for sql in scenario.statements(side.storage):
                answer = side.wire.ask(sql)
                if answer.is_error:
                    failed.append((side.name, sql, answer))
        self.scenario, self.made_by = scenario, self.leaders()
        return failed

    def change(self, scenario: Scenario) -> list[tuple[str, str, Answer]]:
        """Brings the tables, as they are, to what the scenario adds to them, without making them anew."""
        failed = []
        for side in self.leaders():
            for _, sql in scenario.changes:
                answer = side.wire.ask(sql)
                if answer.is_error:
                    failed.append((side.name, sql, answer))
        self.scenario = scenario
        return failed

    def clear(self) -> None:
        if self.scenario is None:
            return
        for side in self.made_by:
            for sql in self.scenario.drops():
                side.wire.ask(sql)
        self.scenario = None

    def ask_all(self, sql: str) -> list[Answer]:
        """The same of all at once."""
        for side in self.active:
            side.wire.send(sql, side.is_extended)
        return [side.wire.receive() for side in self.active]

    def renew(self) -> None:
        """After a server has died: new ones, with empty files."""
        for side in self.all:
            side.wire.close()
        for storage, server in self.servers.items():
            server.stop()
            server.database = self.folder / f"{storage}{len(list(self.folder.iterdir()))}.quire"
            server.start()
        scenario, self.scenario, self.settings = self.scenario, None, None
        self.connect()
        if scenario is not None:
            for sql in scenario.drops():
                self.all[0].wire.ask(sql)
            self.set_up(scenario)

    def stop(self) -> None:
        for side in self.all:
            side.wire.close()
        for server in self.servers.values():
            server.stop()
