"""Drivers of Python against `quire serve`: psycopg 3 and asyncpg in both formats, SQLAlchemy."""

import asyncio
import datetime
import decimal
import math
import unittest

import asyncpg
import psycopg
import sqlalchemy

from quire_server import NAME, USER, ServerTest

UTC = datetime.timezone.utc

# Type, and values that have to come back as they were given.
VALUES = {
    "BOOLEAN": [True, False, None],
    "SMALLINT": [0, -(2**15), 2**15 - 1, None],
    "INTEGER": [0, -(2**31), 2**31 - 1, None],
    "BIGINT": [0, -(2**63), 2**63 - 1, None],
    "REAL": [0.0, -1.5, math.inf, -math.inf, math.nan, 16777216.0, None],
    "DOUBLE PRECISION": [0.0, 0.1, math.inf, -math.inf, math.nan, 5e-324, 1.7976931348623157e308, None],
    "NUMERIC(38,10)": [decimal.Decimal(text) for text in ("0.0000000000", "-0.0000000001", "9" * 28 + "." + "9" * 10)] + [None],
    "NUMERIC(38,0)": [decimal.Decimal(text) for text in ("-" + "9" * 38, "1")] + [None],
    "TEXT": ["", "it's \\ \"x\"\n\t", "žluťoučký 🐎", "NULL", None],
    "VARCHAR(5)": ["", "abcde", "čtyři", None],
    "BYTEA": [b"", bytes(range(256)), None],
    "DATE": [datetime.date.min, datetime.date.max, datetime.date(2000, 2, 29), None],
    "TIMESTAMP": [datetime.datetime.min, datetime.datetime.max, datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), None],
    "TIMESTAMPTZ": [datetime.datetime(1, 1, 2, tzinfo=UTC), datetime.datetime(9999, 12, 30, 1, 2, 3, 4, UTC), None],
}


# What asyncpg takes for infinity, which dates have no room for here.
INFINITE = (datetime.date.max, datetime.datetime.min, datetime.datetime.max, datetime.date.min)


def is_same(left, right):
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return left == right and type(left) is type(right)


def table_name(sql_type):
    return "of_" + "".join(letter if letter.isalnum() else "_" for letter in sql_type.lower())


class DriverTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with psycopg.connect(cls.conninfo(), autocommit=True) as connection:
            for sql_type in VALUES:
                connection.execute(f"CREATE TABLE {table_name(sql_type)} (id INTEGER PRIMARY KEY, value {sql_type})")

    def assert_came_back(self, sql_type, given, found):
        self.assertEqual(len(found), len(given))
        for number, value in enumerate(given):
            self.assertTrue(is_same(value, found[number]), f"{sql_type}: {value!r} came back as {found[number]!r}")


