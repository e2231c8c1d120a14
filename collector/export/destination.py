"""Where telemetry is sent: a URL, and what the `OTEL_EXPORTER_OTLP_*` variables add to it.

Source: the OpenTelemetry specification, "OpenTelemetry Protocol Exporter", configuration options.
"""

import ssl
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

SIGNALS: Final = ("traces", "logs", "metrics")


class Protocol(StrEnum):
    GRPC = "grpc"
    HTTP = "http/protobuf"


class DestinationError(ValueError):
    """A destination cannot be used as it is written. The text never shows a header's value."""


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files. Without `certificate`, the system's certificate authorities are trusted."""

    certificate: Path | None = None
    client_key: Path | None = None
    client_certificate: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Raises OSError or ssl.SSLError when a file cannot be read or is no certificate."""
        context = ssl.create_default_context(cafile=str(self.certificate) if self.certificate else None)
        if self.client_certificate is not None:
            context.load_cert_chain(self.client_certificate, self.client_key)
        return context


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where one signal goes. `address` is a full URL for HTTP and `host:port` for gRPC."""

    protocol: Protocol
    address: str
    secure: bool
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 10.0
    """Seconds that one attempt may take."""
    gzip: bool = False
    tls: Tls = Tls()


@dataclass(frozen=True, slots=True)
class Destination:
    """An endpoint for each signal. `name` is the URL as it is shown to people, without user and password."""

    name: str
    endpoints: Mapping[str, Endpoint]


def destination(
    url: str | None,
    environ: Mapping[str, str],
    *,
    headers: Mapping[str, str] | None = None,
    option: str = "--export",
) -> Destination:
    """The destination that `url` and the variables in `environ` describe.

    `url`: `http://` or `https://` (OTLP/HTTP, or gRPC on port 4317 or if `OTEL_EXPORTER_OTLP_PROTOCOL` says so),
    `grpc://` or `grpcs://` (TLS). It wins over the endpoint variables, which count if it is None; `headers` win
    over the headers variables. Pass an empty `environ` to go by the arguments alone.

    Raises DestinationError if there is no endpoint, or if one or a variable cannot be understood.
    """
    if url is None and not any(_variable(environ, "ENDPOINT", signal)[1] for signal in SIGNALS):
        raise DestinationError(f"{option}: no URL was given and OTEL_EXPORTER_OTLP_ENDPOINT is not set")
    endpoints = {}
    for signal in SIGNALS:
        source, text = (option, url) if url is not None else _variable(environ, "ENDPOINT", signal)
        if text:
            exact = url is None and source != "OTEL_EXPORTER_OTLP_ENDPOINT"
            endpoints[signal] = _endpoint(source, text, signal, environ, headers or {}, exact=exact)
    shown = url or next(iter(endpoints.values())).address
    return Destination(_without_credentials(shown), endpoints)


def _endpoint(
    source: str, text: str, signal: str, environ: Mapping[str, str], headers: Mapping[str, str], *, exact: bool
) -> Endpoint:
    parts = urlsplit(text if "://" in text else f"//{text}")
    scheme = parts.scheme
    if scheme not in ("", "http", "https", "grpc", "grpcs"):
        raise DestinationError(
            f"{source}: {_without_credentials(text)!r} begins with {scheme}://; "
            "expected http://, https://, grpc:// or grpcs://"
        )
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise DestinationError(f"{source}: {_without_credentials(text)!r}: {error}; expected a port number") from None
    if not host:
        raise DestinationError(f"{source}: {_without_credentials(text)!r} names no host; expected URL://HOST:PORT")
    if not scheme and port is None:
        raise DestinationError(
            f"{source}: {_without_credentials(text)!r} is no URL; expected http://, https://, grpc:// or grpcs://, "
            "a host, and its port if need be"
        )
    protocol = _protocol(scheme, port, signal, environ)
    _, insecure = _variable(environ, "INSECURE", signal)
    secure = scheme in ("https", "grpcs") or (scheme == "" and insecure.lower() != "true")
    return Endpoint(
        protocol=protocol,
        address=_address(parts, protocol, signal, secure=secure, exact=exact),
        secure=secure,
        headers=_credentials(parts)
        | _headers(environ, signal)
        | {key.lower(): value for key, value in headers.items()},
        timeout=_timeout(environ, signal),
        gzip=_gzip(environ, signal),
        tls=_tls(environ, signal) if secure else Tls(),
    )


