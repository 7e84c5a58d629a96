"""The comment on a pull request: what the chatbot will read differently, and what questions find before and after."""

from __future__ import annotations

from ragpress.console import Report, plural
from ragpress.evaluation.gate import has_questions
from ragpress.report.gathering import read_artifact
from ragpress.report.retrieval import Measured, Question, measure
from ragpress.report.showing import page_name
from ragpress.repository import Repository
from ragpress.review.diff import Changes, to_markdown
from ragpress.review.diff.markdown import LIMIT, html_name, html_text
from ragpress.review.diff.showing import shorten
from ragpress.review.git import Base

MARKER = "<!-- ragpress: what the chatbot will read differently -->"
"""The first line, by which the comment is found again, and no other is taken for it."""

_ROOM = 500  # characters for the marker and the link to the report
_MOST = 10  # questions that got worse
_LONG = 2_000  # characters of the HTML of one, beyond which it is in the report alone
_TEXT = 200  # characters of a question, a heading or a chunk


def comment(repository: Repository, changes: Changes, base: Base | None, url: str, report: Report) -> str:
    """HTML blocks of at most 60,000 characters, which a host takes for Markdown. `url` is where the report is."""
    measured = Measured()
    if has_questions(repository):
        manifest, note = read_artifact(repository)
        measured = measure(repository, base, note, report) if manifest else Measured(note=note)
    retrieval = _retrieval(measured)
    root = url.rstrip("/")

    def link(source: str, chunk_id: str) -> str:
        return f"{root}/sources/{page_name(source)}#c-{chunk_id}"

    done = f"{MARKER}\n{to_markdown(changes, LIMIT - _ROOM, link if root else None, retrieval)}"
    whole = f'\n<p><a href="{html_name(root)}/changes.html">The whole report</a></p>\n' if root else ""
    return done + whole


def _retrieval(measured: Measured) -> str:
    found = measured.retrieval
    if found is None:
        return f"\n<p><b>Retrieval</b>: {html_text(measured.note)}</p>\n" if measured.note else ""
    note = f" {html_text(found.note)}" if found.note else ""
    if found.before is None or found.after is None:
        shown = f"hit@5 {found.total.hit_at_5:.4f}, with nothing accepted to compare it with"
        return f"\n<p><b>Retrieval</b>: {shown}.{note}</p>\n"
    one, two = found.before, found.after
    counted = f"{plural(len(found.worse), 'question', 'questions')} worse, {len(found.better)} better"
    lines = [
        f"<p><b>Retrieval</b> compared with <code>{html_name(found.against)}</code>:"
        f" hit@5 {one.hit_at_5:.4f} → {two.hit_at_5:.4f}, MRR@10 {one.mrr_at_10:.4f} → {two.mrr_at_10:.4f}"
        f" ({counted}).{note}</p>"
    ]
    if found.worse:
        lines += ["", f"<details open><summary>{plural(len(found.worse), 'question', 'questions')} worse</summary>"]
        blocks = [text for text in map(_worse, found.worse[:_MOST]) if len(text) <= _LONG]
        lines += blocks
        if len(found.worse) > len(blocks):
            lines.append(f"<p>and {len(found.worse) - len(blocks)} more, in the report</p>")
        lines.append("</details>")
    return "\n" + "\n".join(lines) + "\n"


def _worse(one: Question) -> str:
    ranks = f"{_rank(one.before)} before, {_rank(one.rank)} now"
    lines = [f'<p dir="auto"><b>{_short(one.question)}</b></p>', f"<p>{ranks}</p>"]
    if one.obstacle:
        lines.append(f"<p>no chunk answers it: {_short(one.obstacle)}</p>")
    if one.answers:
        chunk = one.answers[0].hit.chunk
        lines.append(f"<p>first instead: <code>{html_name(f'{chunk.source}:{chunk.locator}')}</code></p>")
        text = f"{chunk.section}: " if chunk.section else ""
        lines.append(f'<blockquote dir="auto">{_short(text + chunk.text[chunk.context_chars :])}</blockquote>')
    return "".join(lines)


def _rank(rank: int | None) -> str:
    return f"rank {rank}" if rank else "not among ten"


def _short(text: str) -> str:
    return html_text(shorten(" ".join(text.split()), _TEXT))
