"""Compressing file systems side by side: a folder on each, and what they store."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))
import mounts  # noqa: E402
from mounts import dataset  # noqa: E402
from peer_servers import allocated_bytes  # noqa: E402

START_SECONDS_MAX = 30
POOL = "quirebench"


def run(*command):
    """What a command prints; it must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def drop_caches():
    """Nothing of a file is in memory afterwards."""
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n")


class FileSystem:
    """A file system made anew below a working folder; `folder` is where its files are while it is mounted."""

    def __init__(self, name, work):
        self.name = name
        self.work = work / name.replace(" ", "_")
        self.folder = self.work / "mnt"

    @contextlib.contextmanager
    def mounted(self):
        self.work.mkdir()
        self.folder.mkdir()
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, self.work, ignore_errors=True)
            self.mount(stack)
            yield

    def mount(self, stack):
        raise NotImplementedError

    def servers(self):
        """Processes that serve the file system."""
        return []

    def stored_bytes(self):
        """Bytes on the device that files and their metadata take."""
        raise NotImplementedError

    def forget_cached(self):
        """Nothing of a file is in memory afterwards, neither of the system nor of a process that serves the file system."""
        drop_caches()


class Ext4(FileSystem):
    """The file system that is below all others, without compression."""

    def __init__(self, work):
        super().__init__("ext4", work)

    def mount(self, stack):
        pass

    def stored_bytes(self):
        os.sync()
        return allocated_bytes(self.folder)


class Btrfs(FileSystem):
    """btrfs on a loop device, past the page cache of the file below. Compression is forced: no peer of ours may lose by giving up early."""

    def __init__(self, work, codec, image_bytes):
        super().__init__(f"btrfs {codec}", work)
        self.codec, self.image_bytes = codec, image_bytes

    def mount(self, stack):
        image = self.work / "image"
        with image.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, self.image_bytes)
        run("mkfs.btrfs", "--quiet", "--force", image)
        loop = run("losetup", "--find", "--show", "--direct-io=on", image).strip()
        stack.callback(run, "losetup", "--detach", loop)
        compress = "" if self.codec == "none" else f",compress-force={self.codec}"
        run("mount", "-o", f"noatime{compress}", loop, self.folder)
        stack.callback(run, "umount", self.folder)
        self.empty_bytes = self.used_bytes()

    def used_bytes(self):
        os.sync()
        run("btrfs", "filesystem", "sync", self.folder)
        status = os.statvfs(self.folder)
        return (status.f_blocks - status.f_bfree) * status.f_frsize

    def stored_bytes(self):
        return self.used_bytes() - self.empty_bytes


class ZfsFuse(FileSystem):
    """Debian's zfs-fuse: pool version 23, with lzjb, gzip and zle."""

    def __init__(self, work, codec, record_bytes, image_bytes):
        super().__init__(f"zfs-fuse {codec}", work)
        self.codec, self.record_bytes, self.image_bytes = codec, record_bytes, image_bytes

    def mount(self, stack):
        image = self.work / "image"
        with image.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, self.image_bytes)
        daemon = subprocess.Popen(["zfs-fuse", "--no-daemon"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(daemon.wait)
        stack.callback(daemon.terminate)
        end = time.monotonic() + START_SECONDS_MAX
        while subprocess.run(["zpool", "list"], capture_output=True).returncode != 0:
            if daemon.poll() is not None or time.monotonic() > end:
                raise SystemExit("zfs-fuse does not answer")
            time.sleep(0.1)
        run("zpool", "create", "-f", "-o", "cachefile=none", "-m", self.folder, "-O", f"compression={'off' if self.codec == 'none' else self.codec}",
            "-O", f"recordsize={self.record_bytes}", "-O", "atime=off", POOL, image)
        stack.callback(self.destroy_pool)
        self.empty_bytes = self.used_bytes()

    def forget_cached(self):
        run("zpool", "export", POOL)
        super().forget_cached()
        run("zpool", "import", "-o", "cachefile=none", "-d", self.work, POOL)

    def destroy_pool(self):
        """Its daemon holds the files for a moment after they are closed."""
        end = time.monotonic() + START_SECONDS_MAX
        while subprocess.run(["zpool", "destroy", "-f", POOL], capture_output=True).returncode != 0:
            if time.monotonic() > end:
                raise SystemExit("zfs-fuse does not let go of its pool")
            time.sleep(0.5)

    def used_bytes(self):
        # A snapshot ends the transaction group, so all that was written counts.
        run("zfs", "snapshot", f"{POOL}@now")
        run("zfs", "destroy", f"{POOL}@now")
        return int(run("zfs", "get", "-Hp", "-o", "value", "used", POOL))

    def stored_bytes(self):
        return self.used_bytes() - self.empty_bytes


class QuireMount(FileSystem):
    """A data set of ours, mounted."""

    def __init__(self, work, codec, record_bytes, sync="compressed", options=()):
        words = [codec, *([sync] if sync != "compressed" else []), *(option.removeprefix("--") for option in options)]
        super().__init__(f"quire {' '.join(words)}", work)
        self.options = options
        self.properties = [f"compression={'off' if codec == 'none' else codec}", f"recordsize={record_bytes}", f"sync={sync}"]

    def mount(self, stack):
        self.volume = self.work / "volume.quire"
        dataset("create", self.volume, "data", *(word for text in self.properties for word in ("-o", text)))
        self.stack = stack
        self.serve()

    def serve(self):
        self.server = self.stack.enter_context(mounts.mounted(self.volume, self.folder, "--allow-other", *self.options))

    def servers(self):
        return [self.server.process.pid]

    def forget_cached(self):
        self.server.unmount()
        super().forget_cached()
        self.serve()

    def stored_bytes(self):
        # sync(2) does not wait for FUSE.
        folder = os.open(self.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        return int(os.getxattr(self.folder, "user.quire.used"))