class Psycopg(DriverTest):
    def test_every_type_comes_back_in_both_formats(self):
        for sql_type, values in VALUES.items():
            table = table_name(sql_type)
            for mark, binary in (("%t", False), ("%b", True)):
                with self.subTest(type=sql_type, binary=binary), psycopg.connect(self.conninfo()) as connection:
                    connection.execute(f"DELETE FROM {table}")
                    with connection.cursor(binary=binary) as cursor:
                        cursor.executemany(f"INSERT INTO {table} VALUES ({mark}, {mark})", list(enumerate(values)))
                        found = cursor.execute(f"SELECT value FROM {table} ORDER BY id").fetchall()
                    self.assert_came_back(sql_type, values, [row[0] for row in found])

    def test_copy_takes_and_gives_every_type(self):
        for sql_type, values in VALUES.items():
            table = table_name(sql_type)
            for form in ("text", "binary"):
                with self.subTest(type=sql_type, form=form), psycopg.connect(self.conninfo()) as connection:
                    connection.execute(f"DELETE FROM {table}")
                    types = [connection.execute(f"SELECT * FROM {table}").description[at].type_code for at in (0, 1)]
                    with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT {form})") as copy:
                        copy.set_types(types)
                        for row in enumerate(values):
                            copy.write_row(row)
                    with connection.cursor().copy(f"COPY (SELECT * FROM {table} ORDER BY id) TO STDOUT (FORMAT {form})") as copy:
                        copy.set_types(types)
                        found = [row[1] for row in copy.rows()]
                    self.assert_came_back(sql_type, values, found)

    def test_arrays_are_parameters(self):
        with psycopg.connect(self.conninfo()) as connection:
            connection.execute("CREATE TABLE word (id BIGINT PRIMARY KEY, text TEXT)")
            connection.cursor().executemany("INSERT INTO word VALUES (%s, %s)", [(1, "a"), (2, 'b "c"'), (3, None)])
            for sql, array, expected in [
                ("id = ANY(%s)", [1, 3, 9], [1, 3]),
                ("id = ANY(%s)", [], []),
                ("id = ANY(%s::bigint[])", [2, None], [2]),
                ("text = ANY(%s)", ['b "c"', "x"], [2]),
                ("id <> ALL(%s)", [1, 2], [3]),
                ("id <> ALL(%s)", [1, None], []),
            ]:
                for binary in (False, True):
                    marked = sql.replace("%s", "%b" if binary else "%t")
                    found = connection.execute(f"SELECT id FROM word WHERE {marked} ORDER BY id", [array]).fetchall()
                    self.assertEqual([row[0] for row in found], expected, (sql, array, binary))
            self.assertEqual(connection.execute("DELETE FROM word WHERE id = ANY(%s)", [[1, 2]]).rowcount, 2)

    def test_cursors_of_the_server_come_in_pieces(self):
        with psycopg.connect(self.conninfo()) as connection:
            with connection.cursor("pieces") as cursor:
                cursor.itersize = 7
                cursor.execute("SELECT * FROM generate_series(1, %s::bigint)", [100])
                self.assertEqual(cursor.fetchmany(3), [(1,), (2,), (3,)])
                self.assertEqual([row[0] for row in cursor], list(range(4, 101)))

    def test_a_pipeline_and_its_error(self):
        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            with connection.pipeline():
                cursors = [connection.execute("SELECT %s::int", [number]) for number in range(50)]
                self.assertEqual([cursor.fetchone()[0] for cursor in cursors], list(range(50)))
            with self.assertRaises(psycopg.errors.UndefinedTable):
                connection.execute("SELECT * FROM nowhere")
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))

    def test_most_parameters_that_the_protocol_has(self):
        with psycopg.connect(self.conninfo()) as connection:
            numbers = list(range(65_535))
            marks = ",".join(["%s"] * len(numbers))
            self.assertEqual(connection.execute(f"SELECT 1 WHERE 65534 IN ({marks})", numbers).fetchall(), [(1,)])


class Asyncpg(DriverTest):
    def run_with(self, work):
        async def connected():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.port, user=USER, database=NAME)
            try:
                return await work(connection)
            finally:
                await connection.close()

        return asyncio.run(connected())

    def test_every_type_comes_back(self):
        async def work(connection):
            for sql_type, all_values in VALUES.items():
                values = [value for value in all_values if value not in INFINITE]
                table = table_name(sql_type)
                with self.subTest(type=sql_type):
                    await connection.executemany(f"INSERT INTO {table} VALUES ($1, $2)", list(enumerate(values)))
                    found = await connection.fetch(f"SELECT value FROM {table} ORDER BY id")
                    self.assert_came_back(sql_type, values, [row["value"] for row in found])
                    await connection.execute(f"DELETE FROM {table}")
                    await connection.copy_records_to_table(table, records=list(enumerate(values)))
                    found = await connection.fetch(f"SELECT value FROM {table} ORDER BY id")
                    self.assert_came_back(sql_type, values, [row["value"] for row in found])

        self.run_with(work)

    def test_arrays_are_parameters(self):
        async def work(connection):
            await connection.execute("CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT)")
            await connection.executemany("INSERT INTO word VALUES ($1, $2)", [(1, "a"), (2, "b, c"), (3, None)])
            for sql, array, expected in [
                ("id = ANY($1)", [1, 3, 9], [1, 3]),
                ("text = ANY($1)", ["b, c", "x"], [2]),
                ("id <> ALL($1)", [], [1, 2, 3]),
            ]:
                found = await connection.fetch(f"SELECT id FROM word WHERE {sql} ORDER BY id", array)
                self.assertEqual([row["id"] for row in found], expected, (sql, array))

        self.run_with(work)

    def test_cursors_and_savepoints(self):
        async def work(connection):
            async with connection.transaction():
                found = [row[0] async for row in connection.cursor("SELECT * FROM generate_series(1, 100)", prefetch=10)]
                self.assertEqual(found, list(range(1, 101)))
                with self.assertRaises(asyncpg.UndefinedTableError):
                    async with connection.transaction():
                        await connection.fetch("SELECT * FROM nowhere")
                self.assertEqual(await connection.fetchval("SELECT 1"), 1)

        self.run_with(work)

    def test_a_pool_resets_its_connections(self):
        async def work():
            address = {"host": "127.0.0.1", "port": self.port, "user": USER, "database": NAME}
            async with asyncpg.create_pool(**address, min_size=1, max_size=1) as pool:
                async with pool.acquire() as connection:
                    await connection.execute("SET application_name = 'once'")
                async with pool.acquire() as connection:
                    return await connection.fetchval("SHOW application_name")

        self.assertEqual(asyncio.run(work()), "")


