"""The servers that bench/server.py compares."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))
from peer_servers import COMPRESSED, NAME, OURS, PLAIN, PROGRAMS, USER, MariaDb, PostgreSql, Side, allocated_bytes, program  # noqa: E402

__all__ = ["COMPRESSED", "PLAIN", "PROGRAMS", "USER", "MariaDb", "PostgreSql", "Quire", "all_sides", "program"]


class Quire(Side):
    def __init__(self, name, folder, given, page_codec):
        super().__init__(name, OURS, folder, given)
        self.page_codec = page_codec
        self.data = self.folder / "bench.quire"

    def server(self):
        return [self.given.quire, "serve", str(self.data), "--listen", f"127.0.0.1:{self.port}", "--cache", f"{self.given.pool_mib}MiB"]

    def psql(self, sql):
        return ["psql", "-X", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", NAME, "-c", sql]

    def question(self):
        return self.psql("SELECT 1")

    def client(self):
        return ["--db-driver=pgsql", "--pgsql-host=127.0.0.1", f"--pgsql-port={self.port}", f"--pgsql-user={USER}", f"--pgsql-db={NAME}"]

    def finish_preparing(self, table_count):
        """sysbench makes the tables with the codec that is the default; another is theirs afterwards."""
        if self.page_codec != "lz4":
            for number in range(1, table_count + 1):
                subprocess.run(self.psql(f"ALTER TABLE sbtest{number} SET (page_codec = {self.page_codec})"), check=True, capture_output=True)
            subprocess.run(self.psql("VACUUM"), check=True, capture_output=True)

    def disk_bytes(self):
        return allocated_bytes(self.data)


def all_sides(folder, given):
    return [
        *(Quire(f"Quire, page_codec {codec}", folder, given, codec) for codec in ("none", "lz4", "zstd")),
        PostgreSql("PostgreSQL", PLAIN, folder, given),
        MariaDb("InnoDB", PLAIN, folder, given, "innodb"),
        MariaDb("InnoDB, ROW_FORMAT=COMPRESSED", COMPRESSED, folder, given, "innodb ROW_FORMAT=COMPRESSED"),
        MariaDb("InnoDB, PAGE_COMPRESSED", COMPRESSED, folder, given, "innodb PAGE_COMPRESSED=1"),
    ]
