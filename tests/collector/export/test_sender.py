import gzip
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from collector.export.destination import destination
from collector.export.sender import Retrying, Sender
from collector.export.transport import JSON
from tests.collector.export.otlp_target import Answer, Certificates, GrpcTarget, HttpTarget, bodies, partial_success
from tests.waiting import until

QUICK = Retrying(first=0.001, longest=0.002, give_up_after=30)

OK = {"http": 200, "grpc": grpc.StatusCode.OK}
BUSY = {"http": 503, "grpc": grpc.StatusCode.UNAVAILABLE}
WRONG = {"http": 400, "grpc": grpc.StatusCode.INVALID_ARGUMENT}

Make = Callable[..., Any]


@pytest.fixture(params=["http", "grpc"])
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def target(wire: str) -> AsyncIterator[Make]:
    """Starts a target that gives these answers, over the protocol under test."""
    started = []

    async def start(*answers: Answer) -> HttpTarget | GrpcTarget:
        made = (HttpTarget if wire == "http" else GrpcTarget)(list(answers))
        await made.start()
        started.append(made)
        return made

    yield start
    for each in started:
        await each.stop()


@pytest.fixture
async def sender() -> AsyncIterator[Make]:
    started = []

    async def start(url: str, environ: dict[str, str] | None = None, **options: Any) -> Sender:
        made = Sender(destination(url, environ or {}), **({"retrying": QUICK} | options))
        await made.start()
        started.append(made)
        return made

    yield start
    for each in started:
        await each.close(0)


async def test_what_is_offered_arrives_byte_for_byte_at_the_signals_place(
    wire: str, target: Make, sender: Make
) -> None:
    there = await target(Answer(OK[wire]))
    here = await sender(there.url, workers=1)
    sent = [b"", b"\x0a\x00", b"x" * 100_000]
    for body in sent:
        assert here.offer("traces", body)
    here.offer("logs", b"log")
    await here.flush()
    assert bodies(there.seen) == [*sent, b"log"]
    paths = [each.path.rsplit(".", 1)[-1] for each in there.seen]
    expected = ["/v1/traces", "/v1/logs"] if wire == "http" else ["TraceService/Export", "LogsService/Export"]
    assert paths == [expected[0]] * 3 + [expected[1]]
    assert (here.counts.delivered, here.counts.lost) == (4, 0)


