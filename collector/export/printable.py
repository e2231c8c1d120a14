"""Text of strangers made safe to show: names, values and replies come from an agent that may be hostile."""

from typing import Final

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str, limit: int | None = None) -> str:
    """`text` on one line, with the escape of each character that a reader would not see as itself.

    Those are control characters (a terminal obeys them), bidirectional and zero-width ones (they make text look
    like other text) and lone surrogates (nothing can write them). What is left can be put on a terminal, into XML
    and into HTML. Longer text is cut to `limit` code points and an ellipsis.
    """
    if limit is not None and len(text) > limit:
        text = text[:limit] + "…"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
