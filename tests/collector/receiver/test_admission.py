"""Who may send telemetry: by token, and from which pages."""

import pytest

from tests.collector.receiver.otlp_building import to_json
from tests.collector.receiver.receiving import JSON, TRACES, UNAUTHENTICATED, running, status_of


@pytest.mark.parametrize("header", ["", "Bearer wrong", "secret", "Basic secret", "Bearer secrets"])
async def test_without_the_token_nothing_is_taken(header: str) -> None:
    async with running(token="secret") as run:
        response = await run.post("/v1/traces", TRACES.SerializeToString(), authorization=header)

    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert status_of(response)[0] == UNAUTHENTICATED
    assert run.batches == []


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
async def test_with_the_token_a_request_is_taken(scheme: str) -> None:
    async with running(token="secret") as run:
        response = await run.post("/v1/traces", TRACES.SerializeToString(), authorization=f"{scheme} secret")

    assert response.status_code == 200
    assert run.names == ["one", "two"]


@pytest.mark.parametrize(
    "headers",
    [{"host": "evil.example:4318"}, {"host": "localhost.evil.example"}, {"origin": "https://evil.example"}],
)
async def test_on_loopback_what_another_sites_page_may_have_sent_is_refused(headers: dict[str, str]) -> None:
    losses: list[str] = []
    async with running(on_loss=lambda cause, batch: losses.append(cause)) as run:
        response = await run.post("/v1/traces", b"text", "text/plain", **headers)
        assert (response.status_code, "own names" in response.json()["message"]) == (403, True)
        assert (await run.post("/v1/traces", TRACES.SerializeToString(), **headers)).status_code == 403
        for host in ("localhost:4318", "127.0.0.1", "[::1]:4318"):
            assert (await run.post("/v1/traces", TRACES.SerializeToString(), host=host)).status_code == 200
    assert losses == []
    async with running(token="t") as run:
        body = TRACES.SerializeToString()
        assert (await run.post("/v1/traces", body, authorization="Bearer t", **headers)).status_code == 200


async def test_a_page_on_this_machine_may_export() -> None:
    origin = "http://localhost:5173"
    async with running() as run:
        preflight = await run.client.options("/v1/traces", headers={"origin": origin})
        response = await run.post("/v1/traces", to_json(TRACES), JSON, origin=origin)

    assert preflight.status_code == 204
    assert "content-type" in preflight.headers["access-control-allow-headers"]
    assert preflight.headers["access-control-allow-origin"] == origin
    assert response.headers["access-control-allow-origin"] == origin


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost.evil.example", "null"])
async def test_a_page_from_elsewhere_may_not_export(origin: str) -> None:
    async with running() as run:
        preflight = await run.client.options("/v1/traces", headers={"origin": origin})

    assert "access-control-allow-origin" not in preflight.headers
