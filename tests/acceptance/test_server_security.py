"""Passwords and TLS, with clients that are not ours: psql, psycopg 3, asyncpg, pgbench."""

import asyncio
import concurrent.futures
import datetime
import ipaddress
import pathlib
import re
import socket
import ssl
import struct
import subprocess
import tempfile
import time
import unittest

import asyncpg
import psycopg
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from quire_server import NAME, ServerTest
from quire_shell import QUIRE

PASSWORD = "Größe, it's 1"
CLIENTS = "CREATE USER ada SUPERUSER PASSWORD 'Größe, it''s 1'; CREATE ROLE bob LOGIN PASSWORD 'bob'; CREATE ROLE nobody PASSWORD 'x';"
HANDSHAKE_SECONDS_MAX = 60


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def make_certificates(folder):
    """An authority of the test's own, and a certificate for this machine, both of today."""
    now = datetime.datetime.now(datetime.timezone.utc)

    def certificate(name, key, issuer, issuer_key, is_authority):
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        return (
            x509.CertificateBuilder()
            .subject_name(name).issuer_name(issuer).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
            .add_extension(
                x509.KeyUsage(True, False, False, False, False, is_authority, is_authority, False, False), critical=True
            )
            .sign(issuer_key, hashes.SHA384())
            .public_bytes(serialization.Encoding.PEM)
        )

    def name(text):
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    authority, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    (folder / "ca.pem").write_bytes(certificate(name("test"), authority, name("test"), authority, True))
    (folder / "server.pem").write_bytes(certificate(name("localhost"), own, name("test"), authority, False))
    (folder / "server.key").write_bytes(pem(own))
    (folder / "other.key").write_bytes(pem(authority))


def shell(database, sql):
    subprocess.run([str(QUIRE), str(database)], input=sql, text=True, check=True, capture_output=True)


class SecureTest(ServerTest):
    more = ()

    @classmethod
    def setUpClass(cls):
        certificates = tempfile.TemporaryDirectory(prefix="quire-tls-")
        cls.addClassCleanup(certificates.cleanup)
        cls.certificates = pathlib.Path(certificates.name)
        make_certificates(cls.certificates)
        cls.options = (
            "--tls-cert", cls.certificates / "server.pem", "--tls-key", cls.certificates / "server.key", *cls.more,
        )
        cls.options = tuple(str(word) for word in cls.options)
        super().setUpClass()
        with psycopg.connect(cls.conninfo(), autocommit=True) as connection:
            for statement in CLIENTS.split(";")[:-1]:
                connection.execute(statement)

    @classmethod
    def secure(cls, **more):
        words = {
            "user": "ada", "password": PASSWORD, "sslmode": "verify-full",
            "sslrootcert": str(cls.certificates / "ca.pem"), "channel_binding": "require", **more,
        }
        return psycopg.connect(cls.conninfo(), autocommit=True, **words)

    def refused(self, sqlstate, **words):
        with self.assertRaises(psycopg.OperationalError) as raised:
            psycopg.connect(self.conninfo(**{"gssencmode": "disable"}), **words).close()
        text = str(raised.exception)
        self.assertIn(sqlstate, text)