def _address(parts: SplitResult, protocol: Protocol, signal: str, *, secure: bool, exact: bool) -> str:
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    if protocol is Protocol.GRPC:
        return f"{host}:{parts.port or 4317}"
    netloc = (
        f"{host}:{parts.port or (443 if parts.scheme else 4318)}" if parts.port or not parts.scheme else str(host)
    )
    path = parts.path
    if not exact:
        # A URL that names one signal's path is taken for the base that it was made from.
        base = next((path.removesuffix(f"/v1/{each}") for each in SIGNALS if path.endswith(f"/v1/{each}")), path)
        path = f"{base.rstrip('/')}/v1/{signal}"
    return urlunsplit(("https" if secure else "http", netloc, path or "/", parts.query, ""))


def _protocol(scheme: str, port: int | None, signal: str, environ: Mapping[str, str]) -> Protocol:
    if scheme in ("grpc", "grpcs"):
        return Protocol.GRPC
    name, value = _variable(environ, "PROTOCOL", signal)
    if value:
        try:
            return Protocol(value)
        except ValueError:
            raise DestinationError(f"{name}: {value!r} is not supported; expected grpc or http/protobuf") from None
    return Protocol.GRPC if port == 4317 or scheme == "" else Protocol.HTTP


def _headers(environ: Mapping[str, str], signal: str) -> dict[str, str]:
    name, text = _variable(environ, "HEADERS", signal)
    headers = {}
    for number, pair in enumerate(filter(str.strip, text.split(",")), start=1):
        key, found, value = pair.partition("=")
        if not found or not key.strip():
            raise DestinationError(f"{name}: entry {number} has no key; expected KEY=VALUE,KEY=VALUE")
        headers[key.strip().lower()] = unquote(value.strip())
    return headers


def _credentials(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _timeout(environ: Mapping[str, str], signal: str) -> float:
    name, text = _variable(environ, "TIMEOUT", signal)
    if not text:
        return 10.0
    if not text.isdecimal() or int(text) == 0:
        raise DestinationError(f"{name}: {text!r} is no number of milliseconds above 0")
    return int(text) / 1000


def _gzip(environ: Mapping[str, str], signal: str) -> bool:
    name, text = _variable(environ, "COMPRESSION", signal)
    if text not in ("", "none", "gzip"):
        raise DestinationError(f"{name}: {text!r} is not supported; expected gzip or none")
    return text == "gzip"


def _tls(environ: Mapping[str, str], signal: str) -> Tls:
    def file(key: str) -> Path | None:
        name, text = _variable(environ, key, signal)
        if text and not Path(text).is_file():
            raise DestinationError(f"{name}: the file {text} does not exist; expected a PEM file")
        return Path(text) if text else None

    return Tls(file("CERTIFICATE"), file("CLIENT_KEY"), file("CLIENT_CERTIFICATE"))


def _variable(environ: Mapping[str, str], key: str, signal: str) -> tuple[str, str]:
    """The signal's own variable, else the general one: its name and its value, "" if neither is set."""
    own, general = f"OTEL_EXPORTER_OTLP_{signal.upper()}_{key}", f"OTEL_EXPORTER_OTLP_{key}"
    return (own, environ[own].strip()) if environ.get(own) else (general, environ.get(general, "").strip())


def _without_credentials(url: str) -> str:
    """The URL without user, password and query, any of which may be a secret."""
    head, at, tail = url.partition("?")[0].rpartition("@")
    return f"{head.partition('://')[0]}://{tail}" if at and "://" in head else tail
