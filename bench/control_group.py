"""Control groups, of either version: a limit of memory, and of what is read from and written to a disk in a second."""

import contextlib
import os
import pathlib

MIB = 1 << 20
ROOT = pathlib.Path("/sys/fs/cgroup")
# The second version has one tree, the first a tree for each kind of limit.
IS_UNIFIED = not (ROOT / "memory").is_dir()


# The SATA SSD of `quire_store::DeviceProfile`: bytes a second, and reads of 4 KiB with a full queue.
SATA_READ_BYTES, SATA_WRITE_BYTES, SATA_READ_REQUESTS = 530_000_000, 500_000_000, 90_000


class Device:
    """Bytes and requests a second of reads from the disk that has a file, and bytes of writes if they are limited. The first version counts
    only the writes that a process waits for."""

    def __init__(self, path, read_bytes, read_requests, write_bytes=None):
        number = os.stat(path).st_dev
        self.number = f"{os.major(number)}:{os.minor(number)}"
        self.read_bytes, self.read_requests, self.write_bytes = read_bytes, read_requests, write_bytes

    def write_limits(self, folder):
        writes = self.write_bytes is not None
        if IS_UNIFIED:
            limits = f"rbps={self.read_bytes} riops={self.read_requests}" + (f" wbps={self.write_bytes}" if writes else "")
            (folder / "io.max").write_text(f"{self.number} {limits}")
            return
        (folder / "blkio.throttle.read_bps_device").write_text(f"{self.number} {self.read_bytes}")
        (folder / "blkio.throttle.read_iops_device").write_text(f"{self.number} {self.read_requests}")
        if writes:
            (folder / "blkio.throttle.write_bps_device").write_text(f"{self.number} {self.write_bytes}")


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

    @contextlib.contextmanager
    def entered(self):
        """This process, and all that it starts, is in the group; it leaves in the end."""
        self.enter()
        try:
            yield
        finally:
            self.release(os.getpid())

    def release(self, pid):
        """Moves a process out of the group, to where groups of this program begin."""
        for folder in self.folders:
            (folder.parent / "cgroup.procs").write_text(str(pid))

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
