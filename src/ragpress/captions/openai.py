"""Captions by any endpoint that speaks OpenAI's chat completions with pictures as input.

The key comes from the environment and goes nowhere but into the request's header: RAGPRESS_CAPTIONS_KEY, or for
OpenAI's own host OPENAI_API_KEY, which no setting of a repository may send elsewhere.
"""

from __future__ import annotations

import base64
import http.client
import os
import re
import time
import urllib.error
import urllib.request
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ragpress import __version__
from ragpress.captions.engine import Engine, EngineError
from ragpress.config import Config
from ragpress.errors import BuildError

KEY = "RAGPRESS_CAPTIONS_KEY"
_OWN_HOST, _OWN_KEY = "api.openai.com", "OPENAI_API_KEY"

PROMPT = (
    "This picture is in a document that is being indexed for search. Say in one to four plain sentences what it"
    " shows, then copy out all text in it, word for word, in its order. Write in the language of the text in the"
    " picture; if it has none, in English. Answer with that alone: no introduction, no markup."
)

_AT_ONCE = 4
_ATTEMPTS = 5
_LONGEST_WAIT = 60.0  # seconds; a server that asks for a longer pause is given up
_LONGEST_ANSWER = 1 << 20  # bytes
_LONGEST_CAPTION = 8000  # characters
_SHOWN = 160  # characters of an answer in a message
_THOUGHTS = re.compile(r"\s*<think>.*?</think>\s*", re.DOTALL)


class _Again(Exception):
    """A request that may do better later. `wait` is what the server asked for, in seconds."""

    def __init__(self, reason: str, wait: float = 0.0, *, everywhere: bool = True) -> None:
        super().__init__(reason)
        self.wait = wait
        self.everywhere = everywhere  # whether other pictures would fare the same


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: it would take the key along."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_Stay)


