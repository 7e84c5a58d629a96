"""The known embedding models, and which file stands for the configured one."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ragpress.config import Config
from ragpress.console import Report, under_ci
from ragpress.errors import ModelError, message, render
from ragpress.models.gguf import embedding_length
from ragpress.models.hub import cached, fetch, revision_of, unreachable
from ragpress.models.lock import Locked, check_lock, read_lock, remembered_sha256, write_lock
from ragpress.records import Severity


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """What an embedding model needs to be used rightly; every value is from its model card.

    `file` is the hub's file name with `{quant}` for the quantisation. `matryoshka` says whether a vector may be cut
    to its first dimensions. `max_tokens` counts prefix and special tokens.
    """

    name: str
    repository: str
    file: str
    architecture: str
    document_prefix: str
    query_prefix: str
    dimensions: int
    matryoshka: bool
    max_tokens: int
    vocabulary: str
    pooling: str
    licence: str


KNOWN: dict[str, Model] = {
    model.name: model
    for model in (
        Model(
            name="nomic-embed-text-v2-moe",
            repository="nomic-ai/nomic-embed-text-v2-moe-GGUF",
            file="nomic-embed-text-v2-moe.{quant}.gguf",
            architecture="nomic-bert-moe",
            document_prefix="search_document: ",
            query_prefix="search_query: ",
            dimensions=768,
            matryoshka=True,
            max_tokens=512,
            vocabulary="xlm-roberta",
            pooling="mean",
            licence="Apache-2.0",
        ),
        Model(
            name="multilingual-e5-small",
            repository="",  # made on this machine, see starter.py
            file="multilingual-e5-small.Q4_0.gguf",
            architecture="bert",
            document_prefix="passage: ",
            query_prefix="query: ",
            dimensions=384,
            matryoshka=False,
            max_tokens=512,
            vocabulary="xlm-roberta",
            pooling="mean",
            licence="MIT",
        ),
    )
}


class ModelFile(msgspec.Struct, frozen=True, kw_only=True):
    """A model's file on this machine, checked. `dimensions` is the length of the vectors it is used for."""

    model: Model
    path: Path
    sha256: str
    size: int
    dimensions: int