async def test_headers_go_with_every_request(wire: str, target: Make, sender: Make) -> None:
    there = await target(Answer(OK[wire]))
    here = await sender(there.url, {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer abc"})
    here.offer("traces", b"1")
    await here.flush()
    assert there.seen[0].headers["authorization"] == "Bearer abc"


async def test_a_busy_target_gets_the_same_request_again_until_it_takes_it(
    wire: str, target: Make, sender: Make
) -> None:
    there = await target(Answer(BUSY[wire]), Answer(BUSY[wire]), Answer(OK[wire]))
    here = await sender(there.url)
    here.offer("traces", b"again")
    await here.flush()
    assert bodies(there.seen) == [b"again"] * 3
    assert (here.counts.delivered, here.counts.retries, here.counts.failed) == (1, 2, 0)


async def test_a_request_that_is_refused_for_good_is_sent_once_and_counted_as_failed(
    wire: str, target: Make, sender: Make
) -> None:
    there = await target(Answer(WRONG[wire], message="bad request"))
    here = await sender(there.url)
    here.offer("traces", b"bad")
    await here.flush()
    assert len(there.seen) == 1
    assert (here.counts.delivered, here.counts.failed) == (0, 1)
    assert ("HTTP 400" if wire == "http" else "INVALID_ARGUMENT: bad request") in here.counts.last_error


async def test_what_the_target_rejects_of_a_request_is_counted(wire: str, target: Make, sender: Make) -> None:
    there = await target(Answer(OK[wire], partial_success(3, "too old")))
    here = await sender(there.url)
    here.offer("traces", b"")
    await here.flush()
    assert (here.counts.delivered, here.counts.rejected, here.counts.last_error) == (1, 3, "too old")


async def test_the_pause_that_the_target_asks_for_is_kept_to(wire: str, target: Make, sender: Make) -> None:
    # The target asks for longer than there is time: waiting as asked means giving up without a second attempt.
    there = await target(Answer(BUSY[wire], after=60), Answer(OK[wire]))
    here = await sender(there.url)
    here.offer("traces", b"")
    await here.flush()
    assert (len(there.seen), here.counts.failed) == (1, 1)
    assert here.counts.last_error.startswith("given up after 30 s: ")


@pytest.mark.parametrize(("after", "attempts"), [(0.001, 2), (None, 1)])
async def test_an_exhausted_grpc_target_is_tried_again_only_if_it_says_when(
    after: float | None, attempts: int, sender: Make
) -> None:
    there = GrpcTarget([Answer(grpc.StatusCode.RESOURCE_EXHAUSTED, after=after), Answer(grpc.StatusCode.OK)])
    await there.start()
    here = await sender(there.url)
    here.offer("traces", b"")
    await here.flush()
    assert (len(there.seen), here.counts.delivered) == (attempts, attempts - 1)
    await there.stop()


async def test_what_does_not_fit_into_the_queue_is_dropped_and_counted(wire: str, target: Make, sender: Make) -> None:
    there = await target(Answer(OK[wire]))
    there.gate.clear()
    here = await sender(there.url, queue_bytes=10, workers=1)
    here.offer("traces", b"under way")
    await until(lambda: len(there.seen) == 1)
    taken = [here.offer("traces", b"12345") for _ in range(3)]
    assert taken == [True, True, False]
    there.gate.set()
    await here.flush()
    counts = here.counts
    assert (counts.offered, counts.delivered, counts.dropped, counts.pending) == (4, 3, 1, 0)


async def test_send_waits_for_room_instead(wire: str, target: Make, sender: Make) -> None:
    there = await target(Answer(OK[wire]))
    here = await sender(there.url, queue_bytes=10, workers=1)
    assert all([await here.send("traces", b"12345678") for _ in range(20)])
    await here.flush()
    assert (here.counts.delivered, here.counts.dropped) == (20, 0)


async def test_closing_delivers_what_waits(wire: str, target: Make, sender: Make) -> None:
    there = await target(Answer(BUSY[wire]), Answer(OK[wire]))
    here = await sender(there.url)
    for _ in range(50):
        here.offer("traces", b"x")
    await here.close(30)
    assert (here.counts.delivered, here.counts.lost, here.counts.pending) == (50, 0, 0)
    assert not here.offer("traces", b"late")
    assert (here.counts.offered, here.counts.dropped) == (51, 1)


async def test_closing_counts_what_could_not_be_delivered_in_time(wire: str, target: Make, sender: Make) -> None:
    there = await target(Answer(OK[wire]))
    there.gate.clear()
    here = await sender(there.url, workers=2)
    for _ in range(5):
        here.offer("traces", b"x")
    await until(lambda: len(there.seen) == 2)
    await here.close(0)
    assert (here.counts.failed, here.counts.dropped, here.counts.pending) == (2, 3, 0)
    there.gate.set()


async def test_a_target_that_goes_and_comes_back_gets_everything(wire: str, target: Make, sender: Make) -> None:
    there = await target(Answer(OK[wire]))
    here = await sender(there.url)
    here.offer("traces", b"before")
    await here.flush()
    await there.stop()
    for number in range(10):
        here.offer("traces", f"while away {number}".encode())
    await until(lambda: here.counts.retries > 0)
    again = type(there)([Answer(OK[wire])])
    await again.start(there.port)
    await here.flush()
    await again.stop()
    assert here.counts.delivered == 11
    assert len(set(bodies(again.seen))) == 10


async def test_bodies_are_compressed_if_the_variable_says_so(sender: Make) -> None:
    there = HttpTarget([Answer(200)])
    await there.start()
    here = await sender(there.url, {"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"})
    here.offer("traces", b"text" * 100)
    await here.flush()
    assert there.seen[0].headers["content-encoding"] == "gzip"
    assert gzip.decompress(there.seen[0].body) == b"text" * 100
    await there.stop()


async def test_both_ends_show_their_certificates_if_the_variables_name_them(
    wire: str, tmp_path: Path, sender: Make
) -> None:
    certificates = Certificates.made_in(tmp_path)
    there = (HttpTarget if wire == "http" else GrpcTarget)([Answer(OK[wire])])
    await there.start(certificates=certificates)
    trusted = {"OTEL_EXPORTER_OTLP_CERTIFICATE": str(certificates.authority)}
    pair = {
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": str(certificates.client),
        "OTEL_EXPORTER_OTLP_CLIENT_KEY": str(certificates.client_key),
    }
    brief = Retrying(first=0.001, longest=0.002, give_up_after=0.01)
    known = await sender(there.url, trusted | pair)
    anonymous = await sender(there.url, trusted, retrying=brief)
    trusting_no_one = await sender(there.url, pair, retrying=brief)
    for each in (known, anonymous, trusting_no_one):
        each.offer("traces", b"secret")
        await each.flush()
    assert [each.counts.delivered for each in (known, anonymous, trusting_no_one)] == [1, 0, 0]
    assert bodies(there.seen) == [b"secret"]
    await there.stop()


async def test_json_keeps_its_content_type_over_http_and_is_refused_over_grpc(
    wire: str, target: Make, sender: Make
) -> None:
    there = await target(Answer(OK[wire]))
    here = await sender(there.url)
    here.offer("traces", b"{}", JSON)
    await here.flush()
    assert [each.headers["content-type"] for each in there.seen] == ([JSON] if wire == "http" else [])
    assert here.counts.failed == (0 if wire == "http" else 1)