class Passwords(SecureTest):
    def test_right_and_wrong_passwords(self):
        with self.secure() as connection:
            row = connection.execute("SELECT current_user, 1").fetchone()
            self.assertEqual(row, ("ada", 1))
        for user, password in [("ada", "wrong"), ("nobody-at-all", PASSWORD), ("nobody", "y"), ("ada", "größe, it's 1")]:
            for mode in ("disable", "require"):
                expected = f'password authentication failed for user "{user}"'
                self.refused(expected, user=user, password=password, sslmode=mode)
        self.refused('role "nobody" is not permitted to log in', user="nobody", password="x")

    def test_the_sqlstate_of_a_wrong_password(self):
        async def connect(**words):
            return await asyncpg.connect(host="127.0.0.1", port=self.port, database=NAME, **words)

        async def run():
            context = ssl.create_default_context(cafile=str(self.certificates / "ca.pem"))
            for user in ("ada", "nobody-at-all"):
                with self.assertRaises(asyncpg.InvalidPasswordError) as raised:
                    await connect(user=user, password="wrong", ssl=context)
                self.assertEqual(raised.exception.sqlstate, "28P01")
            connection = await connect(user="ada", password=PASSWORD, ssl=context)
            self.assertEqual(await connection.fetchval("SELECT $1::INTEGER + 1", 41), 42)
            await connection.close()

        asyncio.run(run())

    def test_many_wrong_passwords_leave_room(self):
        # Of so many users: for one of them, the answers would come later and later.
        for number in range(300):
            with self.assertRaises(psycopg.OperationalError):
                psycopg.connect(self.conninfo(), user=f"ada{number}", password="wrong", sslmode="disable")
        with self.secure() as connection:
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))

    def test_repeated_wrong_passwords_are_answered_late_and_block_nobody(self):
        def guess(_):
            with self.assertRaisesRegex(psycopg.OperationalError, "password authentication failed"):
                psycopg.connect(self.conninfo(), user="guessed", password="wrong", sslmode="disable")

        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            guesses = [pool.submit(guess, number) for number in range(5)]
            # The others are served meanwhile.
            with self.secure() as connection:
                self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))
            for done in guesses:
                done.result()
        # At once, then after 0.1 s, 0.2 s, 0.4 s and 0.8 s, some of them at the same time.
        self.assertGreater(time.monotonic() - began, 0.8)

    def test_psql_changes_a_password(self):
        environment = {
            "PGUSER": "bob", "PGPASSWORD": "bob", "PGSSLMODE": "verify-full",
            "PGSSLROOTCERT": str(self.certificates / "ca.pem"),
        }
        printed = self.run_client("psql", "-Xc", "\\conninfo", **environment)
        self.assertIn("SSL", printed)
        verifier = psycopg.pq.PGconn.connect(self.conninfo(user="bob", password="bob").encode())
        encrypted = verifier.encrypt_password(b"bob2", b"bob").decode()
        verifier.finish()
        self.assertTrue(encrypted.startswith("SCRAM-SHA-256$"))
        self.run_client("psql", "-Xc", f"ALTER USER bob PASSWORD '{encrypted}'", **environment)
        self.refused("password authentication failed", user="bob", password="bob")
        environment["PGPASSWORD"] = "bob2"
        self.run_client("psql", "-Xc", "ALTER USER CURRENT_USER PASSWORD 'bob'", **environment)

    def test_roles_that_are_no_superusers(self):
        with self.secure(user="bob", password="bob") as connection:
            connection.execute("CREATE TABLE of_bob (a INTEGER PRIMARY KEY)")
            for statement in [
                "CREATE ROLE eve", "ALTER ROLE bob SUPERUSER", "DROP ROLE ada", "ALTER ROLE ada PASSWORD 'x'",
                "COPY of_bob TO '/tmp/of_bob.csv'", "SELECT * FROM '/etc/passwd.csv'",
            ]:
                with self.assertRaises(psycopg.errors.InsufficientPrivilege, msg=statement):
                    connection.execute(statement)
            self.assertEqual(connection.execute("SELECT count(rolpassword) FROM pg_authid").fetchone(), (0,))
            with self.assertRaises(psycopg.errors.FeatureNotSupported):
                connection.execute("GRANT SELECT ON of_bob TO ada")

    def test_lists_of_roles(self):
        environment = {"PGUSER": "ada", "PGPASSWORD": PASSWORD}
        lists = "du du+ l l+ dn+ dp df db db+ ddp drds dx dT dL dL+ dl dl+ dF dFd+ dFp dFt+ dD+ dAp dP+ deu dconfig+"
        for command in [f"\\{name}" for name in lists.split()]:
            printed = self.run_client("psql", "-X", "-v", "ON_ERROR_STOP=1", "-c", command, **environment)
            self.assertNotIn("ERROR", printed, command)
        printed = self.run_client("psql", "-X", "-c", "\\du", **environment)
        for role in ("ada", "bob", "nobody"):
            self.assertIn(role, printed)
        self.assertIn("Superuser", printed)
        self.assertIn("Cannot login", printed)


class LogOfLogins(SecureTest):
    """A server of its own: the log has only so many lines a second, and other tests have many passwords refused."""

    def test_refused_logins_are_logged(self):
        secret = "a password of which nothing is logged"
        with self.assertRaises(psycopg.OperationalError):
            psycopg.connect(self.conninfo(dbname="'my shop'"), user='eve\n"', password=secret, sslmode="disable")
        self.refused('role "nobody" is not permitted to log in', user="nobody", password="x")
        with socket.create_connection(("127.0.0.1", self.port)) as nonsense:
            nonsense.sendall(b"GET / HTTP/1.1\r\n\r\n")
            nonsense.recv(1000)
        wanted = [
            r'quire: listening on 127\.0\.0\.1:\d+$',
            r'quire: login refused: password authentication failed for user .*; address=127\.0\.0\.1:\d+ user="eve\\n\\"" database="my shop"$',
            r'quire: login refused: role \\"nobody\\" is not permitted to log in; address=127\.0\.0\.1:\d+ user="nobody" database="shop"$',
            r'quire: login refused: invalid length of startup packet; address=127\.0\.0\.1:\d+ user="" database=""$',
        ]
        deadline = time.monotonic() + HANDSHAKE_SECONDS_MAX
        missing = wanted
        while missing and time.monotonic() < deadline:
            lines = self.log.read_text().splitlines()
            missing = [line for line in wanted if not any(re.search(line, found) for found in lines)]
            time.sleep(0.01)
        self.assertEqual(missing, [], "\n".join(lines))
        self.assertNotIn(secret, self.log.read_text())
        for line in lines:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00 quire: ")


