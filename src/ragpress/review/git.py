"""What a git revision holds, read without checking anything out."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from pathlib import Path

from ragpress.errors import BuildError


def files_at(root: Path, revision: str, folder: str, suffix: str) -> dict[str, bytes]:
    """The regular files below `root/folder` at a revision whose names end in `suffix`: NFC path from there to bytes.

    A revision without that folder has none. Raises BuildError where git, the repository or the revision is missing.
    """
    if revision.startswith("-"):
        raise BuildError("revision", f"{revision} is no git revision")
    name = f"{revision}^{{commit}}"
    commit = _git(root, revision, "rev-parse", "--verify", "--quiet", name).decode().strip()
    listed = _git(root, revision, "ls-tree", "-r", "-z", commit, f"./{folder}/")
    blobs: dict[str, str] = {}
    for line in listed.split(b"\0"):
        entry, _, path = line.partition(b"\t")
        below = os.fsdecode(path).removeprefix(f"{folder}/")
        if entry.startswith(b"100") and below.endswith(suffix):  # no links, no submodules
            blobs[unicodedata.normalize("NFC", below)] = entry.split()[2].decode()
    found = _git(root, revision, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs.values()).encode())
    files: dict[str, bytes] = {}
    position = 0
    for path_below, blob in blobs.items():
        end = found.index(b"\n", position)
        head = found[position:end].split()
        if len(head) != 3:  # a clone without this blob, which the server did not give
            raise BuildError("revision", f"{folder}/{path_below} at {revision} ({blob}) is missing from this clone")
        start = end + 1
        position = start + int(head[2])
        files[path_below] = found[start:position]
        position += 1
    return files


def _git(root: Path, revision: str, *arguments: str, given: bytes = b"") -> bytes:
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    command = ["git", "-C", str(root), "--literal-pathspecs", *arguments]
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False, env=environment)
    except FileNotFoundError:
        raise BuildError("revision", "git is not installed; install it, or compare without a revision") from None
    if done.returncode == 0:
        return done.stdout
    reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0].removeprefix("fatal: ")
    advice = "fetch it, or give another (in a CI job: check out with the whole history)"
    raise BuildError("revision", f"git knows no revision {revision}{f' ({reason})' if reason else ''}; {advice}")
