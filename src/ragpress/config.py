"""`[tool.ragpress]` of a repository's pyproject.toml as one frozen Config."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ragpress.errors import BuildError

MODEL_LIMIT = 512
"""Tokens that the known models read at most, prefix and special tokens included (their model cards)."""

Positive = Annotated[int, msgspec.Meta(ge=1)]
Natural = Annotated[int, msgspec.Meta(ge=0)]
LocaleSetting = Literal["auto", "en", "ru", "fa"]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings with their defaults. Paths are relative to the folder of pyproject.toml."""

    sources: str = "sources"
    golden: str = "golden"
    build: str = "build"
    exclude: tuple[str, ...] = ()  # files and folders below sources that are none: "drafts/**"

    model: str = "nomic-embed-text-v2-moe"
    model_file: str = "Q6_K"  # the quantisation of the hub's file
    model_path: str = ""  # a GGUF on this machine, used instead of the hub's file
    offline_model: str = ""  # used, and announced, where the hub cannot be reached
    dimensions: Natural = 0  # Matryoshka: cut vectors to so many dimensions; 0 keeps all
    reproducible: bool = False  # embed again what another machine's engine embedded
    seed: str = ""  # a published artifact (folder or archive) to take unchanged vectors from
    cluster: str = ""  # address of the scheduler of a Dask cluster that builds; the variable RAGPRESS_CLUSTER wins

    max_tokens: Annotated[int, msgspec.Meta(ge=32, le=MODEL_LIMIT)] = 384
    min_tokens: Natural = 48
    overlap_sentences: Natural = 2
    strategy: Literal["fixed", "semantic"] = "fixed"
    breakpoint_percentile: Annotated[int, msgspec.Meta(ge=1, le=99)] = 20
    extra_h1: Literal["index", "drop"] = "index"
    excluded_section_headings: tuple[str, ...] = ()
    detect_qa: bool = True
    number_locale: LocaleSetting = "auto"  # how numbers of Excel cells and charts are shown

    captions: Literal["off", "openai", "tesseract"] = "off"
    captions_url: str = ""
    captions_model: str = ""
    captions_prompt: str = ""  # what a model is asked instead of the usual question
    convert_doc: bool = False

    min_coverage: Share = 0.98
    on_error: Literal["fail", "skip"] = "fail"
    source_seconds: Positive = 120  # a source that takes longer fails by name
    source_megabytes: Positive = 2048  # memory that reading one source may take

    # `ragpress eval` fails where hit@5 is below the one, or where hit@5 or MRR@10 falls by more than the other below
    # what was recorded: hit@5 is what a chatbot that reads five chunks needs, MRR@10 notices answers that slide down
    min_hit_at_5: Share = 0.0
    max_hit_drop: Share = 0.02


def load_config(root: Path) -> Config:
    """The settings of the repository at `root`. Raises BuildError that names an unknown key or a bad value."""
    path = root / "pyproject.toml"
    try:
        text = path.read_text(encoding="utf-8-sig")
        table = tomllib.loads(text)
    except FileNotFoundError:
        raise BuildError(
            "bad-setting", f"no pyproject.toml in {root.name or '.'}; run `ragpress init .` to write one"
        ) from None
    except UnicodeDecodeError as error:
        raise BuildError("bad-setting", f"pyproject.toml: byte {error.start} is no UTF-8; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise BuildError("bad-setting", _syntax(str(error))) from None
    except OSError as error:
        raise BuildError("bad-setting", f"pyproject.toml cannot be read: {error.strerror}") from None
    tool = table.get("tool", {})
    return parse_config(tool.get("ragpress", {}) if isinstance(tool, dict) else {}, text)


def _syntax(error: str) -> str:
    """What tomllib says, as of Python 3.11 `Invalid value (at line 12, column 5)`, with the place in front."""
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", error)
    place, what = (f":{found[2]}", f"{found[1]} at column {found[3]}") if found else ("", error)
    hint = "" if what.startswith("Cannot") else "; a text needs quotation marks, a list brackets"
    return f"pyproject.toml{place}: this is no valid TOML: {what}{hint}"


def parse_config(settings: object, text: str = "") -> Config:
    """A Config from the plain values of `[tool.ragpress]` in pyproject.toml, whose text is to find lines in.

    Raises BuildError that names the line of a setting which cannot be used, what may be there, and the nearest to it.
    """
    if not isinstance(settings, dict):
        raise BuildError("bad-setting", "pyproject.toml: `ragpress` must be a table: [tool.ragpress]")
    for key, value in settings.items():
        _check(str(key), value, text)
    config = msgspec.convert(settings, Config)
    if config.min_tokens > config.max_tokens:
        raise BuildError(
            "bad-setting",
            f"{_place('min_tokens', text)}min_tokens = {config.min_tokens} is above max_tokens = {config.max_tokens};"
            " lower it",
        )
    for name in ("sources", "golden", "build"):
        value = getattr(config, name)
        if not value or Path(value).is_absolute() or ".." in Path(value).parts:
            raise BuildError("bad-setting", f"{_place(name, text)}`{name}` must be a folder inside the repository")
    return config


def cluster_address(config: Config) -> str:
    """Where the scheduler of the cluster is that builds; empty for this machine."""
    return os.environ.get("RAGPRESS_CLUSTER", config.cluster).strip()


def _check(key: str, value: object, text: str) -> None:
    if key not in Config.__struct_fields__:
        close = difflib.get_close_matches(key, Config.__struct_fields__, 1)
        hint = f"did you mean `{close[0]}`?" if close else "see docs/settings.md"
        raise BuildError("bad-setting", f"{_place(key, text)}[tool.ragpress] has no setting `{key}`; {hint}")
    try:
        msgspec.convert({key: value}, Config)
    except msgspec.ValidationError:
        shown = json.dumps(value, ensure_ascii=False, default=str)
        wanted = _wanted(key, value)
        raise BuildError("bad-setting", f"{_place(key, text)}`{key}` is {shown}, it must be {wanted}") from None


def _wanted(key: str, value: object) -> str:
    """What a setting may be, in words, and the nearest of several choices."""
    import msgspec.inspect as types

    (kind,) = (field.type for field in types.type_info(Config).fields if field.name == key)  # type: ignore[attr-defined]
    match kind:
        case types.LiteralType(values=choices):
            close = difflib.get_close_matches(str(value).lower(), map(str, choices), 1)
            hint = f"; did you mean {json.dumps(close[0])}?" if close else ""
            return f"one of {', '.join(json.dumps(choice) for choice in choices)}{hint}"
        case types.IntType(ge=least, le=most):
            return f"a whole number{_range(least, most)}"
        case types.FloatType(ge=least, le=most):
            return f"a number{_range(least, most)}"
        case types.BoolType():
            return "true or false"
        case types.VarTupleType():
            return 'a list of texts, as ["one", "two"]'
    return 'a text, as "text"'


def _range(least: float | None, most: float | None) -> str:
    if least is None:
        return ""
    return f" of {least:g} or more" if most is None else f" from {least:g} to {most:g}"


def _place(key: str, text: str) -> str:
    """`pyproject.toml:7: `, or without a number where the line is not found."""
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        head = re.match(r"\s*\[([^\]]*)\]", line)
        table = head[1].replace(" ", "") if head else table
        if table == "tool.ragpress" and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", line):
            return f"pyproject.toml:{number}: "
    return "pyproject.toml: "
