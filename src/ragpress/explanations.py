"""What each message code means and what to do about it: the sections of templates/messages.md."""

from __future__ import annotations

import difflib
import re
from functools import cache
from importlib import resources
from typing import NamedTuple

from ragpress.errors import CODES, BuildError

_SECTION = re.compile(
    r"^## (\S+)\n+\*\*Cause\.\*\* (.+?)\n\n\*\*Cure\.\*\* (.+?)\n*(?=^#|\Z)", re.MULTILINE | re.DOTALL
)


class Explanation(NamedTuple):
    """Why a message appears, and what to do; code words in backticks."""

    cause: str
    cure: str


@cache
def explanations() -> dict[str, Explanation]:
    """Code to its explanation, in the order of the page."""
    text = resources.files("ragpress").joinpath("templates", "messages.md").read_text(encoding="utf-8")
    return {
        code: Explanation(" ".join(cause.split()), " ".join(cure.split()))
        for code, cause, cure in _SECTION.findall(text)
    }


def explain_code(code: str) -> str:
    """What a code stands for, its cause and its cure, for a terminal. Raises BuildError for an unknown one."""
    code = code.strip("[]").lower()
    if code not in CODES:
        close = difflib.get_close_matches(code, CODES, 1)
        hint = f"did you mean {close[0]}?" if close else "`ragpress explain` lists all"
        raise BuildError("bad-setting", f"there is no message code {code}; {hint}")
    found = explanations()[code]
    return f"{code}: {CODES[code]}\n\nCause: {found.cause}\n\nCure: {found.cure}"