def openai_engine(config: Config, *, seconds: float = 120.0, first_wait: float = 1.0) -> Engine:
    """The engine for the endpoint `captions_url` and the model `captions_model`.

    A request takes `seconds` at most; a busy server is asked again after `first_wait` seconds, then twice that, or as
    it says itself. Raises EngineError for settings or a key that cannot be used.
    """
    if not config.captions_url or not config.captions_model:
        raise EngineError(
            "bad-setting", 'captions = "openai" needs captions_url (as https://host/v1) and captions_model; set both'
        )
    address = _endpoint(config.captions_url)
    key = _key(address)
    prompt = config.captions_prompt or PROMPT

    def caption(image: bytes, media_type: str) -> str:
        picture = f"data:{media_type};base64,{base64.b64encode(image).decode()}"
        question = [{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": picture}}]
        body = msgspec.json.encode(
            {"model": config.captions_model, "messages": [{"role": "user", "content": question}]}
        )
        wait = first_wait
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return _caption(_ask(address, key, body, seconds), key)
            except _Again as again:
                if attempt == _ATTEMPTS or again.wait > _LONGEST_WAIT:
                    problem = EngineError if again.everywhere else BuildError
                    raise problem("caption", f"{again} (asked {attempt} times); build again later") from None
                time.sleep(max(wait, again.wait))
                wait *= 2
        raise AssertionError

    return Engine(f"openai {config.captions_model}", caption, _AT_ONCE)


def _endpoint(url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and parts.hostname and not parts.query and parts.port != 0
    except ValueError:
        good = False
    if not good or parts.username is not None:
        raise EngineError(
            "bad-setting", "captions_url must be an address as https://host/v1, without a key; correct it"
        )
    return (
        url.rstrip("/")
        if parts.path.rstrip("/").endswith("/chat/completions")
        else f"{url.rstrip('/')}/chat/completions"
    )


def _key(address: str) -> str:
    """The key, empty where none is set: a local server may need none."""
    names = (KEY, _OWN_KEY) if urlsplit(address).hostname == _OWN_HOST else (KEY,)
    name = next((name for name in names if os.environ.get(name, "").strip()), KEY)
    key = os.environ.get(name, "").strip()
    if not re.fullmatch(r"[!-~]*", key):
        raise EngineError("bad-setting", f"{name} holds characters that no key has; set it again")
    return key


def _ask(address: str, key: str, body: bytes, seconds: float) -> bytes:
    """The body of a good answer. Raises _Again, EngineError or BuildError for any other."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": f"ragpress/{__version__}",
    }
    request = urllib.request.Request(address, body, headers, method="POST")
    if key:
        request.add_unredirected_header("Authorization", f"Bearer {key}")
    until = time.monotonic() + seconds
    try:
        with _OPENER.open(request, timeout=seconds) as answer:
            return _body(answer, until)
    except urllib.error.HTTPError as error:
        with error:
            raise _refused(error.code, error.headers, _told(error, until, key)) from None
    except TimeoutError:
        raise _Again(f"the endpoint gave no answer within {seconds:g} seconds", everywhere=False) from None
    except urllib.error.URLError as error:
        raise EngineError(
            "caption", f"the endpoint cannot be reached: {_plain(error.reason)}; check captions_url and the network"
        ) from None
    except (http.client.HTTPException, OSError) as error:
        raise _Again(f"the endpoint broke off: {_plain(error)}") from None


def _body(answer: http.client.HTTPResponse | urllib.error.HTTPError, until: float) -> bytes:
    """Raises TimeoutError for one that comes too slowly, BuildError for one that is too long."""
    parts: list[bytes] = []
    size = 0
    while part := answer.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > _LONGEST_ANSWER:
            raise BuildError("caption", "the endpoint's answer is longer than a megabyte; check captions_url")
        if time.monotonic() > until:
            raise TimeoutError
    if answer.length:
        raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(parts)


def _refused(status: int, headers: Message, quoted: str) -> Exception:
    """What an answer other than 200 means."""
    if status in {401, 403}:  # not quoted: it may hold a part of the key
        return EngineError("caption", f"the endpoint refuses the key ({status}); set {KEY}")
    if status == 404:
        return EngineError(
            "caption",
            f"the endpoint knows no such model or address (404{quoted}); check captions_model and captions_url",
        )
    if 300 <= status < 400:
        return EngineError("caption", f"the endpoint sends elsewhere ({status}); put its real address in captions_url")
    if status == 429 and "insufficient_quota" in quoted:
        return EngineError("caption", f"the endpoint's quota is used up (429{quoted}); raise it, then build again")
    if status in {408, 429, 502, 503, 504}:
        return _Again(f"the endpoint is busy ({status}{quoted})", _retry_after(headers.get("Retry-After") or ""))
    if status >= 500:
        return _Again(f"the endpoint failed ({status}{quoted})", everywhere=False)
    if status == 413:
        return BuildError("caption", "the endpoint takes no picture of this size (413); make it smaller")
    return BuildError("caption", f"the endpoint answered {status}{quoted}")


def _told(error: urllib.error.HTTPError, until: float, key: str) -> str:
    """What the body of an error says, shortened, without the key."""
    try:
        found = msgspec.json.decode(_body(error, until))
        problem = found.get("error", found)
        words = f"{problem.get('code') or ''} {problem.get('message') or ''}" if isinstance(problem, dict) else problem
    except (msgspec.DecodeError, AttributeError, BuildError, OSError, http.client.HTTPException, RecursionError):
        return ""  # the status alone has to do
    return _quoted(": ", str(words), key)


def _quoted(before: str, words: str, key: str) -> str:
    line = " ".join((words.replace(key, "…") if key else words).split())
    return f"{before}{line[:_SHOWN]}{'…' if len(line) > _SHOWN else ''}" if line else ""


def _retry_after(value: str) -> float:
    """Seconds to wait, from a number or a date (RFC 9110, 10.2.3); 0 for neither."""
    if re.fullmatch(r"\d{1,9}(\.\d+)?", value.strip()):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _caption(answer: bytes, key: str) -> str:
    """The text of a chat completion. Raises BuildError for a refusal or for what is none."""
    try:
        choice: Any = msgspec.json.decode(answer)["choices"][0]
        message = choice["message"]
        content, refusal, end = message.get("content"), message.get("refusal"), choice.get("finish_reason")
        if isinstance(content, list):  # some servers answer in parts
            content = "".join(part.get("text") or "" for part in content)
    except (msgspec.DecodeError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise BuildError("caption", "the endpoint's answer is no chat completion; check captions_url") from None
    if refusal or end == "content_filter":
        reason = _quoted(": ", str(refusal or ""), key)
        raise BuildError("caption", f"the model refuses to describe this picture{reason}")
    if end == "length":
        raise BuildError("caption", "the model's answer was cut off; use another captions_model")
    text = _THOUGHTS.sub("", content) if isinstance(content, str) else ""
    if not text.strip():
        raise BuildError("caption", "the model's answer holds no text; use another captions_model")
    if len(text) > _LONGEST_CAPTION:
        raise BuildError("caption", f"the model answered {len(text)} characters; use another captions_model")
    return text


def _plain(error: object) -> str:
    words = " ".join(str(getattr(error, "strerror", None) or error).split())[:_SHOWN]
    return words or type(error).__name__
