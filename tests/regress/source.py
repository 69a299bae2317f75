"""PostgreSQL's tests, out of Debian's source package: fetched once into the cache folder, never kept in this repository."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import tarfile
import tempfile

VERSION, DEBIAN = "15.18", "15.18-0+deb12u1"
ARCHIVE = f"postgresql-15_{VERSION}.orig.tar.bz2"
SHA256 = "11df0df97fe3ea4ba9a791faaf39cee1d2fe571e78885b5b55d8517d27c323b4"
INSIDE = f"postgresql-{VERSION}/src/test/regress/"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SOURCES = f"deb-src [signed-by={KEYRING}] http://deb.debian.org/debian bookworm main\n"
FETCH_SECONDS_MAX = 300


class Unavailable(Exception):
    """The package cannot be had here; says why. `has_answered` if the registry was there."""

    def __init__(self, why: str, has_answered: bool):
        super().__init__(why)
        self.has_answered = has_answered


def folder() -> pathlib.Path:
    """Where `sql` and `data` of the tests lie."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "quire-regress" / VERSION
    if not (cache / "ready").exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="quire-regress-") as name:
            unpack(fetch(pathlib.Path(name)), cache)
        (cache / "ready").touch()
    return cache


def fetch(place: pathlib.Path) -> pathlib.Path:
    """By apt, with lists of its own, so that the machine's are left alone."""
    (place / "lists" / "partial").mkdir(parents=True)
    (place / "cache" / "archives" / "partial").mkdir(parents=True)
    (place / "sources.list").write_text(SOURCES)
    settings = [
        f"Dir::Etc::sourcelist={place / 'sources.list'}", "Dir::Etc::sourceparts=/dev/null", f"Dir::State::lists={place / 'lists'}",
        f"Dir::Cache={place / 'cache'}", "APT::Sandbox::User=root", "Acquire::Retries=2", "APT::Update::Error-Mode=any",
    ]
    apt = ["apt-get", "-q", *(word for setting in settings for word in ("-o", setting))]
    for words in (["update"], ["source", "--download-only", f"postgresql-15={DEBIAN}"]):
        try:
            done = subprocess.run([*apt, *words], cwd=place, capture_output=True, text=True, timeout=FETCH_SECONDS_MAX)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(str(error), False) from error
        if done.returncode != 0:
            raise Unavailable(f"apt-get {words[0]}: {(done.stderr or done.stdout).strip()[-500:]}", words[0] == "source")
    archive = place / ARCHIVE
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise Unavailable(f"{ARCHIVE} has another content than expected", True)
    return archive


def unpack(archive: pathlib.Path, cache: pathlib.Path) -> None:
    with tarfile.open(archive) as tar:
        for member in tar:
            inner = member.name.removeprefix(INSIDE)
            if member.isfile() and member.name.startswith(INSIDE) and inner.split("/")[0] in ("sql", "data"):
                content = tar.extractfile(member)
                assert content is not None
                path = cache / inner
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())
