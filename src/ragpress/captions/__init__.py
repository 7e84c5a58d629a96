"""Pictures to text.

An engine is one function, `caption(image, media_type) -> str`. What it says is kept in captions.jsonl (`store`), which
is committed and reviewed: a picture is sent to an engine once, and a build with all captions present needs none.
`document` puts captions into a document, in the process that reads it; `making` makes the missing ones, outside of it.
"""
