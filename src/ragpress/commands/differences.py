"""`ragpress diff`: what the chatbot will read differently."""

from __future__ import annotations

import argparse
import sys

from ragpress.repository import repository_here


def diff(options: argparse.Namespace) -> int:
    """What the chatbot will read differently, on standard output. Status 0, whatever differs.

    Compared is with the goldens; the comment with the merge base as well as the report is.
    """
    from ragpress.console import report
    from ragpress.pipeline import build_lock
    from ragpress.pipeline.results import stale_sources
    from ragpress.review.accept import changes_of, comparison_base
    from ragpress.review.diff import screen_of, to_json, to_terminal
    from ragpress.sources import find_sources

    repository, given = repository_here(), options.base or options.revision
    with build_lock(repository):
        base = comparison_base(repository, given, report) if given or options.markdown else None
        found = changes_of(repository, base)
        stale = stale_sources(repository, find_sources(repository))
    if stale:
        names = ", ".join(f"{repository.config.sources}/{item.source}" for item in stale[:3])
        more = f" and {len(stale) - 3} more" if len(stale) > 3 else ""
        print(
            f"ragpress: changed since the last build: {names}{more}; run `ragpress build`, then this again",
            file=sys.stderr,
        )
    if options.json:
        sys.stdout.write(to_json(found))
    elif options.markdown:
        from ragpress.report.comment import comment

        sys.stdout.write(comment(repository, found, base, options.report_url, report))
    else:
        for line in to_terminal(found, screen_of(sys.stdout, options.width)):
            print(line)
    return 0
