"""Data sets mounted by `quire mount`, for tests and benchmarks."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import threading

from quire_shell import QUIRE

START_SECONDS_MAX = STOP_SECONDS_MAX = 120


def why_not():
    """Why nothing can be mounted here, or None."""
    device = pathlib.Path("/dev/fuse")
    if not device.exists():
        return "/dev/fuse is missing"
    if os.geteuid() != 0:
        return "only root may mount without fusermount3"
    try:
        os.close(os.open(device, os.O_RDWR))
    except OSError as error:
        return f"/dev/fuse cannot be opened: {error.strerror}"
    return None


def skip(test, reason):
    """Skips a test, and says so where CI counts it."""
    print(f"skipped: {test.id()}: {reason}", file=sys.stderr)
    test.skipTest(reason)


def skip_unless_mounting(test):
    reason = why_not()
    if reason:
        skip(test, reason)


def dataset(*words):
    """What `quire dataset` prints; it must succeed."""
    done = subprocess.run([QUIRE, "dataset", *map(str, words)], capture_output=True, text=True, timeout=STOP_SECONDS_MAX, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise AssertionError(f"quire dataset {words}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Mount:
    """A data set of a volume, mounted in a folder for as long as the process lives."""

    def __init__(self, volume, folder, *options):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [QUIRE, "mount", volume, folder, *map(str, options)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        # A process that never says that it is ready ends as well.
        deadline = threading.Timer(START_SECONDS_MAX, self.process.kill)
        deadline.start()
        try:
            line = self.process.stdout.readline()
        finally:
            deadline.cancel()
        if not line.startswith("mounted "):
            _, problem = self.process.communicate(timeout=STOP_SECONDS_MAX)
            if self.process.returncode < 0:
                self.take_away()
            raise AssertionError(f"quire mount said {line!r}, {problem!r} and ended with {self.process.returncode}")

    def unmount(self):
        """Asks the process to end in order; everything is on the disk then."""
        self.process.send_signal(signal.SIGTERM)
        try:
            _, problem = self.process.communicate(timeout=STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("quire mount did not end") from None
        if self.process.returncode != 0:
            raise AssertionError(f"quire mount ended with {self.process.returncode}: {problem}")

    def kill(self):
        """Kills the process, and takes away what it leaves mounted."""
        self.process.kill()
        self.process.communicate(timeout=STOP_SECONDS_MAX)
        self.take_away()

    def take_away(self):
        subprocess.run(["umount", "--lazy", self.folder], capture_output=True, timeout=STOP_SECONDS_MAX)

    @property
    def compress_ratio(self):
        return float(os.getxattr(self.folder, "user.quire.compressratio"))


@contextlib.contextmanager
def mounted(volume, folder, *options):
    """A mount that is gone afterwards, in order unless the test has failed or killed it."""
    mount = Mount(volume, folder, *options)
    try:
        yield mount
        if mount.process.poll() is None:
            mount.unmount()
    finally:
        if mount.process.poll() is None or os.path.ismount(folder):
            mount.kill()
