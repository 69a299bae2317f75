"""Does the same with the directory that is given, whatever file system has it, and says what came of it, a line for each step.

The lines have error numbers, and what stat(2) says of files; of times only how they compare. `oracle.rs` compares those of a
data set with those of the host.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import random
import stat
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE = 1, 2, 16
NOREPLACE, EXCHANGE = 1, 2
AT_FDCWD = -100


def say(what, result):
    print(f"{what}: {result}", flush=True)


def attempt(what, work):
    try:
        result = work()
    except OSError as error:
        result = errno.errorcode.get(error.errno, error.errno)
    say(what, result)


def called(code):
    if code < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return code


def fallocate(fd, mode, offset, length):
    return called(LIBC.fallocate(fd, mode, ctypes.c_long(offset), ctypes.c_long(length)))


def renameat2(old, new, flags):
    return called(LIBC.renameat2(AT_FDCWD, old.encode(), AT_FDCWD, new.encode(), flags))


def described(path, follow=False):
    found = os.stat(path, follow_symlinks=follow)
    size = None if stat.S_ISDIR(found.st_mode) else found.st_size
    return f"{found.st_mode:o} {found.st_nlink} {found.st_uid}:{found.st_gid} {size} {found.st_rdev}"


def show(what, path):
    attempt(f"stat {what}", lambda: described(path))


def write(path, data, flags=os.O_WRONLY | os.O_CREAT, mode=0o644):
    fd = os.open(path, flags, mode)
    try:
        return os.write(fd, data)
    finally:
        os.close(fd)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def as_user(uid, gids, work):
    """What a process of another user gets, as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(gids)
            os.setgid(gids[0])
            os.setuid(uid)
            try:
                result = str(work())
            except OSError as error:
                result = errno.errorcode.get(error.errno, str(error.errno))
            os.write(writer, result.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return result


def creating():
    attempt("write", lambda: write("a", b"hello"))
    show("a", "a")
    attempt("exclusive", lambda: write("a", b"x", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    attempt("append", lambda: write("a", b" world", os.O_WRONLY | os.O_APPEND))
    attempt("content", lambda: read("a"))
    attempt("truncated by open", lambda: write("a", b"b", os.O_WRONLY | os.O_TRUNC))
    show("a", "a")
    for name, mode in [("m0", 0), ("m7777", 0o7777), ("m123", 0o123)]:
        attempt(f"mode {name}", lambda: write(name, b"", mode=mode))
        show(name, name)
    old = os.umask(0o027)
    attempt("umask", lambda: write("masked", b"", mode=0o777))
    os.umask(old)
    show("masked", "masked")
    for kind, device in [(stat.S_IFIFO, 0), (stat.S_IFSOCK, 0), (stat.S_IFCHR, os.makedev(1, 3)), (stat.S_IFBLK, os.makedev(259, 70000)), (stat.S_IFREG, 0)]:
        name = f"node{kind:o}"
        attempt(f"mknod {name}", lambda: os.mknod(name, kind | 0o640, device))
        show(name, name)
        attempt(f"again {name}", lambda: os.mknod(name, kind | 0o640, device))
    attempt("no such directory", lambda: write("no/a", b""))
    attempt("a file as directory", lambda: write("a/b", b""))
    attempt("directory for writing", lambda: os.open(".", os.O_WRONLY))
    attempt("O_DIRECTORY", lambda: os.open("a", os.O_DIRECTORY))
    attempt("temporary", lambda: os.close(os.open("a", os.O_RDONLY | os.O_NOFOLLOW)))


def names():
    for length in [254, 255, 256]:
        name = "n" * length
        attempt(f"create {length}", lambda: write(name, b"x"))
        attempt(f"stat {length}", lambda: described(name))
        attempt(f"mkdir {length}", lambda: os.mkdir("d" + name[1:]))
        attempt(f"symlink {length}", lambda: os.symlink("x", "s" + name[1:]))
        attempt(f"link {length}", lambda: os.link("n" * 254, "l" + name[1:]))
        attempt(f"rename {length}", lambda: os.rename("n" * 254, "r" + name[1:]))
        attempt(f"back {length}", lambda: os.rename("r" + name[1:], "n" * 254))
        attempt(f"unlink {length}", lambda: os.unlink(name))
        attempt(f"rmdir {length}", lambda: os.rmdir("d" + name[1:]))
    attempt("long path", lambda: os.stat("x/" * 3000))
    for name in [b"\xff\xfe", b" ", b"-", b"a\nb", b"\xc3\xa4"]:
        attempt(f"bytes {name}", lambda: os.mkdir(name))
    attempt("listing", lambda: sorted(os.listdir(b".")))


def links():
    write("a", b"hello")
    attempt("link", lambda: os.link("a", "b"))
    show("a", "a")
    attempt("link exists", lambda: os.link("a", "b"))
    os.mkdir("d")
    attempt("link of a directory", lambda: os.link("d", "e"))
    attempt("unlink", lambda: os.unlink("a"))
    show("b", "b")
    attempt("link of none", lambda: os.link("a", "c"))
    attempt("symlink", lambda: os.symlink("b", "s"))
    attempt("readlink", lambda: os.readlink("s"))
    show("s", "s")
    attempt("through", lambda: read("s"))
    attempt("link of a symlink", lambda: os.link("s", "s2", follow_symlinks=False))
    show("s2", "s2")
    attempt("readlink of a file", lambda: os.readlink("b"))
    attempt("empty target", lambda: os.symlink("", "t"))
    attempt("long target", lambda: os.symlink("x" * 4000, "t"))
    attempt("its length", lambda: len(os.readlink("t")))
    attempt("too long target", lambda: os.symlink("x" * 4096, "u"))
    attempt("dangling", lambda: os.stat("t"))
    os.symlink("loop2", "loop1")
    os.symlink("loop1", "loop2")
    attempt("loop", lambda: os.stat("loop1"))
    attempt("loop nofollow", lambda: os.open("loop1", os.O_NOFOLLOW))
    attempt("symlink exists", lambda: os.symlink("x", "s"))
    attempt("unlink of a directory", lambda: os.unlink("d"))
    attempt("rmdir of a file", lambda: os.rmdir("b"))
    attempt("chmod of a symlink", lambda: os.chmod("s", 0o600))
    show("b", "b")
    attempt("lchown", lambda: os.lchown("s", 5, 6))
    show("s", "s")


def directories():
    attempt("mkdir", lambda: os.mkdir("d", 0o751))
    show("d", "d")
    attempt("mkdir exists", lambda: os.mkdir("d"))
    os.mkdir("d/e")
    show("d with e", "d")
    attempt("rmdir full", lambda: os.rmdir("d"))
    attempt("rmdir dot", lambda: os.rmdir("d/."))
    attempt("rmdir dot dot", lambda: os.rmdir("d/e/.."))
    os.chdir("d/e")
    attempt("rmdir of where one is", lambda: os.rmdir("../e"))
    attempt("create in it", lambda: write("x", b""))
    attempt("mkdir in it", lambda: os.mkdir("y"))
    attempt("list it", lambda: os.listdir("."))
    attempt("links of it", lambda: os.stat(".").st_nlink)
    attempt("link into it", lambda: os.symlink("x", "z"))
    os.chdir("../..")
    show("d without e", "d")
    os.mkdir("big")
    for number in range(3000):
        write(f"big/file{number:06}", b"")
    attempt("names", lambda: len(os.listdir("big")))
    removed = 0
    with os.scandir("big") as entries:
        for entry in entries:
            os.unlink(entry.path)
            removed += 1
    say("removed while read", removed)
    attempt("rmdir emptied", lambda: os.rmdir("big"))
    os.mkdir("kinds")
    os.mkdir("kinds/d"), write("kinds/f", b""), os.symlink("f", "kinds/l"), os.mkfifo("kinds/p")
    found = sorted((entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False), entry.is_symlink()) for entry in os.scandir("kinds"))
    say("kinds", found)
    inodes = all(entry.inode() == os.lstat(entry.path).st_ino for entry in os.scandir("kinds"))
    say("inodes of entries", inodes)


def renames():
    for name in ["a", "b", "c"]:
        write(name, name.encode())
    os.mkdir("d"), os.mkdir("d/e"), os.mkdir("empty"), os.mkdir("full"), write("full/x", b"")
    os.link("a", "same")
    attempt("to another link", lambda: os.rename("a", "same"))
    attempt("both are there", lambda: (os.path.exists("a"), os.path.exists("same")))
    attempt("file over file", lambda: os.rename("b", "c"))
    attempt("content", lambda: read("c"))
    attempt("file over directory", lambda: os.rename("a", "empty"))
    attempt("directory over file", lambda: os.rename("empty", "a"))
    attempt("directory over full", lambda: os.rename("empty", "full"))
    attempt("directory over empty", lambda: os.rename("full", "empty"))
    attempt("moved", lambda: os.listdir("empty"))
    attempt("into itself", lambda: os.rename("d", "d/e/f"))
    attempt("none", lambda: os.rename("none", "x"))
    attempt("to itself", lambda: os.rename("a", "a"))
    attempt("dot", lambda: os.rename("d/.", "x"))
    show("d", "d")
    attempt("directory elsewhere", lambda: os.rename("d/e", "empty/e"))
    show("d", "d"), show("empty", "empty")
    attempt("dot dot", lambda: os.path.samefile("empty/e/..", "empty"))
    attempt("noreplace", lambda: renameat2("a", "c", NOREPLACE))
    attempt("noreplace free", lambda: renameat2("a", "free", NOREPLACE))
    attempt("exchange", lambda: renameat2("free", "d", EXCHANGE))
    show("free", "free"), show("d", "d")
    attempt("exchange none", lambda: renameat2("free", "none", EXCHANGE))
    attempt("exchange across", lambda: renameat2("free", "empty/e", EXCHANGE))
    show("empty", "empty")
    attempt("exchange with above", lambda: renameat2("empty", "empty/e", EXCHANGE))
    attempt("both", lambda: renameat2("c", "x", EXCHANGE | NOREPLACE))
    fd = os.open("c", os.O_RDONLY)
    write("over", b"over")
    attempt("over an open file", lambda: os.rename("over", "c"))
    attempt("open file", lambda: (os.read(fd, 10), os.fstat(fd).st_nlink))
    os.close(fd)


def open_files():
    fd = os.open("f", os.O_RDWR | os.O_CREAT)
    os.write(fd, b"before")
    os.unlink("f")
    attempt("unlinked", lambda: described(fd, True))
    attempt("write unlinked", lambda: os.pwrite(fd, b"after" * 50000, 100000))
    attempt("read unlinked", lambda: os.pread(fd, 10, 100003))
    attempt("truncate unlinked", lambda: os.ftruncate(fd, 3))
    attempt("read again", lambda: os.pread(fd, 10, 0))
    attempt("chmod unlinked", lambda: os.fchmod(fd, 0o600))
    attempt("sync unlinked", lambda: os.fsync(fd))
    attempt("revive", lambda: os.link(f"/proc/self/fd/{fd}", "revived", follow_symlinks=True))
    write("f", b"new")
    attempt("another of the name", lambda: read("f"))
    os.close(fd)
    directory = os.open(".", os.O_RDONLY)
    attempt("sync directory", lambda: os.fsync(directory))
    os.close(directory)
    fd = os.open("g", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.write(fd, b"one"), os.lseek(fd, 0, os.SEEK_SET), os.write(fd, b"two")
    attempt("appended", lambda: os.pread(fd, 10, 0))
    attempt("appended by pwrite", lambda: os.pwrite(fd, b"three", 0))
    attempt("then", lambda: os.pread(fd, 20, 0))
    other = os.open("g", os.O_WRONLY | os.O_APPEND)
    os.write(other, b"four")
    attempt("seen", lambda: os.pread(fd, 20, 0))
    attempt("read for writing only", lambda: os.read(other, 1))
    attempt("flock", lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB))
    attempt("flock taken", lambda: fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB))
    attempt("lockf", lambda: fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 5))
    attempt("lockf of another", lambda: as_user(0, [0], lambda: fcntl.lockf(os.open("g", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB, 2, 4)))
    attempt("lockf beside", lambda: as_user(0, [0], lambda: fcntl.lockf(os.open("g", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB, 2, 6)))


def lengths():
    fd = os.open("f", os.O_RDWR | os.O_CREAT)
    os.write(fd, bytes(range(256)) * 1000)
    for length in [255_999, 131_072, 131_071, 400_000, 400_000, 1, 0, 300_000]:
        attempt(f"truncate {length}", lambda: os.ftruncate(fd, length))
        attempt("sum", lambda: (os.fstat(fd).st_size, sum(read("f"))))
        os.pwrite(fd, b"\x01" * 10, max(length - 5, 0))
    attempt("negative", lambda: os.truncate("f", -1))
    attempt("too long", lambda: os.pwrite(fd, b"x", (1 << 63) - 1))
    attempt("of a directory", lambda: os.truncate(".", 0))
    attempt("none", lambda: os.truncate("none", 0))
    for mode, offset, length in [(0, 0, 500_000), (KEEP_SIZE, 500_000, 300_000), (KEEP_SIZE | PUNCH_HOLE, 1000, 200_000), (PUNCH_HOLE, 0, 10), (ZERO_RANGE, 250_000, 10_000), (ZERO_RANGE, 490_000, 50_000), (ZERO_RANGE | KEEP_SIZE, 530_000, 50_000), (KEEP_SIZE | PUNCH_HOLE, 539_000, 100_000), (0, 0, 0), (0, 10, 1000)]:
        attempt(f"allocate {mode} {offset} {length}", lambda: fallocate(fd, mode, offset, length))
        attempt("sum", lambda: (os.fstat(fd).st_size, sum(read("f"))))
        os.pwrite(fd, b"\x02" * 1000, 100_000), os.pwrite(fd, b"\x03" * 1000, 252_000)
    with mmap.mmap(fd, 300_000) as mapped:
        mapped[5000:6000] = b"\x09" * 1000
        attempt("mapped is read", lambda: os.pread(fd, 3, 5500))
        os.pwrite(fd, b"\x08" * 3, 5500)
        say("written is mapped", mapped[5499:5504])
        mapped.flush()
    os.close(fd)
    attempt("sum", lambda: sum(read("f")))
    fd = os.open("sparse", os.O_RDWR | os.O_CREAT)
    attempt("data of none", lambda: os.lseek(fd, 0, os.SEEK_DATA))
    attempt("hole of none", lambda: os.lseek(fd, 0, os.SEEK_HOLE))
    os.pwrite(fd, b"x" * (1 << 20), 4 << 20), os.ftruncate(fd, 16 << 20), os.fsync(fd)
    for whence in [os.SEEK_DATA, os.SEEK_HOLE]:
        for offset in [0, 4 << 20, (4 << 20) + 7, 5 << 20, 16 << 20, (16 << 20) + 1]:
            attempt(f"seek {whence} {offset}", lambda: os.lseek(fd, offset, whence))
    direct = os.open("sparse", os.O_RDWR | os.O_DIRECT | os.O_DSYNC)
    page = mmap.mmap(-1, 4096)
    page[:] = b"d" * 4096
    attempt("direct write", lambda: os.pwritev(direct, [page], 8192))
    attempt("direct read", lambda: (os.preadv(direct, [page], 8192), page[:4]))
    attempt("read through the cache", lambda: os.pread(fd, 4, 8190))


def times():
    write("f", b"x")
    for accessed, modified in [(5, 7), (1 << 33, 1_000_000_001), (-1_500_000_000, -500_000_000), (0, 0)]:
        attempt("utime", lambda: os.utime("f", ns=(accessed, modified)))
        attempt("times", lambda: (os.stat("f").st_atime_ns, os.stat("f").st_mtime_ns))

    def changes(what, path, work):
        os.utime(path, ns=(1000, 1000))
        before = os.stat(path)
        time.sleep(0.02)
        attempt(what, work)
        after = os.stat(path)
        say(f"{what} changes", (after.st_mtime_ns > before.st_mtime_ns, after.st_ctime_ns > before.st_ctime_ns))

    os.mkdir("d")
    changes("write", "f", lambda: write("f", b"y"))
    changes("write nothing", "f", lambda: write("f", b""))
    changes("truncate", "f", lambda: os.truncate("f", 1))
    changes("truncate more", "f", lambda: os.truncate("f", 5))
    changes("chmod", "f", lambda: os.chmod("f", 0o600))
    changes("chown", "f", lambda: os.chown("f", 0, 0))
    changes("link", "f", lambda: os.link("f", "g"))
    changes("unlink", "f", lambda: os.unlink("g"))
    changes("rename", "f", lambda: (os.rename("f", "g"), os.rename("g", "f"))[0])
    changes("read", "f", lambda: read("f"))
    changes("create in", "d", lambda: write("d/x", b""))
    changes("write in", "d", lambda: write("d/x", b"x"))
    changes("rename in", "d", lambda: os.rename("d/x", "d/y"))
    changes("unlink in", "d", lambda: os.unlink("d/y"))
    changes("mkdir in", "d", lambda: os.mkdir("d/z"))
    changes("rmdir in", "d", lambda: os.rmdir("d/z"))
    changes("symlink in", "d", lambda: os.symlink("x", "d/z"))
    changes("rename out", "d", lambda: os.rename("d/z", "z"))
    changes("setxattr", "f", lambda: os.setxattr("f", "user.a", b"b"))
    changes("removexattr", "f", lambda: os.removexattr("f", "user.a"))
    os.utime("f", ns=(1000, 1000))
    attempt("utime now of another", lambda: as_user(1000, [1000], lambda: os.utime("f")))
    os.chmod("f", 0o666)
    attempt("utime now of a writer", lambda: as_user(1000, [1000], lambda: os.utime("f")))
    attempt("utime of a writer", lambda: as_user(1000, [1000], lambda: os.utime("f", ns=(1, 1))))


def owners():
    os.chmod(".", 0o777)
    write("f", b"x")
    attempt("chown", lambda: os.chown("f", 1000, 1001))
    show("f", "f")
    attempt("chmod by its owner", lambda: as_user(1000, [1000], lambda: os.chmod("f", 0o4750)))
    attempt("chmod by another", lambda: as_user(1002, [1002], lambda: os.chmod("f", 0o777)))
    show("f", "f")
    attempt("read by another", lambda: as_user(1002, [1002], lambda: read("f")))
    attempt("read by the group", lambda: as_user(1002, [1002, 1001], lambda: read("f")))
    attempt("write by the group", lambda: as_user(1002, [1002, 1001], lambda: write("f", b"y")))
    attempt("give away", lambda: as_user(1000, [1000], lambda: os.chown("f", 1002, -1)))
    attempt("to a group of mine", lambda: as_user(1000, [1000, 77], lambda: os.chown("f", -1, 77)))
    show("f", "f")
    attempt("to another group", lambda: as_user(1000, [1000], lambda: os.chown("f", -1, 78)))
    for mode in [0o6777, 0o6767, 0o4711, 0o2755, 0o2745]:
        for what, work in [
            ("write", lambda: write("p", b"z")),
            ("write by root", None),
            ("append", lambda: write("p", b"z", os.O_WRONLY | os.O_APPEND)),
            ("truncate", lambda: os.truncate("p", 0)),
            ("open", lambda: write("p", b"", os.O_WRONLY | os.O_TRUNC)),
        ]:
            write("p", b"abc"), os.chown("p", 1000, 1000), os.chmod("p", mode)
            if work is None:
                write("p", b"z")
            else:
                as_user(1000, [1000], work)
            show(f"{mode:o} after {what}", "p")
        os.chmod("p", mode), os.chown("p", 1000, 1000)
        show(f"{mode:o} after chown by root", "p")
        os.chmod("p", mode), os.chown("p", -1, 1001)
        show(f"{mode:o} after chgrp by root", "p")
    attempt("set-group-id of another group", lambda: as_user(1000, [1000], lambda: os.chmod("p", 0o2755)))
    show("p", "p")
    os.mkdir("shared"), os.chown("shared", 0, 1234), os.chmod("shared", 0o2777)
    attempt("in a set-group-id directory", lambda: as_user(1000, [1000], lambda: (write("shared/f", b""), os.mkdir("shared/d"), os.symlink("x", "shared/l"), os.mknod("shared/p", stat.S_IFIFO | 0o600))))
    for name in ["f", "d", "l", "p"]:
        show(f"shared {name}", f"shared/{name}")
    attempt("set-group-id file there", lambda: as_user(1000, [1000], lambda: write("shared/s", b"", mode=0o2755)))
    show("shared s", "shared/s")
    os.mkdir("sticky"), os.chmod("sticky", 0o1777)
    write("sticky/mine", b"")
    os.chown("sticky/mine", 1000, 1000)
    attempt("sticky unlink", lambda: as_user(1001, [1001], lambda: os.unlink("sticky/mine")))
    attempt("sticky rename", lambda: as_user(1001, [1001], lambda: os.rename("sticky/mine", "sticky/x")))
    attempt("sticky of its owner", lambda: as_user(1000, [1000], lambda: os.unlink("sticky/mine")))
    os.mkdir("closed", 0o700)
    attempt("closed lookup", lambda: as_user(1000, [1000], lambda: os.stat("closed/x")))
    attempt("closed list", lambda: as_user(1000, [1000], lambda: os.listdir("closed")))
    attempt("closed create", lambda: as_user(1000, [1000], lambda: write("closed/x", b"")))
    os.chmod("closed", 0o755)
    attempt("read-only create", lambda: as_user(1000, [1000], lambda: write("closed/x", b"")))
    attempt("read-only lookup", lambda: as_user(1000, [1000], lambda: os.stat("closed/x")))
    attempt("mknod by another", lambda: as_user(1000, [1000], lambda: os.mknod("dev", stat.S_IFCHR, os.makedev(1, 3))))
    attempt("execute", lambda: as_user(1000, [1000], lambda: os.access("f", os.X_OK)))


def extended():
    write("f", b"x"), os.mkdir("d"), os.symlink("f", "s")
    for name in ["user.a", "user.b", "trusted.t", "security.s", "user.", "nothing.x", "a", "user." + "n" * 250, "user." + "n" * 251]:
        attempt(f"set {name[:20]} {len(name)}", lambda: os.setxattr("f", name, b"value"))
    attempt("list", lambda: sorted(name for name in os.listxattr("f")))
    attempt("list of another", lambda: as_user(1000, [1000], lambda: sorted(os.listxattr("f"))))
    attempt("get", lambda: os.getxattr("f", "user.a"))
    attempt("get none", lambda: os.getxattr("f", "user.none"))
    attempt("create", lambda: os.setxattr("f", "user.a", b"x", os.XATTR_CREATE))
    attempt("replace", lambda: os.setxattr("f", "user.a", b"", os.XATTR_REPLACE))
    attempt("replace none", lambda: os.setxattr("f", "user.none", b"", os.XATTR_REPLACE))
    attempt("empty", lambda: os.getxattr("f", "user.a"))
    attempt("remove", lambda: os.removexattr("f", "user.a"))
    attempt("remove none", lambda: os.removexattr("f", "user.a"))
    attempt("of a directory", lambda: os.setxattr("d", "user.d", b"\x00" * 1000))
    attempt("get of a directory", lambda: len(os.getxattr("d", "user.d")))
    attempt("of a symlink", lambda: os.setxattr("s", "user.s", b"", follow_symlinks=False))
    attempt("trusted of a symlink", lambda: os.setxattr("s", "trusted.s", b"1", follow_symlinks=False))
    attempt("by another", lambda: as_user(1000, [1000], lambda: os.setxattr("f", "user.x", b"")))
    attempt("trusted by another", lambda: as_user(1000, [1000], lambda: os.getxattr("f", "trusted.t")))
    attempt("2,000 bytes", lambda: os.setxattr("f", "user.long", b"l" * 2000))
    attempt("too long", lambda: os.setxattr("f", "user.long", b"l" * 65537))


def at_random(seed):
    """Names at random, and all that is there in between."""
    chance = random.Random(seed)
    places = ["", "d1/", "d2/", "d1/e/"]

    def name():
        return chance.choice(places) + chance.choice(["a", "b", "c", "d1", "d2", "e"])

    steps = {
        "write": lambda: (lambda path, data, flags: (f"{path} {len(data)}", lambda: write(path, data, flags)))(name(), bytes([chance.randrange(256)]) * chance.randrange(300_000), os.O_WRONLY | os.O_NONBLOCK | os.O_CREAT | chance.choice([0, os.O_APPEND, os.O_TRUNC, os.O_EXCL])),
        "mkdir": lambda: (lambda path: (path, lambda: os.mkdir(path)))(name()),
        "rmdir": lambda: (lambda path: (path, lambda: os.rmdir(path)))(name()),
        "unlink": lambda: (lambda path: (path, lambda: os.unlink(path)))(name()),
        "link": lambda: (lambda old, new: (f"{old} {new}", lambda: os.link(old, new)))(name(), name()),
        "symlink": lambda: (lambda old, new: (f"{old} {new}", lambda: os.symlink(old, new)))(name(), name()),
        "rename": lambda: (lambda old, new: (f"{old} {new}", lambda: os.rename(old, new)))(name(), name()),
        "renameat2": lambda: (lambda old, new, flags: (f"{old} {new} {flags}", lambda: renameat2(old, new, flags)))(name(), name(), chance.choice([1, 2])),
        "truncate": lambda: (lambda path, size: (f"{path} {size}", lambda: os.truncate(path, size)))(name(), chance.randrange(400_000)),
        "chmod": lambda: (lambda path, mode: (f"{path} {mode:o}", lambda: os.chmod(path, mode)))(name(), chance.randrange(0o10000)),
        "chown": lambda: (lambda path, uid: (f"{path} {uid}", lambda: os.chown(path, uid, uid)))(name(), chance.randrange(3)),
        "mkfifo": lambda: (lambda path: (path, lambda: os.mkfifo(path)))(name()),
        "setxattr": lambda: (lambda path, data: (f"{path} {data}", lambda: os.setxattr(path, "user.x", data)))(name(), bytes([chance.randrange(256)])),
        "getxattr": lambda: (lambda path: (path, lambda: os.getxattr(path, "user.x")))(name()),
    }
    for number in range(600):
        kind = chance.choice(list(steps))
        what, work = steps[kind]()
        attempt(f"{number} {kind} {what}", lambda: None if work() is None else "done")
        if number % 50 == 49:
            for directory, directories, files in sorted(os.walk(".")):
                for found in sorted(directories + files):
                    path = os.path.join(directory, found)
                    show(path, path)
                    if os.path.isfile(path) and not os.path.islink(path):
                        say("content", (len(read(path)), hash(read(path))))


def main():
    root, seed = sys.argv[1], int(sys.argv[2])
    os.umask(0o022)
    os.chmod(root, 0o755)
    for suite in [creating, names, links, directories, renames, open_files, lengths, times, owners, extended]:
        folder = os.path.join(root, suite.__name__)
        os.mkdir(folder)
        os.chdir(folder)
        say("suite", suite.__name__)
        suite()
    folder = os.path.join(root, "random")
    os.mkdir(folder)
    os.chdir(folder)
    at_random(seed)


main()
