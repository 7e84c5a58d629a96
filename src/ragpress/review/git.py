"""What git revisions hold, read without checking anything out, and the revision that a change is compared with."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from pathlib import Path

import msgspec

from ragpress.errors import BuildError

_TARGETS = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
"""Variables in which GitHub and GitLab give a job the branch that a request asks to be merged into."""
_FETCH = "fetch it, or give another (in a CI job: check out with the whole history)"


class Base(msgspec.Struct, frozen=True):
    """What a change is compared with: a revision, and a short name of it that git takes as well."""

    revision: str
    name: str


# -- the base --------------------------------------------------------------------------------------------------------


def find_base(root: Path, given: str = "") -> Base | None:
    """The revision that is given, else the merge base with the default branch; None where there is neither.

    The default branch is the one that a CI job's request is to be merged into, else that of the remote `origin`, else
    `main` or `master`. Raises BuildError for a revision that git does not know, and where a CI job's branch is missing.
    """
    if given:
        _commit(root, given)
        return Base(given, given)
    branch = _default_branch(root)
    if not branch:
        return None
    done = _run(root, "merge-base", "HEAD", branch)
    if done is None or done.returncode:
        raise BuildError("revision", f"git knows no common ancestor of this commit and {branch}; {_FETCH}")
    commit = done.stdout.decode().strip()
    return Base(commit, branch if commit == _commit(root, branch) else commit[:10])


def _default_branch(root: Path) -> str:
    if _quietly(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
        return ""  # no git, no repository or no commit
    for variable in _TARGETS:
        target = os.environ.get(variable)
        if target:
            branch = f"origin/{target}"
            _commit(root, branch)
            return branch
    remote = _quietly(root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    names = [*([remote] if remote else []), "origin/main", "origin/master", "main", "master"]
    known = (name for name in names if _quietly(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"))
    return next(known, "")


# -- files of a revision ---------------------------------------------------------------------------------------------


def files_at(root: Path, revision: str, folder: str, suffix: str) -> dict[str, bytes]:
    """The regular files below `root/folder` at a revision whose names end in `suffix`: NFC path from there to bytes.

    A revision without that folder has none. Raises BuildError where git, the repository or the revision is missing.
    """
    commit = _commit(root, revision)
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


# -- history ---------------------------------------------------------------------------------------------------------


class Commit(msgspec.Struct, frozen=True):
    """A commit: its short id and its day (`2024-05-01`, that of its author)."""

    identifier: str
    day: str


def commits_of(root: Path, path: str, most: int) -> list[Commit]:
    """The last commits that changed a path below the root, oldest first; none where there is no git history."""
    listed = _quietly(root, "log", f"-{most}", "--first-parent", "--date=short", "--format=%h %ad", "--", f"./{path}")
    return [Commit(*line.split(" ")) for line in reversed((listed or "").splitlines())]


def is_held(root: Path, revision: str, folder: str) -> bool:
    """Whether a revision has anything in a folder below the root."""
    return bool(_quietly(root, "ls-tree", revision, f"./{folder}/"))


def uncommitted(root: Path, folder: str) -> int:
    """How many files of a folder below the root differ from the last commit; 0 where there is no git."""
    return len(
        (_quietly(root, "status", "--porcelain", "--untracked-files=all", "--", f"./{folder}") or "").splitlines()
    )


def file_at(root: Path, revision: str, path: str) -> bytes | None:
    """A file below the root at a revision, None where it has none."""
    done = _run(root, "cat-file", "blob", f"{revision}:./{path}")
    return done.stdout if done is not None and done.returncode == 0 else None


def lines_at(root: Path, revision: str, path: str, beginning: str) -> int:
    """How many lines below a path begin so, at a revision."""
    counted = _quietly(root, "grep", "-c", "-I", "-e", f"^{beginning}", revision, "--", f"./{path}")
    return sum(int(line.rpartition(":")[2]) for line in (counted or "").splitlines())


# -- running git -----------------------------------------------------------------------------------------------------


def _commit(root: Path, revision: str) -> str:
    if revision.startswith("-"):
        raise BuildError("revision", f"{revision} is no git revision")
    return _git(root, revision, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").decode().strip()


def _git(root: Path, revision: str, *arguments: str, given: bytes = b"") -> bytes:
    done = _run(root, *arguments, given=given)
    if done is None:
        raise BuildError("revision", "git is not installed; install it, or compare without a revision")
    if done.returncode == 0:
        return done.stdout
    reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0].removeprefix("fatal: ")
    raise BuildError("revision", f"git knows no revision {revision}{f' ({reason})' if reason else ''}; {_FETCH}")


def _quietly(root: Path, *arguments: str) -> str | None:
    """What git prints, None where it cannot say."""
    done = _run(root, *arguments)
    return done.stdout.decode("utf-8", "replace").strip() if done is not None and done.returncode == 0 else None


def _run(root: Path, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes] | None:
    """None where git is not installed."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    command = ["git", "-C", str(root), "--literal-pathspecs", *arguments]
    try:
        return subprocess.run(command, input=given, capture_output=True, check=False, env=environment)
    except FileNotFoundError:
        return None
