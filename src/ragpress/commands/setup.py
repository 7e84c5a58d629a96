"""`ragpress init`, `model`, `seed` and `cache`: what a build stands on."""

from __future__ import annotations

import argparse
import sys

from ragpress.repository import repository_here


def init(options: argparse.Namespace) -> int:
    """Writes what a content repository needs into a folder; nothing that is there is touched."""
    from ragpress.init import make_repository

    for line in make_repository(options.folder):
        print(line, file=sys.stderr)
    return 0


def model(options: argparse.Namespace) -> int:
    """Shows, chooses or locks the embedding model of the repository in the working folder."""
    from ragpress.models import selection as choice

    repository = repository_here()
    if options.action == "use":
        print(choice.use(repository, options.name), file=sys.stderr)
    elif options.action == "lock":
        print(choice.lock(repository), file=sys.stderr)
    else:
        print("\n".join(choice.show(repository)))
    return 0


def seed(options: argparse.Namespace) -> int:
    """Puts an artifact's vectors into the cache of the repository in the working folder."""
    from ragpress.console import report
    from ragpress.pipeline import build_lock
    from ragpress.pipeline.seed import seed_cache

    repository = repository_here()
    with build_lock(repository):
        seed_cache(repository, options.path, report)
    return 0


def cache(options: argparse.Namespace) -> int:
    """Says what is in the vector cache of the repository in the working folder, or drops what is unused."""
    from ragpress.console import report
    from ragpress.pipeline import build_lock
    from ragpress.pipeline.cache import describe, prune

    repository = repository_here()
    with build_lock(repository):
        if options.prune:
            print(prune(repository, (options.max_megabytes or 0) * 10**6, report))
        else:
            print(describe(repository, report))
    return 0
