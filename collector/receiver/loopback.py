"""This machine's own names, and who is told by them to be here."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether a host name or address, without a port, is this machine's own."""
    name = host.strip("[]").rstrip(".").casefold()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def is_foreign(host: bytes | None, origin: bytes | None) -> bool:
    """Whether the `Host` and `Origin` of a request show that a page of another site may have made it.

    Such a page gets here under its own name if it makes that resolve to this machine. A browser always sends `Host`;
    programs may leave it out.
    """
    named = (b"//" + host if host is not None else None, origin)
    return any(url is not None and not is_loopback(_host_of(url.decode("latin-1"))) for url in named)


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
