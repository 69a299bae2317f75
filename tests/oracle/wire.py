"""One connection to a server, by libpq: statements out, answers in, values as text."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

from psycopg import OperationalError, pq
from psycopg.pq.abc import PGresult

ROWS_MAX = 20_000
TIMED_OUT = "57014"
LOST = "08006"


@dataclass(slots=True)
class Answer:
    """Rows, or an error. `types` are the OIDs of the columns."""

    types: list[int] = field(default_factory=list)
    rows: list[tuple[bytes | None, ...]] = field(default_factory=list)
    state: str = ""
    message: str = ""
    is_too_long: bool = False
    tag: str = ""

    @property
    def is_error(self) -> bool:
        return bool(self.state)


class Wire:
    def __init__(self, conninfo: str):
        self.conninfo = conninfo
        self.connection = pq.PGconn.connect(conninfo.encode())
        if self.connection.status != pq.ConnStatus.OK:
            raise ConnectionError(self.connection.error_message.decode(errors="replace"))

    def send(self, sql: str, is_extended: bool = False) -> None:
        """Asks without waiting. The extended form prepares the statement first, as drivers do."""
        # That the connection is lost is what the answer says.
        with contextlib.suppress(OperationalError):
            if is_extended:
                self.connection.send_query_params(sql.encode(), None)
            else:
                self.connection.send_query(sql.encode())

    def send_values(self, sql: str, values: list[bytes | None], types: list[int]) -> None:
        with contextlib.suppress(OperationalError):
            self.connection.send_query_params(sql.encode(), values, types)

    def receive(self) -> Answer:
        """The answer to the last statement of what was sent."""
        answer = Answer()
        while True:
            try:
                result = self.connection.get_result()
            except Exception as error:
                return Answer(state=LOST, message=str(error))
            if result is None:
                break
            answer = read(result)
        if self.connection.status == pq.ConnStatus.BAD:
            return Answer(state=LOST, message=answer.message or "the connection is lost")
        return answer

    def ask(self, sql: str) -> Answer:
        self.send(sql)
        return self.receive()

    def must(self, sql: str) -> Answer:
        answer = self.ask(sql)
        if answer.is_error:
            raise ConnectionError(f"{sql[:300]}: {answer.state} {answer.message}")
        return answer

    def close(self) -> None:
        self.connection.finish()


def read(result: PGresult) -> Answer:
    status = result.status
    if status == pq.ExecStatus.TUPLES_OK:
        columns = range(result.nfields)
        answer = Answer(types=[result.ftype(at) for at in columns])
        if result.ntuples > ROWS_MAX:
            answer.is_too_long = True
            return answer
        value = result.get_value
        answer.rows = [tuple([value(row, at) for at in columns]) for row in range(result.ntuples)]
        return answer
    if status in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.EMPTY_QUERY):
        return Answer(tag=(result.command_status or b"").decode())
    state = (result.error_field(pq.DiagnosticField.SQLSTATE) or LOST.encode()).decode()
    message = (result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or result.error_message or b"").decode(errors="replace")
    return Answer(state=state, message=message)
