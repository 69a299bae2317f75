# What a person does with the repository. `make` lists it. `cargo xtask` lists the smaller chores.

export CARGO_TARGET_DIR ?= $(HOME)/.cache/quire-target
# Data outside the repository: real tables and the sqllogictest corpus.
export QUIRE_SHARED ?= $(abspath ../shared)
export QUIRE := $(CARGO_TARGET_DIR)/release/quire

PYTHON := .venv/bin/python
CARGO := cargo
XTASK := $(CARGO_TARGET_DIR)/release/xtask
SCALE ?= 1
CASES ?= 100000
# The page of `make report`.
PAGE ?= $(CARGO_TARGET_DIR)/report.html
ORACLE_QUERIES ?= 20000
# Options of the oracle, such as --seed 17:203 or --avoid. `make test` asks as many statements as 170 seconds allow.
ORACLE ?=
ACCEPTANCE := cd tests/acceptance && ../../$(PYTHON) -W error -m unittest

.PHONY: help setup build python tidy format lint docs unit corpus acceptance test demo bench bench-queries bench-codecs bench-server bench-latency bench-files bench-bits bench-memory bench-mount testers oracle regress report nightly clean-data

help:
	@echo "make setup       packages, Python environment (needs rustup)"
	@echo "make demo        TPC-H at SCALE=1 from CSV: sizes and 22 queries; COLUMNS=1 for each column"
	@echo "make demo DATA=f the same for a file of your own"
	@echo "make python      the Python package, built and installed for the tests"
	@echo "make test        everything that has to hold"
	@echo "make docs        documentation of all crates; a link that leads nowhere is an error"
	@echo "make oracle      ORACLE_QUERIES=20000 random statements on Quire and PostgreSQL 15"
	@echo "make regress     PostgreSQL's own tests of queries: the share that agrees"
	@echo "make report      every figure of the papers as one page, with what they claim: PAGE=\$$CARGO_TARGET_DIR/report.html; hours, with QUICK=1 minutes"
	@echo "make bench       size, load and query times beside DuckDB, Hyper, Parquet and DataFusion; small statements; the server; codecs"
	@echo "make bench-queries of these the queries alone: TPC-H, also shuffled and with little memory, TPC-DS, large statements, planning"
	@echo "make bench-codecs the codecs' kernels beside their peers: cycles, GB/s, and the bar of each"
	@echo "make bench-server sysbench through the wire beside MariaDB and PostgreSQL; SERVER='--quick' to see that it runs"
	@echo "make bench-latency small statements by psycopg beside PostgreSQL, and the bar of each"
	@echo "make bench-files size of real files beside Parquet with zstd(3)"
	@echo "make bench-mount  sizes and speed of mounted data sets beside ext4, btrfs and zfs-fuse; MOUNT='--quick' to see that it runs"
	@echo "make bench-memory peak memory of large queries under limits beside DuckDB's; in control groups"
	@echo "make bench-bits  flip every bit of a small database"
	@echo "make nightly     CASES=100000 crashes of row transactions, 20,000 of loads, 500 kills, full disks, 2,000 power losses, 20,000 damaged files; 1,000,000 random statements"

# What the tests of the server run: PostgreSQL's own clients, sysbench.
CLIENTS := psql pgbench sysbench mariadbd
CLIENT_PACKAGES := postgresql-client postgresql-contrib sysbench mariadb-server

setup: .venv/ready
	@command -v cargo >/dev/null || { echo "Rust is missing: see https://rustup.rs"; exit 1; }
	@command -v cc >/dev/null && command -v pkg-config >/dev/null \
		|| { apt-get update && apt-get install -y --no-install-recommends build-essential pkg-config; }
	@for client in $(CLIENTS); do command -v $$client >/dev/null || missing=1; done; test -z "$$missing" \
		|| { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(CLIENT_PACKAGES); }
