"""Control groups, of either version: a limit of memory, and of what is read from a disk in a second."""

import contextlib
import os
import pathlib

MIB = 1 << 20
ROOT = pathlib.Path("/sys/fs/cgroup")
# The second version has one tree, the first a tree for each kind of limit.
IS_UNIFIED = not (ROOT / "memory").is_dir()


class Device:
    """Bytes and requests a second of reads from the disk that has a file."""

    def __init__(self, path, read_bytes, read_requests):
        number = os.stat(path).st_dev
        self.number = f"{os.major(number)}:{os.minor(number)}"
        self.read_bytes, self.read_requests = read_bytes, read_requests

    def write_limits(self, folder):
        if IS_UNIFIED:
            (folder / "io.max").write_text(f"{self.number} rbps={self.read_bytes} riops={self.read_requests}")
        else:
            (folder / "blkio.throttle.read_bps_device").write_text(f"{self.number} {self.read_bytes}")
            (folder / "blkio.throttle.read_iops_device").write_text(f"{self.number} {self.read_requests}")


class Group:
    """A control group. The memory limit counts what the system caches of files that the processes read."""

    def __init__(self, limit_mib, device=None):
        name = f"quire-bench-{os.getpid()}-{limit_mib}"
        memory = (ROOT if IS_UNIFIED else ROOT / "memory") / name
        self.folders = [memory]
        memory.mkdir()
        (memory / ("memory.max" if IS_UNIFIED else "memory.limit_in_bytes")).write_text(str(limit_mib * MIB))
        if device:
            disks = memory if IS_UNIFIED else ROOT / "blkio" / name
            if disks != memory:
                disks.mkdir()
                self.folders.append(disks)
            device.write_limits(disks)

    def add(self, pid):
        """Moves a process into the group. What it has allocated before stays where it was counted."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def enter(self):
        self.add(os.getpid())

    def remove(self):
        for folder in self.folders:
            folder.rmdir()


@contextlib.contextmanager
def group_of(limit_mib, device=None):
    group = Group(limit_mib, device)
    try:
        yield group
    finally:
        group.remove()


def may_make_groups():
    try:
        with group_of(64):
            return True
    except OSError:
        return False
