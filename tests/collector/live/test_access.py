import pytest

from collector.receiver.loopback import is_loopback
from tests.collector.live.samples import add, served, shell

TOKEN = "correct horse ü"
BEARER = {"authorization": f"Bearer {TOKEN}".encode()}


@pytest.mark.parametrize("path", ["/", "/page/main.js", "/healthz", "/readyz"])
async def test_what_says_nothing_of_the_telemetry_needs_no_token(path: str) -> None:
    async with served(token=TOKEN) as room:
        assert (await room.client.get(path)).status_code == 200


@pytest.mark.parametrize(
    "path", ["/api/v1/info", "/api/v1/sessions", "/api/v1/sessions/s/items", "/api/v1/events", "/metrics", "/none"]
)
async def test_everything_else_needs_the_token(path: str) -> None:
    async with served(token=TOKEN) as room:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic x"}, {"cookie": "spanbar=x"}):
            refused = await room.client.get(path, headers=headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
        if path != "/api/v1/events":
            assert (await room.client.get(path, headers=BEARER)).status_code != 401


async def test_the_page_exchanges_the_token_for_a_cookie() -> None:
    async with served(token=TOKEN) as room:
        wrong = await room.client.post("/api/v1/login", json={"token": "guess"})
        assert wrong.status_code == 401
        right = await room.client.post("/api/v1/login", json={"token": TOKEN})
        assert right.json() == {"needed": True}
        cookie = right.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert TOKEN not in cookie
        assert (await room.client.get("/api/v1/info")).status_code == 200


async def test_a_token_in_the_address_becomes_a_cookie_and_leaves_the_address() -> None:
    async with served(token=TOKEN) as room:
        response = await room.client.get("/", params={"token": TOKEN, "keep": "1"})
        assert (response.status_code, response.headers["location"]) == (303, "/?keep=1")
        assert (await room.client.get("/api/v1/info")).status_code == 200
        wrong = await room.client.get("/", params={"token": "guess"})
        assert "set-cookie" not in wrong.headers


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"token": 1}', b'{"token": "' + b"x" * 9000 + b'"}'])
async def test_a_login_that_is_not_understood_is_refused(body: bytes) -> None:
    async with served(token=TOKEN) as room:
        response = await room.client.post("/api/v1/login", content=body)
        assert response.status_code in (400, 401, 413)
        assert "set-cookie" not in response.headers


async def test_a_name_that_another_site_made_resolve_here_is_refused() -> None:
    async with served() as room:
        refused = await room.client.get("/api/v1/info", headers={"host": "evil.example:4318"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "foreign_host")
        for host in ("localhost:4318", "127.0.0.1", "[::1]:4318", "app.localhost"):
            assert (await room.client.get("/api/v1/info", headers={"host": host})).status_code == 200


@pytest.mark.parametrize(
    "headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}]
)
async def test_another_sites_page_cannot_end_a_session(headers: dict[str, str]) -> None:
    async with served() as room:
        add(room.index, shell("ls"))
        refused = await room.client.post("/api/v1/sessions/s/end", headers=headers)
        assert refused.status_code == 403
        assert (await room.get("/api/v1/sessions/s"))["state"] == "open"


@pytest.mark.parametrize("path", ["/", "/page/base.css", "/api/v1/info", "/api/v1/none", "/healthz"])
async def test_every_response_forbids_what_it_does_not_need(path: str) -> None:
    async with served() as room:
        response = await room.client.get(path)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine_only(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
