# SPDX-License-Identifier: ISC
"""The list of links of /usr that the first session of a home makes. A test has a
fresh home, and the list is that of the machine: a later test gets the list of
an earlier one. It names the state of the machine that it belongs to, so that a
session does not take one that is too old."""
import contextlib
import glob
import os
import shutil
import tempfile

NAME = "usr-links"


def _kept():
    return os.path.join(tempfile.gettempdir(), f"ic-tests-{NAME}-{os.getuid()}")


def give(home):
    """Put the list into a fresh home, if an earlier test has left one."""
    store = os.path.join(home, "system")
    try:
        fd = os.open(_kept(), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    with os.fdopen(fd, "rb") as f:
        if os.fstat(f.fileno()).st_uid != os.getuid() or os.path.exists(store):
            return
        os.mkdir(store, mode=0o700)
        with open(os.path.join(store, NAME), "wb",
                  opener=lambda p, how: os.open(p, how, 0o600)) as to:
            shutil.copyfileobj(f, to)


def keep(work):
    """Keep the list of a home below the directory of a test that has ended."""
    for name in glob.glob(os.path.join(work, "home", "system", NAME)):
        with contextlib.suppress(OSError), open(name, "rb") as f:
            text = f.read()
            with contextlib.suppress(FileNotFoundError), \
                    open(_kept(), "rb") as old:
                if old.read() == text:
                    continue
            fd, new = tempfile.mkstemp(dir=os.path.dirname(_kept()))
            with os.fdopen(fd, "wb") as to:
                to.write(text)
            os.rename(new, _kept())
