from pathlib import Path

import pytest

from collector.export.destination import DestinationError, Endpoint, Protocol, destination


def traces(url: str | None, environ: dict[str, str] | None = None, **more: dict[str, str]) -> Endpoint:
    return destination(url, environ or {}, **more).endpoints["traces"]


@pytest.mark.parametrize(
    ("url", "protocol", "address", "secure"),
    [
        ("http://localhost:4318", Protocol.HTTP, "http://localhost:4318/v1/traces", False),
        ("http://localhost:4318/", Protocol.HTTP, "http://localhost:4318/v1/traces", False),
        ("http://localhost/otlp", Protocol.HTTP, "http://localhost/otlp/v1/traces", False),
        ("http://localhost:4318/v1/traces", Protocol.HTTP, "http://localhost:4318/v1/traces", False),
        ("http://localhost:4318/v1/logs", Protocol.HTTP, "http://localhost:4318/v1/traces", False),
        ("https://backend.test/api?team=a", Protocol.HTTP, "https://backend.test/api/v1/traces?team=a", True),
        ("http://localhost:4317", Protocol.GRPC, "localhost:4317", False),
        ("grpc://localhost", Protocol.GRPC, "localhost:4317", False),
        ("grpcs://backend.test:443", Protocol.GRPC, "backend.test:443", True),
        ("grpc://[::1]:5000", Protocol.GRPC, "[::1]:5000", False),
        ("http://[::1]:4318", Protocol.HTTP, "http://[::1]:4318/v1/traces", False),
    ],
)
def test_a_url_says_protocol_address_and_security(url: str, protocol: Protocol, address: str, secure: bool) -> None:
    endpoint = traces(url)
    assert (endpoint.protocol, endpoint.address, endpoint.secure) == (protocol, address, secure)


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("ftp://localhost:1", "begins with ftp://; expected http://, https://, grpc:// or grpcs://"),
        ("http://:4318", "names no host"),
        ("http://localhost:port", "expected a port number"),
        (None, "OTEL_EXPORTER_OTLP_ENDPOINT is not set"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_by_the_name_of_the_option(url: str | None, complaint: str) -> None:
    with pytest.raises(DestinationError, match=complaint) as caught:
        destination(url, {}, option="--forward")
    assert str(caught.value).startswith("--forward: ")


def test_the_general_endpoint_gets_the_signals_path_and_a_signals_own_is_used_as_it_is() -> None:
    environ = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://general:4318",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://logs:9/in",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    }
    endpoints = destination(None, environ).endpoints
    assert endpoints["traces"].address == "http://general:4318/v1/traces"
    assert endpoints["logs"].address == "http://logs:9/in"


def test_the_url_wins_over_the_endpoint_variables() -> None:
    assert traces("http://flag:1", {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://variable:2"}).address == (
        "http://flag:1/v1/traces"
    )


def test_the_protocol_variable_decides_what_an_http_url_means() -> None:
    assert traces("http://collector:1234", {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}).protocol is Protocol.GRPC
    assert traces("http://c:4317", {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}).protocol is Protocol.HTTP


def test_an_endpoint_without_a_scheme_is_secure_unless_the_variable_says_otherwise() -> None:
    assert traces("collector:4317").secure
    assert not traces("collector:4317", {"OTEL_EXPORTER_OTLP_INSECURE": "true"}).secure


def test_headers_come_from_the_signals_variable_else_the_general_one_and_given_ones_win() -> None:
    environ = {
        "OTEL_EXPORTER_OTLP_HEADERS": "api-key=general, team=a%20b",
        "OTEL_EXPORTER_OTLP_LOGS_HEADERS": "api-key=logs",
    }
    endpoints = destination("http://c:1", environ, headers={"Team": "given"}).endpoints
    assert endpoints["traces"].headers == {"api-key": "general", "team": "given"}
    assert endpoints["logs"].headers == {"api-key": "logs", "team": "given"}
    assert traces("http://c:1", environ).headers["team"] == "a b"


def test_user_and_password_of_a_url_become_a_header_and_are_never_shown() -> None:
    target = destination("https://user:pa%24s@backend.test/x?key=hidden", {})
    assert target.endpoints["traces"].headers == {"authorization": "Basic dXNlcjpwYSRz"}
    assert target.name == "https://backend.test/x"
    assert "dXNlc" not in repr(target)


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("PROTOCOL", "http/json", "'http/json' is not supported; expected grpc or http/protobuf"),
        ("HEADERS", "secret-without-a-key", "entry 1 has no key"),
        ("TIMEOUT", "soon", "no number of milliseconds"),
        ("TIMEOUT", "0", "no number of milliseconds"),
        ("COMPRESSION", "zstd", "expected gzip or none"),
        ("CERTIFICATE", "/nowhere/ca.pem", "does not exist"),
    ],
)
def test_a_variable_that_cannot_be_understood_is_named(variable: str, value: str, complaint: str) -> None:
    with pytest.raises(DestinationError, match=complaint) as caught:
        destination("https://c:1", {f"OTEL_EXPORTER_OTLP_{variable}": value})
    assert str(caught.value).startswith(f"OTEL_EXPORTER_OTLP_{variable}: ")
    assert "secret" not in str(caught.value)


def test_timeout_is_milliseconds_and_compression_is_gzip() -> None:
    endpoint = traces("http://c:1", {"OTEL_EXPORTER_OTLP_TIMEOUT": "1500", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"})
    assert (endpoint.timeout, endpoint.gzip) == (1.5, True)


def test_tls_files_are_taken_from_the_variables(tmp_path: Path) -> None:
    files = {key: tmp_path / key for key in ("CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE")}
    for file in files.values():
        file.touch()
    tls = traces("https://c:1", {f"OTEL_EXPORTER_OTLP_{key}": str(file) for key, file in files.items()}).tls
    assert (tls.certificate, tls.client_key, tls.client_certificate) == tuple(files.values())