class SqlAlchemy(ServerTest):
    def test_create_reflect_insert_select(self):
        engine = sqlalchemy.create_engine(f"postgresql+psycopg://{USER}@127.0.0.1:{self.port}/{NAME}")
        self.addCleanup(engine.dispose)
        metadata = sqlalchemy.MetaData()
        columns = [
            sqlalchemy.Column("id", sqlalchemy.Integer, primary_key=True),
            sqlalchemy.Column("name", sqlalchemy.String(20), nullable=False, unique=True),
            sqlalchemy.Column("price", sqlalchemy.Numeric(10, 2)),
            sqlalchemy.Column("day", sqlalchemy.Date),
        ]
        shop = sqlalchemy.Table("shop", metadata, *columns)
        sqlalchemy.Table(
            "visit", metadata, sqlalchemy.Column("id", sqlalchemy.BigInteger, primary_key=True),
            sqlalchemy.Column("shop", sqlalchemy.Integer, sqlalchemy.ForeignKey("shop.id"), index=True),
        )
        metadata.create_all(engine)
        rows = [("a", decimal.Decimal("1.50"), datetime.date(2026, 1, 2)), ("b", None, None)]
        with engine.begin() as connection:
            connection.execute(shop.insert(), [dict(zip(("name", "price", "day"), row)) for row in rows])
        with engine.connect() as connection:
            query = sqlalchemy.select(shop.c.name, shop.c.price, shop.c.day).order_by(shop.c.name)
            self.assertEqual([tuple(row) for row in connection.execute(query)], rows)
            one = connection.execute(sqlalchemy.select(shop.c.id).where(shop.c.name.in_(["b", "c"]))).scalars().all()
            self.assertEqual(len(one), 1)
        found = sqlalchemy.MetaData()
        found.reflect(engine)
        self.assertEqual(set(found.tables), {"shop", "visit"})
        reflected = found.tables["shop"]
        self.assertEqual([column.name for column in reflected.primary_key], ["id"])
        types = {column.name: str(column.type) for column in reflected.columns}
        self.assertEqual(types["id"], "INTEGER")
        self.assertEqual((types["price"], types["day"]), ("NUMERIC(10, 2)", "DATE"))
        self.assertFalse(reflected.c.name.nullable)
        keys = [(key.parent.name, key.column.table.name) for key in found.tables["visit"].foreign_keys]
        self.assertEqual(keys, [("shop", "shop")])
        indexed = sqlalchemy.inspect(engine).get_indexes("visit")
        self.assertEqual([index["column_names"] for index in indexed], [["shop"]])
        found.drop_all(engine)
        self.assertEqual(sqlalchemy.inspect(engine).get_table_names(), [])


if __name__ == "__main__":
    unittest.main()
