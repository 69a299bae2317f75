"""Clients that die, crowd, lie or dawdle: `quire serve` goes on, and within bounded memory."""

import concurrent.futures
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

import psycopg

from quire_server import USER, ServerTest, resident_bytes

TLS_REQUEST = struct.pack("!ii", 8, 80877103)
ANSWER_SECONDS_MAX = 60
# What a server may hold more than before, whatever one client sends.
GROWTH_BYTES_MAX = 512 << 20

DYING_CLIENT = """
import os, signal, sys, psycopg
connection = psycopg.connect(sys.argv[1])
connection.execute("UPDATE account SET balance = balance - 1")
connection.execute("INSERT INTO account SELECT id + 1000, 0 FROM account")
print("changed", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


class BadClients(ServerTest):
    options = ("--connections", "300")

    def connected(self):
        return psycopg.connect(self.conninfo(), autocommit=True)

    def raw(self):
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.settimeout(ANSWER_SECONDS_MAX)
        self.addCleanup(connection.close)
        return connection

    def assert_alive(self):
        with self.connected() as connection:
            self.assertEqual(connection.execute("SELECT 40 + 2").fetchone(), (42,))

    def said_until_the_end(self, connection):
        """What the server says before it hangs up; that it hangs up with bytes unread is no matter."""
        said = b""
        try:
            while piece := connection.recv(65536):
                said += piece
        except ConnectionResetError:
            pass
        return said

    def is_open(self, connection):
        """Whether the server keeps the connection of a client to which it says nothing."""
        connection.setblocking(False)
        try:
            said = connection.recv(1)
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False
        self.assertEqual(said, b"", "a connection without a place is closed without a message")
        return False

    def test_a_client_killed_in_its_transaction_leaves_nothing(self):
        with self.connected() as connection:
            connection.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER)")
            connection.execute("INSERT INTO account SELECT i, 10 FROM generate_series(1, 100) AS s(i)")
            for _ in range(3):
                client = subprocess.run(
                    [sys.executable, "-c", DYING_CLIENT, self.conninfo()], capture_output=True, text=True,
                    timeout=ANSWER_SECONDS_MAX,
                )
                self.assertEqual((client.stdout, client.returncode), ("changed\n", -signal.SIGKILL), client.stderr)
                # It waits for the locks of the dead, and no longer than they are held.
                connection.execute("UPDATE account SET balance = balance + 0")
                found = connection.execute("SELECT count(*), sum(balance) FROM account").fetchone()
                self.assertEqual(found, (100, 1000))

    def test_many_idle_and_some_busy_connections(self):
        with self.connected() as connection:
            connection.execute("CREATE TABLE counter (id INTEGER PRIMARY KEY, n INTEGER)")
            connection.execute("INSERT INTO counter SELECT i, 0 FROM generate_series(0, 31) AS s(i)")
        idle = [self.connected() for _ in range(200)]

        def work(number):
            with self.connected() as connection:
                for _ in range(20):
                    connection.execute("UPDATE counter SET n = n + 1 WHERE id = %s", [number])
                    connection.execute("SELECT sum(n) FROM counter").fetchone()

        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            list(pool.map(work, range(32)))
        for connection in idle:
            self.assertEqual(connection.execute("SELECT sum(n) FROM counter").fetchone(), (640,))
            connection.close()

    def test_too_many_connections_are_told_so(self):
        kept = []
        with self.assertRaises(psycopg.OperationalError) as refused:
            for _ in range(301):
                kept.append(psycopg.connect(self.conninfo(sslmode="disable"), autocommit=True))
        for connection in kept:
            connection.close()
        self.assertIn("too many clients", str(refused.exception))

    def test_silent_connections_are_bounded(self):
        deadline = time.monotonic() + ANSWER_SECONDS_MAX
        places = 300 + 64
        crowd = [self.raw() for _ in range(places + 20)]
        # Connections of the tests before may still be counted when these come, so any of these may be closed, not only the last.
        while (open_count := sum(self.is_open(connection) for connection in crowd)) > places:
            self.assertLess(time.monotonic(), deadline, f"{open_count} connections are open, there are {places} places")
            time.sleep(0.01)
        for connection in crowd:
            connection.close()
        while True:
            try:
                return self.assert_alive()
            except psycopg.OperationalError:
                self.assertLess(time.monotonic(), deadline, "those who have gone keep their places")

    def test_one_address_does_not_keep_others_out(self):
        crowd = [self.raw() for _ in range(300 + 64)]
        for silent in crowd[::2]:
            silent.sendall(b"\0")
        # Connections that come from another address of this machine.
        for number in range(20):
            source = (f"127.0.0.{2 + number % 3}", 0)
            with socket.create_connection(("127.0.0.1", self.port), ANSWER_SECONDS_MAX, source) as other:
                startup = struct.pack("!i", 196608) + f"user\0{USER}\0\0".encode()
                other.sendall(struct.pack("!i", len(startup) + 4) + startup)
                self.assertEqual(other.recv(1), b"R", "a place was made for it")
        for connection in crowd:
            connection.close()

    def test_first_packets_that_are_none(self):
        before = resident_bytes(self.server)
        for packet in [
            struct.pack("!i", 2**31 - 1) + b"x" * 1000,
            struct.pack("!ii", 10_001, 196608) + b"u" * 10_000,
            struct.pack("!ii", -5, 196608),
            struct.pack("!ii", 4, 0),
            b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
            bytes(64),
        ]:
            connection = self.raw()
            connection.sendall(packet)
            said = self.said_until_the_end(connection)
            self.assertTrue(said == b"" or said.startswith(b"E"), said)
        self.assertLess(resident_bytes(self.server) - before, GROWTH_BYTES_MAX)
        self.assert_alive()

    def test_bytes_before_tls_are_refused(self):
        connection = self.raw()
        startup = struct.pack("!i", 196608) + f"user\0{USER}\0\0".encode()
        connection.sendall(TLS_REQUEST + struct.pack("!i", len(startup) + 4) + startup)
        said = self.said_until_the_end(connection)
        self.assertNotIn(b"R\0\0\0\x08\0\0\0\0", said, "what came before the encryption was believed")
        self.assert_alive()

    def test_announced_lengths_cost_nothing(self):
        before = resident_bytes(self.server)
        startup = struct.pack("!i", 196608) + f"user\0{USER}\0\0".encode()
        connections = []
        for _ in range(50):
            connection = self.raw()
            # 60 MB are announced, and do not come.
            connection.sendall(struct.pack("!i", len(startup) + 4) + startup + b"Q" + struct.pack("!i", 60_000_000))
            connections.append(connection)
        self.assert_alive()
        self.assertLess(resident_bytes(self.server) - before, GROWTH_BYTES_MAX)
        connection = self.raw()
        connection.sendall(struct.pack("!i", len(startup) + 4) + startup + b"Q" + struct.pack("!i", 2**31 - 1))
        self.assertIn(b"C54000\0", self.said_until_the_end(connection))

    def test_statements_nested_deeply_are_refused(self):
        depth = 10_000
        with self.connected() as connection:
            for sql in [
                "SELECT " + "(" * depth + "1" + ")" * depth,
                "SELECT " + "NOT " * depth + "true",
                "SELECT " + "(SELECT " * depth + "1" + ")" * depth,
                "SELECT " + "abs(" * depth + "1" + ")" * depth,
                "SELECT 1" + " + 1" * depth,
                "SELECT 1 WHERE 1 = 2" + " OR 1 = 3" * depth,
                "SELECT 1" + " UNION ALL SELECT 1" * depth,
                "SELECT 'x'" + " || 'x'" * 1_000_000,
                "SELECT " + "CASE WHEN true THEN " * depth + "1" + " END" * depth,
            ]:
                with self.assertRaises(psycopg.errors.DatabaseError) as refused:
                    connection.execute(sql)
                self.assertIn(refused.exception.sqlstate, ("54001", "42601"), sql[:40])
        self.assert_alive()

    def test_a_slow_client_keeps_nobody_waiting(self):
        before = resident_bytes(self.server)
        slow = self.raw()
        startup = struct.pack("!i", 196608) + f"user\0{USER}\0\0".encode()
        query = b"SELECT repeat('x', 1000) FROM generate_series(1, 1000000)\0"
        slow.sendall(struct.pack("!i", len(startup) + 4) + startup)
        slow.sendall(b"Q" + struct.pack("!i", len(query) + 4) + query)
        slow.recv(1)
        trickle = self.raw()
        stopped = threading.Event()

        def send_slowly():
            for byte in struct.pack("!i", len(startup) + 4) + startup:
                if stopped.wait(0.05):
                    return
                trickle.send(bytes([byte]))

        sender = threading.Thread(target=send_slowly)
        sender.start()
        try:
            for _ in range(20):
                self.assert_alive()
            # A gigabyte of rows waits, and not in memory.
            self.assertLess(resident_bytes(self.server) - before, GROWTH_BYTES_MAX)
        finally:
            stopped.set()
            sender.join()


class Limits(ServerTest):
    options = ("--statement-timeout", "3000", "--memory", "64MB")

    def test_a_statement_has_its_time(self):
        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            with self.assertRaises(psycopg.errors.QueryCanceled):
                connection.execute("SELECT count(*) FROM generate_series(1, 50000) a, generate_series(1, 50000) b, generate_series(1, 3) c")
            connection.execute("SET statement_timeout = 0")
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))

    def test_functions_that_make_long_texts_hear_of_it(self):
        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            connection.execute("CREATE TABLE letters AS SELECT repeat('abc', 1000) AS word FROM generate_series(1, 10)")
            connection.execute("SET statement_timeout = '50ms'")
            for sql in [
                "SELECT length(translate(repeat('abc', 60000000), 'abc', 'xyz'))",
                "SELECT sum(length(translate(repeat(word, 10000), 'abc', 'xyz'))) FROM letters",
            ]:
                with self.assertRaises(psycopg.errors.QueryCanceled):
                    connection.execute(sql)
        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            connection.execute("SET statement_timeout = 0")
            for sql in ["SELECT length(repeat('x', 2000000000))", "SELECT lpad('x', 2000000000, 'ab')"]:
                with self.assertRaises(psycopg.errors.ProgramLimitExceeded):
                    connection.execute(sql)

    def test_long_parameters(self):
        text = "it's " * (1 << 20)
        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            connection.execute("SET statement_timeout = 0")
            connection.execute("CREATE TABLE documents (id INTEGER, body TEXT, picture BYTEA)")
            connection.execute("INSERT INTO documents VALUES (%s, %s, %s)", (1, text, text.encode()))
            row = connection.execute(
                "SELECT length(%s), body = %s, picture = %s, upper(%s || body) = upper(body || body) FROM documents",
                (text, text, text.encode(), text),
            ).fetchone()
            self.assertEqual(row, (len(text), True, True, True))
            cursor = psycopg.ClientCursor(connection)
            self.assertEqual(cursor.execute("SELECT length(%s || 'x')", (text,)).fetchone(), (len(text) + 1,))
            for wrong in ["a\0b", text + "\0"]:
                with self.assertRaises((psycopg.DataError, psycopg.errors.CharacterNotInRepertoire)):
                    connection.execute("SELECT %s::text", (wrong,))

    def test_a_statement_has_its_memory(self):
        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            connection.execute("SET statement_timeout = '100s'")
            before = resident_bytes(self.server)
            try:
                connection.execute(
                    "SELECT count(*) FROM (SELECT i, array_agg(i) FROM generate_series(1, 3000000) AS s(i) GROUP BY i) t"
                ).fetchone()
            except psycopg.errors.OutOfMemory:
                pass
            self.assertLess(resident_bytes(self.server) - before, GROWTH_BYTES_MAX)
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))


if __name__ == "__main__":
    unittest.main()
