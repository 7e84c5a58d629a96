"""`ragpress explain`: what the code at the end of a message means."""

from __future__ import annotations

import argparse

from ragpress.errors import CODES
from ragpress.explanations import explain_code


def explain(options: argparse.Namespace) -> int:
    """One code with its cause and cure, or all codes, a line each."""
    if options.code:
        print(explain_code(options.code))
    else:
        width = max(map(len, CODES))
        print("\n".join(f"{code.ljust(width)}  {meaning}" for code, meaning in CODES.items()))
    return 0
