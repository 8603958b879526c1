# SPDX-License-Identifier: ISC
"""Notes about the machine that the first session of a home makes: the list of
links of /usr, and a copy of /etc, which is 1,600 files. A test has a fresh home,
and the machine stays the same: a later test gets what an earlier one made. Both
name the state of the machine that they belong to, so that a session does not take
one that is too old."""
import contextlib
import glob
import os
import shutil
import tempfile

LINKS = "usr-links"
ETC = "etc-"


def _kept():
    """Returns the directory of what is kept, which this user alone can write."""
    path = os.path.join(tempfile.gettempdir(), f"ic-tests-system-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, mode=0o700)
    st = os.lstat(path)
    if st.st_uid != os.getuid() or not os.path.isdir(path) or \
            os.path.islink(path):
        raise OSError(f"{path} is not ours")
    return path


def _copy(name, to):
    """Copies a directory; its files are the same ones, by another name."""
    os.mkdir(to)
    for entry in os.scandir(name):
        new = os.path.join(to, entry.name)
        if entry.is_dir(follow_symlinks=False):
            _copy(entry.path, new)
        else:
            os.link(entry.path, new, follow_symlinks=False)
    os.chmod(to, os.lstat(name).st_mode & 0o7777)


def _take(name, where):
    """Puts a copy of the file or directory there, unless there is one."""
    to = os.path.join(where, os.path.basename(name))
    if os.path.exists(to):
        return
    new = tempfile.mkdtemp(dir=where, prefix="new-")
    part = os.path.join(new, "part")
    try:
        if os.path.isdir(name):
            _copy(name, part)
        else:
            shutil.copy2(name, part)
        os.rename(part, to)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def give(home):
    """Put into a fresh home what an earlier test has left."""
    store = os.path.join(home, "system")
    if os.path.exists(store):
        return
    with contextlib.suppress(OSError, shutil.Error):
        kept = glob.glob(os.path.join(_kept(), ETC + "*"))
        kept += glob.glob(os.path.join(_kept(), LINKS))
        if kept:
            os.mkdir(store, mode=0o700)
        for name in kept:
            _take(name, store)


def keep(work):
    """Keep what the home below the directory of a test that has ended has."""
    store = os.path.join(work, "home", "system")
    with contextlib.suppress(OSError, shutil.Error):
        for name in glob.glob(os.path.join(store, ETC + "?" * 32)):
            for old in glob.glob(os.path.join(_kept(), ETC + "*")):
                if os.path.basename(old) != os.path.basename(name):
                    shutil.rmtree(old, ignore_errors=True)
            _take(name, _kept())
        links = os.path.join(store, LINKS)
        old = os.path.join(_kept(), LINKS)
        if os.path.exists(links) and not (
                os.path.exists(old) and _read(old) == _read(links)):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(old)
            _take(links, _kept())


def _read(name):
    with open(name, "rb") as f:
        return f.read()
