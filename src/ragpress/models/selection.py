"""Which of two models a build folder uses: the configured or the offline one. The choice stays until changed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ragpress.config import Config
from ragpress.errors import BuildError, message, render
from ragpress.files import fingerprint, replace_file
from ragpress.models.known import ModelFile, hub_file, known_model, lock_model, locked_file
from ragpress.models.lock import read_lock
from ragpress.repository import Repository, chunking_fingerprint, open_repository


class Choice(msgspec.Struct, frozen=True):
    """build/model.json: the model that is used, and the file's identity once a build has used it."""

    name: str
    file: str = ""
    sha256: str = ""
    dimensions: int = 0


def allowed(config: Config) -> tuple[str, ...]:
    """The configured model's name, then the offline one's where there is one."""
    return tuple(name for name in (config.model, config.offline_model) if name)


def read_choice(repository: Repository) -> Choice | None:
    """What the build folder uses: as chosen, else as its artifact says. None where neither is usable."""
    try:
        return msgspec.json.decode((repository.build / "model.json").read_bytes(), type=Choice)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return artifact_choice(repository)


class _Index(msgspec.Struct):
    model: Choice


def artifact_choice(repository: Repository) -> Choice | None:
    """The model of the artifact that stands in the build folder; None where there is none that can be read."""
    try:
        return msgspec.json.decode((repository.artifact / "index.json").read_bytes(), type=_Index).model
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def own_file(repository: Repository) -> Path | None:
    """The file that the settings name by `model_path`, if the artifact in the build folder is of its model."""
    config, used = repository.config, artifact_choice(repository)
    own = config.model_path and used is not None and used.name == config.model
    return repository.root / Path(config.model_path).expanduser() if own else None


def file_for(artifact: Path) -> Path | None:
    """The `own_file` of the repository in the working folder, if this is its artifact. Raises BuildError."""
    if not Path("pyproject.toml").is_file():
        return None
    repository = open_repository(Path.cwd())
    return own_file(repository) if artifact.resolve() == repository.artifact.resolve() else None


def sticky_name(repository: Repository) -> str | None:
    """The chosen model's name, if the settings still name it."""
    choice = read_choice(repository)
    return choice.name if choice and choice.name in allowed(repository.config) else None


def locked_model(repository: Repository, sticky: str | None) -> ModelFile | None:
    """The configured model by its lock alone, where it is in use: enough, offline too, where no text needs a vector."""
    config = repository.config
    locked = read_lock(repository.root).get(config.model)
    if locked is None or config.model_path or sticky not in {None, config.model}:
        return None
    return locked_file(config, locked)


def chunking_stamp(repository: Repository) -> str:
    """Over everything but the source's bytes that decides its chunks, the model among it where chunks depend on one."""
    stamp = chunking_fingerprint(repository)
    if repository.config.strategy != "semantic":
        return stamp
    locked = locked_model(repository, sticky_name(repository))
    choice = read_choice(repository)
    used = (locked.sha256, locked.dimensions) if locked else (choice.sha256, choice.dimensions) if choice else ()
    return fingerprint(stamp, used, repository.config.dimensions, repository.config.reproducible)


def keep_choice(repository: Repository, file: ModelFile) -> None:
    """Records what a build used."""
    _write(repository, Choice(file.model.name, file.path.name, file.sha256, file.dimensions))


def _write(repository: Repository, choice: Choice) -> None:
    data = msgspec.json.format(msgspec.json.encode(choice), indent=1) + b"\n"
    path = repository.build / "model.json"
    try:
        stands = path.read_bytes() == data
    except OSError:
        stands = False  # missing, or another user's who lets nobody read it
    if not stands:
        replace_file(path, data)


def use(repository: Repository, name: str) -> str:
    """Chooses a model for the next build. Returns a line for the person. Raises BuildError for one not configured."""
    names = allowed(repository.config)
    if name not in names:
        raise BuildError("bad-setting", f"pyproject.toml names no model {name!r}; choose one of: {', '.join(names)}")
    known_model(name)
    _write(repository, Choice(name))
    return render(message("info", "model-switch", f"the next build uses {name}; run `doit`"))


def lock(repository: Repository) -> str:
    """Locks the configured model's file as it is now. Returns a line for the person. Raises ModelError."""
    locked = lock_model(repository.config, repository.root)
    return f"ragpress: model.lock.json now holds {locked.file}, sha256 {locked.sha256}, {locked.size} bytes"


def show(repository: Repository) -> list[str]:
    """What is configured, used and locked, a line each."""
    config = repository.config
    choice = read_choice(repository)
    source = config.model_path or hub_file(config)
    locked = read_lock(repository.root)
    return [
        f"configured: {config.model} ({source})",
        f"offline: {config.offline_model or 'none; an unreachable hub is an error'}",
        f"used in {config.build}/: {f'{choice.name} {choice.sha256}'.strip() if choice else 'none yet'}",
        *(f"locked: {name}: {item.file}, sha256 {item.sha256}, {item.size} bytes" for name, item in locked.items()),
    ]
