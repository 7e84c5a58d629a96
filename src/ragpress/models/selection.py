"""Which of two models a build folder uses: the configured or the offline one. It stays so until changed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ragpress.config import Config
from ragpress.errors import BuildError, message, render
from ragpress.files import fingerprint, replace_file
from ragpress.models.known import ModelFile, hub_file, known_model, lock_model, locked_file
from ragpress.models.lock import read_lock
from ragpress.repository import Repository, find_root, open_repository, settings_fingerprint


class Selected(msgspec.Struct, frozen=True):
    """build/model.json: the model that is used, and the file's identity once a build has used it."""

    name: str
    file: str = ""
    sha256: str = ""
    dimensions: int = 0


def configured_models(config: Config) -> tuple[str, ...]:
    """The configured model's name, then the offline one's where there is one."""
    return tuple(name for name in (config.model, config.offline_model) if name)


def read_selected(repository: Repository) -> Selected | None:
    """What the build folder uses: as chosen, else as its artifact says. None where neither is usable."""
    try:
        return msgspec.json.decode((repository.build / "model.json").read_bytes(), type=Selected)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return artifact_model(repository)


class _Index(msgspec.Struct):
    model: Selected


def artifact_model(repository: Repository) -> Selected | None:
    """The model of the artifact in the build folder; None where there is none that can be read."""
    try:
        return msgspec.json.decode((repository.artifact / "index.json").read_bytes(), type=_Index).model
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def custom_model_file(repository: Repository) -> Path | None:
    """The file that the settings name by `model_path`, if the artifact in the build folder is of its model."""
    config, used = repository.config, artifact_model(repository)
    own = config.model_path and used is not None and used.name == config.model
    return repository.root / Path(config.model_path).expanduser() if own else None


def file_for(artifact: Path) -> Path | None:
    """The `custom_model_file` of the repository here, if this is its artifact. Raises BuildError."""
    root = find_root(Path.cwd())
    if root is None:
        return None
    repository = open_repository(root)
    return custom_model_file(repository) if artifact.resolve() == repository.artifact.resolve() else None


def selected_name(repository: Repository) -> str | None:
    """The chosen model's name, if the settings still name it."""
    selected = read_selected(repository)
    return selected.name if selected and selected.name in configured_models(repository.config) else None


def locked_model(repository: Repository, name: str | None) -> ModelFile | None:
    """The configured model by its lock alone, where it is in use: enough, offline too, where no text needs a vector."""
    config = repository.config
    locked = read_lock(repository.root).get(config.model)
    if locked is None or config.model_path or name not in {None, config.model}:
        return None
    return locked_file(config, locked)


def model_file(selected: Selected) -> ModelFile:
    """What the keys of a selected model's vectors are made of; the file need not be on this machine."""
    model, path = known_model(selected.name), Path(selected.file)
    return ModelFile(model=model, path=path, sha256=selected.sha256, size=0, dimensions=selected.dimensions)


def selected_file(repository: Repository) -> ModelFile | None:
    """The `model_file` that the last `embed` selected; None before one."""
    selected = read_selected(repository)
    return model_file(selected) if selected and selected.sha256 else None


def chunking_fingerprint(repository: Repository) -> str:
    """Over everything but the source's bytes that decides its chunks, the model among it where chunks depend on one."""
    settings = settings_fingerprint(repository)
    if repository.config.strategy != "semantic":
        return settings
    locked = locked_model(repository, selected_name(repository))
    selected = read_selected(repository)
    used = (locked.sha256, locked.dimensions) if locked else (selected.sha256, selected.dimensions) if selected else ()
    return fingerprint(settings, used, repository.config.dimensions, repository.config.reproducible)


def keep_selected(repository: Repository, file: ModelFile) -> None:
    """Records what a build used."""
    _write(repository, Selected(file.model.name, file.path.name, file.sha256, file.dimensions))


def _write(repository: Repository, selected: Selected) -> None:
    data = msgspec.json.format(msgspec.json.encode(selected), indent=1) + b"\n"
    path = repository.build / "model.json"
    try:
        current = path.read_bytes() == data
    except OSError:
        current = False  # missing, or another user's who lets nobody read it
    if not current:
        replace_file(path, data)


def use(repository: Repository, name: str) -> str:
    """Chooses a model for the next build. Returns a line for the person. Raises BuildError for one not configured."""
    names = configured_models(repository.config)
    if name not in names:
        raise BuildError("bad-setting", f"pyproject.toml names no model {name!r}; choose one of: {', '.join(names)}")
    known_model(name)
    _write(repository, Selected(name))
    return render(message("info", "model-switch", f"the next build uses {name}; run `ragpress build`"))


def lock(repository: Repository) -> str:
    """Locks the configured model's file as it is now. Returns a line for the person. Raises ModelError."""
    locked = lock_model(repository.config, repository.root)
    return f"ragpress: model.lock.json now holds {locked.file}, sha256 {locked.sha256}, {locked.size} bytes"


def show(repository: Repository) -> list[str]:
    """What is configured, used and locked, a line each."""
    config = repository.config
    selected = read_selected(repository)
    source = config.model_path or hub_file(config)
    locked = read_lock(repository.root)
    return [
        f"configured: {config.model} ({source})",
        f"offline: {config.offline_model or 'none; an unreachable hub is an error'}",
        f"used in {config.build}/: {f'{selected.name} {selected.sha256}'.strip() if selected else 'none yet'}",
        *(f"locked: {name}: {item.file}, sha256 {item.sha256}, {item.size} bytes" for name, item in locked.items()),
    ]