class Encrypted(SecureTest):
    more = ("--tls", "required")

    @classmethod
    def conninfo(cls, **more):
        return super().conninfo(**{"sslmode": "require", **more})

    def test_plain_connections_are_refused(self):
        self.refused("without TLS", user="ada", password=PASSWORD, sslmode="disable")

    def test_large_results_copy_and_cancellation(self):
        with self.secure() as connection:
            self.assertTrue(connection.pgconn.ssl_in_use)
            connection.execute("CREATE TABLE large (a BIGINT, b TEXT)")
            lines = "".join(f"{number}\t{'x' * (number % 100)}\n" for number in range(200_000))
            with connection.cursor().copy("COPY large FROM STDIN") as copy:
                copy.write(lines)
            with connection.cursor().copy("COPY large TO STDOUT") as copy:
                # In whichever order: nothing was said about it.
                copied = b"".join(copy).decode()
            self.assertEqual(sorted(copied.splitlines()), sorted(lines.splitlines()))
            rows = connection.execute("SELECT a, b FROM large").fetchall()
            self.assertEqual(sum(number for number, _ in rows), 199_999 * 100_000)
            with self.assertRaises(psycopg.errors.QueryCanceled):
                connection.execute("SET statement_timeout = '100ms'")
                connection.execute("SELECT count(*) FROM generate_series(1, 100000000000)")
            connection.execute("SET statement_timeout = 0")

    def test_pgbench(self):
        environment = {"PGUSER": "ada", "PGPASSWORD": PASSWORD, "PGSSLMODE": "require"}
        self.run_client("pgbench", "-iq", "-s", 1, **environment)
        printed = self.run_client("pgbench", "-c", 4, "-t", 50, "-n", **environment)
        self.assertIn("200/200", printed)

    def test_plain_words_after_a_request_for_tls_end_the_connection(self):
        startup = struct.pack("!II", 8 + len(b"user\0ada\0\0"), 196608) + b"user\0ada\0\0"
        request = struct.pack("!II", 8, 80877103)
        for together in (True, False):
            with socket.create_connection(("127.0.0.1", self.port), HANDSHAKE_SECONDS_MAX) as client:
                client.sendall(request + startup if together else request)
                if not together:
                    self.assertEqual(client.recv(1), b"S")
                    client.sendall(startup)
                received = b""
                while piece := client.recv(4096):
                    received += piece
                # A refusal or an alert of TLS, and no word of a session.
                self.assertIn(received[:1], (b"E", b"\x15"))
                self.assertNotIn(b"server_version", received)

    def test_tls_may_come_first(self):
        context = ssl.create_default_context(cafile=str(self.certificates / "ca.pem"))
        for protocols in (["postgresql"], []):
            context.set_alpn_protocols(protocols) if protocols else None
            with socket.create_connection(("127.0.0.1", self.port), HANDSHAKE_SECONDS_MAX) as plain:
                if not protocols:
                    context = ssl.create_default_context(cafile=str(self.certificates / "ca.pem"))
                with context.wrap_socket(plain, server_hostname="localhost") as client:
                    body = b"user\0ada\0\0"
                    client.sendall(struct.pack("!II", 8 + len(body), 196608) + body)
                    answer = client.recv(1)
                    # Without saying what it speaks, it may not.
                    self.assertEqual(answer, b"R" if protocols else b"")


class Starting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="quire-start-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        make_certificates(self.folder)
        self.database = self.folder / "a.quire"
        shell(self.database, "CREATE TABLE t (a INTEGER);")

    def refusal(self, *options):
        done = subprocess.run(
            [str(QUIRE), "serve", str(self.database), *(str(option) for option in options)],
            capture_output=True, text=True, timeout=HANDSHAKE_SECONDS_MAX, stdin=subprocess.DEVNULL,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_other_machines_need_passwords_and_tls(self):
        files = ("--tls-cert", self.folder / "server.pem", "--tls-key", self.folder / "server.key")
        elsewhere = ("--listen", "0.0.0.0:0")
        self.assertIn("TLS (--tls-cert and --tls-key) and a role that can log in", self.refusal(*elsewhere))
        self.assertIn("without a role that can log in", self.refusal(*elsewhere, *files))
        shell(self.database, "CREATE USER ada PASSWORD 'secret';")
        self.assertIn("without TLS", self.refusal(*elsewhere))
        self.assertIn("without authentication", self.refusal(*elsewhere, *files, "--auth", "trust"))

    def test_wrong_files(self):
        local = ("--listen", "127.0.0.1:0")
        certificate, key = self.folder / "server.pem", self.folder / "server.key"
        missing = self.folder / "missing.pem"
        self.assertIn("missing.pem", self.refusal(*local, "--tls-cert", missing, "--tls-key", key))
        self.assertIn("a private key", self.refusal(*local, "--tls-cert", certificate, "--tls-key", certificate))
        self.assertIn("a certificate", self.refusal(*local, "--tls-cert", key, "--tls-key", key))
        self.assertIn(
            "cannot be used", self.refusal(*local, "--tls-cert", certificate, "--tls-key", self.folder / "other.key")
        )
        self.assertIn("without a certificate", self.refusal(*local, "--tls", "required"))


if __name__ == "__main__":
    unittest.main()