# A browser for the pages of `quire inspect` and `quire lab --report`. Where it cannot be had its test is skipped, and says so.
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
		|| { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || true

.venv/ready: requirements-dev.txt
	@python3 -m venv .venv || { apt-get update && apt-get install -y python3-venv && python3 -m venv .venv; }
	.venv/bin/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

# One profile for the shell, the tests and the benchmarks: DataFusion is compiled once.
build:
	$(CARGO) build --release --locked -p quire-cli -p xtask

# The Python package, into the environment of the tests. Its crate is compiled here only; all that it depends on is that of `build`.
python: setup build
	PATH="$(abspath .venv/bin):$$PATH" .venv/bin/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall .

tidy:
	$(CARGO) xtask tidy

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

# Links of documentation lead somewhere. Beside clippy it checks all crates of ours once more, for a minute: so it is no part of `test`.
docs:
	RUSTDOCFLAGS="-D rustdoc::broken_intra_doc_links" $(CARGO) doc --locked --workspace --no-deps --document-private-items

unit:
	$(CARGO) test --release --locked --workspace

# The same test as in `unit`, with its counts and causes shown.
corpus:
	$(CARGO) test --release --locked -p quire-acceptance --test slt_corpus -- --nocapture

# Named before it is a prerequisite.
POSTGRES := /usr/lib/postgresql/15/bin/postgres
acceptance: setup build python $(POSTGRES)
	$(ACCEPTANCE) discover -v

test: setup
	@$(MAKE) --no-print-directory tidy
	@$(MAKE) --no-print-directory format
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory acceptance
	@$(MAKE) --no-print-directory oracle ORACLE="--seed 1 --seconds 170"
	@$(MAKE) --no-print-directory regress

demo:
	$(CARGO) build --release --locked -p quire-cli -p xtask
	$(XTASK) demo --quire $(QUIRE) --work $(CARGO_TARGET_DIR)/demo --scale $(SCALE) \
		$(if $(DATA),--data "$(DATA)") $(if $(COLUMNS),--columns)

# The page names the commit that the program is made from.
report:
	QUIRE_COMMIT=$$(git describe --always --dirty) $(CARGO) build --release --locked -p quire-cli
	$(QUIRE) lab --report "$(PAGE)" $(if $(QUICK),--quick)

bench: setup build python
	@$(MAKE) --no-print-directory bench-queries
	$(PYTHON) bench/python_package.py
	@$(MAKE) --no-print-directory bench-server
	@$(MAKE) --no-print-directory bench-latency
	@$(MAKE) --no-print-directory bench-codecs

# Hyper is large and needed for nothing else: where it cannot be had its columns are left out.
HYPER := tableauhyperapi==0.0.26963
bench-queries: setup build
	$(CARGO) build --release --locked -p quire-acceptance --bin quire-bench
	@$(PYTHON) -c "import tableauhyperapi" 2>/dev/null || $(PYTHON) -m pip install --quiet --disable-pip-version-check $(HYPER) || true
	$(PYTHON) bench/run.py --scale $(SCALE)
	$(PYTHON) bench/run.py --scale $(SCALE) --shuffled --loads 1
	$(PYTHON) bench/tpcds.py
	$(PYTHON) bench/large_statements.py --scale $(SCALE)
	$(PYTHON) bench/limited_memory.py --scale $(SCALE)
	$(PYTHON) bench/cold.py --scale $(SCALE)
	$(PYTHON) bench/planning.py --scale $(SCALE)
	$(PYTHON) bench/executors.py

# Its own build: no DataFusion, no Python.
bench-codecs:
	$(CARGO) run --release --locked -p quire-codec --example bench_codecs

# Options of bench/server.py, such as --quick or --rows 100000 --rounds 1.
SERVER ?=
# The servers of Debian are installed and not used as they are: the script starts its own in a temporary folder.
bench-server: setup build
	@test -x /usr/sbin/mariadbd && ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 \
		|| { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends mariadb-server postgresql; }
	$(PYTHON) bench/server.py --quire $(QUIRE) $(SERVER)

# Options of bench/mount_sizes.py and bench/mount.py. The scripts make the servers, mounts and loop devices themselves, in a temporary folder.
MOUNT_SIZES ?=
MOUNT ?=
bench-mount: setup build
	@command -v fio >/dev/null && command -v zfs-fuse >/dev/null && command -v mkfs.btrfs >/dev/null \
		|| { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends fio zfs-fuse btrfs-progs mariadb-server postgresql; }
	$(PYTHON) bench/mount_sizes.py $(MOUNT_SIZES)
	$(PYTHON) bench/mount.py $(MOUNT)

bench-latency: setup build
	@ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 \
		|| { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql; }
	$(PYTHON) bench/statement_latency.py --quire $(QUIRE)

bench-files: setup build
	$(PYTHON) bench/files.py

bench-memory: setup build
	$(PYTHON) bench/memory_limits.py --quire $(QUIRE) --scale $(SCALE)
	$(PYTHON) bench/small_machine.py

bench-bits:
	$(CARGO) test --release --locked -p quire-tables --test bit_flips -- --ignored --nocapture

# PostgreSQL 15 itself, and psql. The scripts start their own server in a temporary folder.
$(POSTGRES):
	apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql-15

# Types and judgement of the two testers, without a server.
testers: setup
	cd tests && ../$(PYTHON) -m mypy --strict -p oracle -p regress && ../$(PYTHON) -m unittest oracle.test_oracle regress.test_regress

oracle: setup build testers $(POSTGRES)
	cd tests && ../$(PYTHON) -m oracle --count $(ORACLE_QUERIES) $(ORACLE)

# Where PostgreSQL or its source package cannot be had the run says that it is skipped.
regress: setup build
	@test -x $(POSTGRES) || $(MAKE) --no-print-directory $(POSTGRES) || true
	cd tests && ../$(PYTHON) -m regress

# A million random statements, or as many as the time allows; the next night goes on with other seeds. The file has the sums of all nights.
NIGHTS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/quire-oracle.json
ORACLE_SECONDS ?= 14400

# Says how far it is and which seeds it has tried. A seed that failed is tried alone by QUIRE_SEED=… QUIRE_ROW_CASES=1 QUIRE_WORKERS=1.
nightly:
	QUIRE_ROW_CASES=$(CASES) $(CARGO) test --release --locked -p quire-testkit --test row_crashes -- --nocapture
	QUIRE_ENGINE_CASES=20000 $(CARGO) test --release --locked -p quire-testkit --test engine_crashes -- --nocapture
	QUIRE_KILLS=500 $(CARGO) test --release --locked -p quire-testkit --test row_kills -- --nocapture
	$(CARGO) test --release --locked -p quire-testkit --test row_full -- --ignored
	@$(MAKE) --no-print-directory oracle ORACLE_QUERIES=1000000 ORACLE="--continued $(NIGHTS) --seconds $(ORACLE_SECONDS)"
	@$(MAKE) --no-print-directory regress
	QUIRE_POWER_IMAGES=2000 $(CARGO) test --release --locked -p quire-acceptance --test power_loss -- --nocapture
	QUIRE_CASES=500 $(CARGO) test --release --locked -p quire-device --test device
	QUIRE_CASES=1000 $(CARGO) test --release --locked -p quire-mount --test mount -- --nocapture
	QUIRE_KILLED_MOUNTS=1000 $(ACCEPTANCE) test_killed_mounts
	QUIRE_DAMAGED_FILES=20000 $(CARGO) test --release --locked -p quire-acceptance --test damaged_files -- --nocapture

clean-data:
	rm -rf $(CARGO_TARGET_DIR)/tpch $(CARGO_TARGET_DIR)/demo