def cache_folder() -> Path:
    """Where models made here and remembered hashes are kept: RAGPRESS_CACHE, else the user's cache.

    Raises ModelError for a user without a home, such as a bare number in a container.
    """
    chosen = os.environ.get("RAGPRESS_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "ragpress"
    except RuntimeError:
        raise ModelError("model", "this user has no home for the models' cache; set RAGPRESS_CACHE") from None


def known_model(name: str) -> Model:
    """The model of this name. Raises ModelError that lists the known ones."""
    if name not in KNOWN:
        raise ModelError("bad-setting", f"the model {name!r} is not known; use one of: {', '.join(KNOWN)}")
    return KNOWN[name]


def tokenizer_file(config: Config, root: Path) -> Path:
    """The file to count tokens with: without network where any file has the vocabulary. Raises ModelError.

    The offline model has the vocabulary of every known model, so that its file will do for any.
    """
    model = known_model(config.model)
    found = _on_this_machine(config, root, model)
    if found is not None:
        return found
    try:
        return _starter_file()
    except ModelError:
        reason = unreachable() if model.repository else ""
        if reason or not model.repository:
            raise
    return _fetch(config, root, model).path


def resolve(config: Config, root: Path, *, selected: str | None = None, report: Report) -> ModelFile:
    """The file of the model that texts are embedded with, fetched or made if need be. Raises ModelError.

    `selected` names the model that the build folder's vectors are of: of the configured and the offline model, that one
    stays. `report` receives one line whenever the model is not the configured one, or not the one before.
    """
    model, offline = known_model(config.model), _offline_model(config)
    if offline and selected == offline.name != model.name:
        _refuse_under_ci(f"the build folder is of {selected}", model, offline)
        report(_line("info", "model-offline", f"staying with {selected}; `ragpress model use {model.name}` switches"))
        return _starter(config, offline)
    if selected and selected != model.name:
        report(_line("warning", "model-switch", f"{model.name} takes the place of {selected}; all texts are embedded"))
    if found := _on_this_machine(config, root, model):
        return _checked(config, root, model, found)
    if not model.repository:
        return _starter(config, model)
    reason = unreachable()
    if not reason:
        return _fetch(config, root, model)
    problem = f"the hub cannot be reached ({reason}) and {hub_file(config)} is not in the cache"
    if offline and selected != model.name:
        _refuse_under_ci(problem, model, offline)
        report(_line("warning", "model-offline", f"{problem}; {offline.name} is used in place of {model.name}"))
        return _starter(config, offline)
    if offline:
        raise ModelError(
            "model-offline",
            f"{problem}, but the build folder is of {model.name}; connect, or run `ragpress model use {offline.name}`",
        )
    raise ModelError("model-offline", f"{problem}; connect, set model_path to a file, or set offline_model")


def _refuse_under_ci(problem: str, model: Model, offline: Model) -> None:
    """Raises ModelError where nobody would see that an artifact is of another model than the configured one."""
    if under_ci():
        raise ModelError(
            "model-offline",
            f"{problem}; under CI {offline.name} does not stand in for {model.name}: restore the model from a cache, or"
            f' set model = "{offline.name}"',
        )


def model_of_artifact(name: str, file: str, sha256: str, dimensions: int, path: Path | None = None) -> ModelFile:
    """The file that an artifact's vectors were made with, for its questions; `path` is tried first. Raises ModelError.

    Without `path` it comes from the user's caches, else it is made or fetched.
    """
    model = known_model(name)
    if path is None and not model.repository:
        path = _starter_file()
    elif path is None:
        path = cached(model.repository, file)
        if path is None and (reason := unreachable()):
            raise ModelError("model-offline", f"{file} is not in the cache and the hub cannot be reached ({reason})")
        path = path or fetch(model.repository, file)
    found = _model_file(model, path, dimensions)
    if found.sha256 != sha256:
        raise ModelError(
            "model",
            f"{path.name} is not the file that made the artifact (sha256 {found.sha256[:12]}…, not {sha256[:12]}…);"
            " give the right one, or build the artifact again",
        )
    return found


def lock_model(config: Config, root: Path) -> Locked:
    """Locks the file that the settings name, the hub's newest where it answers, and returns it. Raises ModelError."""
    model = known_model(config.model)
    if not model.repository:
        raise ModelError("model", f"{model.name} is made on this machine and locked by ragpress itself")
    path = _local_path(config, root) if config.model_path else None
    if path is None and not unreachable():
        path = fetch(model.repository, hub_file(config))
    path = path or cached(model.repository, hub_file(config))
    if path is None:
        raise ModelError("model-offline", f"{hub_file(config)} is not in the cache and the hub cannot be reached")
    locked = _locked(config, _model_file(model, path, model.dimensions))
    write_lock(root, model.name, locked)
    return locked


def locked_file(config: Config, locked: Locked) -> ModelFile:
    """The configured model as its lock names it, for keys of vectors; the file itself need not be on this machine."""
    model = known_model(config.model)
    dimensions = _dimensions(config, model)
    return ModelFile(model=model, path=Path(locked.file), sha256=locked.sha256, size=locked.size, dimensions=dimensions)


def hub_file(config: Config) -> str:
    """The hub's file name for the configured model and quantisation (`model_file` may also be a whole name)."""
    if config.model_file.endswith(".gguf"):
        return config.model_file
    return known_model(config.model).file.format(quant=config.model_file)


def _on_this_machine(config: Config, root: Path, model: Model) -> Path | None:
    if config.model_path:
        return _local_path(config, root)
    return cached(model.repository, hub_file(config), _revision(root, model)) if model.repository else None


def _local_path(config: Config, root: Path) -> Path:
    path = root / Path(config.model_path).expanduser()
    if not os.path.isfile(path):  # noqa: PTH113 (Path.is_file raises where a folder above may not be entered)
        raise ModelError("model", f"model_path = {config.model_path!r}: there is no such file; correct or remove it")
    return path


def _fetch(config: Config, root: Path, model: Model) -> ModelFile:
    return _checked(config, root, model, fetch(model.repository, hub_file(config), _revision(root, model)))


def _revision(root: Path, model: Model) -> str:
    # a locked file is fetched from the commit it was locked at: a later one on the hub changes nothing here
    locked = read_lock(root).get(model.name)
    return locked.revision if locked else ""


def _checked(config: Config, root: Path, model: Model, path: Path) -> ModelFile:
    found = _model_file(model, path, _dimensions(config, model, path if config.model_path else None))
    check_lock(root, model.name, _locked(config, found))
    return found


def _locked(config: Config, found: ModelFile) -> Locked:
    revision = "" if config.model_path else revision_of(found.path)
    return Locked(found.path.name, found.sha256, found.size, revision)


def _offline_model(config: Config) -> Model | None:
    if not config.offline_model:
        return None
    model = known_model(config.offline_model)
    if model.repository:
        made = ", ".join(name for name, other in KNOWN.items() if not other.repository)
        raise ModelError("bad-setting", f"offline_model = {model.name!r} must be fetched itself; use {made}")
    return model


def _starter(config: Config, model: Model) -> ModelFile:
    return _model_file(model, _starter_file(), _dimensions(config, model))


def _starter_file() -> Path:
    from ragpress.models.starter import FILE_NAME, SHA256, make_starter

    path = cache_folder() / FILE_NAME
    if os.path.isfile(path) and _model_file(KNOWN["multilingual-e5-small"], path, 0).sha256 == SHA256:  # noqa: PTH113
        return path
    return make_starter(cache_folder())


def _dimensions(config: Config, model: Model, own: Path | None = None) -> int:
    # the vectors of a file of one's own may have another length than those of the hub's
    width = (embedding_length(own, model.architecture) if own else None) or model.dimensions
    if config.dimensions > width:
        raise ModelError("bad-setting", f"dimensions = {config.dimensions}, but {model.name} has {width}")
    # a model that was not trained for it would lose its sense, so that it keeps all
    return config.dimensions if config.dimensions and model.matryoshka else width


def _model_file(model: Model, path: Path, dimensions: int) -> ModelFile:
    try:
        sha256, size = remembered_sha256(path, cache_folder()), path.stat().st_size
    except OSError as error:
        reason = f"the model file {path.name} cannot be read: {error.strerror}; check its rights"
        raise ModelError("model", reason) from None
    return ModelFile(model=model, path=path, sha256=sha256, size=size, dimensions=dimensions)


def _line(severity: Severity, code: str, text: str) -> str:
    return render(message(severity, code, text))
