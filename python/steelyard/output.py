# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written as a whole, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Optional

# With these errors, a folder takes no new file, although an existing file in it may be writable.
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yields the path to write. At the end, the files there, of any suffix, replace those beside `path`; after a
    failure, nothing is left of them, and what `path` held before stays. An OSError names `path`."""
    try:
        target = Path(os.path.realpath(path))  # a link stays, and what it leads to is replaced
        is_device = path.exists() and not path.is_file()
        folder = None if is_device else _folder_beside(target)
        if folder is None:
            yield path
            return
        try:
            yield folder / path.name
            for written in sorted(folder.iterdir()):
                if written.name == path.name:
                    _replace(target, written)
                else:
                    shutil.move(written, path.with_name(written.name))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from problem


def _replace(target: Path, written: Path) -> None:
    if target.exists():
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
        shutil.copymode(target, written)
    os.replace(written, target)


def _folder_beside(target: Path) -> Optional[Path]:
    """None if only the existing file itself can be written."""
    try:
        return Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as problem:
        if problem.errno in REFUSED and target.exists():
            return None
        raise
