import asyncio
from typing import Any
from urllib.parse import quote

import pytest

from collector.index import Limits, UnitKey, UnitKind
from evaluator.items import Call, Change, Item, ItemKind, NotRecorded
from tests.collector.live.samples import Served, add, event, served, shell
from tests.waiting import until


def key(session: str = "s") -> UnitKey:
    return UnitKey(UnitKind.SESSION, session)


async def test_sessions_are_listed_newest_first_in_pages() -> None:
    async with served() as room:
        for number in range(5):
            add(room.index, shell("ls", f"s{number}"))
        first = await room.get("/api/v1/sessions", limit=2)
        assert [unit["id"] for unit in first["units"]] == ["s4", "s3"]
        add(room.index, shell("ls", "new"))
        second = await room.get("/api/v1/sessions", limit=2, before=first["next"])
        assert [unit["id"] for unit in second["units"]] == ["s2", "s1"]
        last = await room.get("/api/v1/sessions", limit=2, before=second["next"])
        assert ([unit["id"] for unit in last["units"]], last["next"]) == (["s0"], None)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["calm", "pushed", "forced"]),
        ({"result": "fail"}, ["calm", "pushed", "forced"]),
        ({"behavior": "no force push", "result": "fail"}, ["forced"]),
        ({"behavior": "tests before push", "result": "not_applicable"}, ["calm"]),
        ({"state": "closed"}, ["pushed"]),
        ({"state": "open", "q": "FOR"}, ["forced"]),
        ({"q": "nobody"}, []),
    ],
)
async def test_sessions_are_filtered(query: dict[str, str], expected: list[str]) -> None:
    async with served() as room:
        add(room.index, shell("git push --force", "forced"), shell("git push", "pushed"), shell("ls", "calm"))
        room.index.close(key("pushed"))
        answer = await room.get("/api/v1/sessions", **query)
        assert [unit["id"] for unit in answer["units"]] == expected


async def test_jobs_are_units_of_their_own() -> None:
    async with served() as room:
        add(room.index, shell("git push", "a", job="j"), shell("git push", "b", job="j"))
        (job,) = (await room.get("/api/v1/jobs"))["units"]
        assert (job["id"], job["items"], job["sessions"], job["cells"]) == ("j", 2, ["a", "b"], "F")
        (session, _) = (await room.get("/api/v1/sessions"))["units"]
        assert session["jobs"] == ["j"]


async def test_one_session_has_its_results_with_their_evidence() -> None:
    async with served() as room:
        add(room.index, shell("git push --force", seq=1))
        unit = await room.get("/api/v1/sessions/s")
        forced, run, before = unit["results"]
        assert (forced["result"], forced["final"], forced["final_at"]) == ("fail", True, 1)
        assert forced["evidence"][0]["seq"] == 1
        assert (run["result"], run["final"]) == ("fail", False)
        assert before["severity"] == "warn"
        assert unit["verdict"] == {"result": "fail", "final": True}


async def test_a_warning_is_not_in_the_verdict() -> None:
    async with served() as room:
        add(room.index, event("test.run", seq=2), shell("git push", seq=1))
        room.index.close(key())
        unit = await room.get("/api/v1/sessions/s")
        assert unit["cells"] == "PPF"
        assert unit["verdict"] == {"result": "pass", "final": True}


async def test_a_cut_session_never_passes() -> None:
    async with served(limits=Limits(session_items=1)) as room:
        add(room.index, event("test.run"), shell("ls"))
        room.index.close(key())
        unit = await room.get("/api/v1/sessions/s")
        assert "more items than the limit of 1" in unit["cut"]
        assert (unit["dropped"], unit["verdict"]["result"]) == (1, "unknown")


async def test_without_behaviors_nothing_is_verified() -> None:
    async with served("behaviors: [{name: a job's, unit: job, assert: {never: {event: x}}}]") as room:
        add(room.index, shell("ls"))
        assert (await room.get("/api/v1/sessions/s/verdict", 202))["result"] == "unknown"
        ended = await room.client.post("/api/v1/sessions/s/end")
        assert ended.json()["result"] == "unknown"


async def test_the_timeline_is_in_seq_order_in_windows() -> None:
    async with served() as room:
        add(room.index, *(shell(f"echo {seq}", seq=seq) for seq in (5, 1, 4, 2, 3)))
        window = await room.get("/api/v1/sessions/s/items", **{"from": 1, "limit": 3})
        assert [(item["position"], item["seq"]) for item in window["items"]] == [(1, 2), (2, 3), (3, 4)]
        assert (window["total"], window["from"]) == (5, 1)
        assert window["items"][0]["input"] == '{"command":"echo 2"}'
        assert window["items"][0]["duration_ms"] == 5.0


@pytest.mark.parametrize(
    ("query", "seqs"),
    [
        ({"kind": "event"}, [2]),
        ({"q": "FORCE"}, [3]),
        ({"q": "test."}, [2]),
        ({"q": "git.push"}, [3, 4]),
        ({"behavior": "no force push"}, [3]),
        ({"behavior": "tests run"}, [2]),
        ({"kind": "approval"}, []),
        ({"q": "git.push", "limit": 1, "from": 1}, [4]),
    ],
)
async def test_the_timeline_is_filtered(query: dict[str, Any], seqs: list[int]) -> None:
    async with served() as room:
        items = [
            shell("ls", seq=1),
            event("test.run", seq=2),
            shell("git push --force", seq=3),
            shell("git push", seq=4),
        ]
        add(room.index, *items)
        window = await room.get("/api/v1/sessions/s/items", **query)
        assert [item["seq"] for item in window["items"]] == seqs


async def test_a_filtered_timeline_follows_what_arrives() -> None:
    async with served() as room:
        add(room.index, shell("ls"))
        assert (await room.get("/api/v1/sessions/s/items", q="push"))["total"] == 0
        add(room.index, shell("git push"))
        assert (await room.get("/api/v1/sessions/s/items", q="push"))["total"] == 1


async def test_evidence_is_marked() -> None:
    async with served() as room:
        add(room.index, shell("ls", seq=1), shell("git push --force", seq=2))
        window = await room.get("/api/v1/sessions/s/items")
        assert [item["marks"] for item in window["items"]] == [[], ["no force push", "tests before push"]]


async def test_an_item_is_shown_in_full() -> None:
    async with served() as room:
        add(room.index, shell("ls", attributes={"big": 10**30, "list": ["a"], "text": "t"}))
        (line,) = (await room.get("/api/v1/sessions/s/items"))["items"]
        item = await room.get(f"/api/v1/sessions/s/items/{line['id']}")
        assert item["call"]["args"] == {"recorded": True, "text": '{\n  "command": "ls"\n}', "characters": 21}
        assert item["attributes"] == {"big": str(10**30), "list": '["a"]', "text": "t"}
        assert item["call"]["trace_id"] == ""
        await room.get("/api/v1/sessions/s/items/nothing", 404)


async def test_what_was_not_recorded_is_not_shown_as_a_value() -> None:
    async with served() as room:
        call = Call("tool", NotRecorded("content capture is off", "set CAPTURE=true"))
        add(room.index, Item((b"t", b"s"), ItemKind.TOOL, "tool", "s", None, 1, 1, None, call=call))
        (line,) = (await room.get("/api/v1/sessions/s/items"))["items"]
        item = await room.get(f"/api/v1/sessions/s/items/{line['id']}")
        assert item["call"]["args"] == {
            "recorded": False,
            "cause": "content capture is off",
            "fix": "set CAPTURE=true",
        }
        assert line["input"] is None


@pytest.mark.parametrize(
    "session", ["a/b", "a/verdict", "%2F", "a b?c#d&e", "ü\u202e<b>", "..", "a%", "x" * 2000, "end", "a\nb"]
)
async def test_any_text_can_be_a_session(session: str) -> None:
    async with served() as room:
        add(room.index, event("test.run", session))
        path = f"/api/v1/sessions/{quote(session, safe='')}" if session != ".." else "/api/v1/sessions/%2E%2E"
        assert (await room.get(path))["id"] == session
        assert (await room.get(f"{path}/items"))["total"] == 1
        assert (await room.get(f"{path}/verdict", 202))["unit"]["id"] == session


async def test_a_verdict_is_answered_the_moment_it_is_final() -> None:
    async with served() as room:
        waiting = asyncio.create_task(room.client.get("/api/v1/sessions/s/verdict", params={"wait": "60s"}))
        await until(lambda: room.live.board._waiting)
        add(room.index, shell("ls"))
        add(room.index, shell("git push --force"))
        response = await waiting
        assert response.status_code == 200
        assert (response.json()["result"], response.json()["final"], response.json()["state"]) == (
            "fail",
            True,
            "open",
        )
        assert not room.live.board._waiting


async def test_a_verdict_is_final_when_the_session_ends() -> None:
    async with served() as room:
        add(room.index, event("test.run"))
        waiting = asyncio.create_task(room.client.get("/api/v1/sessions/s/verdict", params={"wait": "60s"}))
        await until(lambda: room.live.board._waiting)
        add(room.index, event("session.end"))
        response = await waiting
        assert (response.status_code, response.json()["result"], response.json()["state"]) == (200, "pass", "closed")


async def test_a_verdict_that_is_not_final_in_time_is_accepted_and_provisional() -> None:
    async with served() as room:
        add(room.index, event("test.run"))
        verdict = await room.get("/api/v1/sessions/s/verdict", 202, wait="20ms")
        assert (verdict["result"], verdict["final"]) == ("pass", False)


async def test_a_verdict_of_chosen_behaviors_looks_at_no_other() -> None:
    async with served() as room:
        add(room.index, event("test.run"))
        chosen = await room.get("/api/v1/sessions/s/verdict", behavior="tests run")
        assert (chosen["result"], chosen["final"], len(chosen["results"])) == ("pass", True, 1)
        await room.get("/api/v1/sessions/s/verdict", 400, behavior="tests")


async def test_a_session_that_never_comes_has_no_verdict() -> None:
    async with served() as room:
        refused = await room.get("/api/v1/sessions/s/verdict", 404, wait="10ms")
        assert refused["error"]["code"] == "unknown_unit"


async def test_a_session_is_ended_and_opened_again_by_a_late_item() -> None:
    async with served() as room:
        add(room.index, event("test.run"))
        ended = await room.client.post("/api/v1/sessions/s/end")
        assert ended.json()["state"] == "closed"
        assert all(result["final"] for result in ended.json()["results"])
        add(room.index, shell("git push --force"))
        unit = await room.get("/api/v1/sessions/s")
        assert (unit["state"], unit["reopened"], unit["verdict"]) == ("open", 1, {"result": "fail", "final": True})
        assert [result["revised"] for result in unit["results"]] == [True, False, True]
        assert unit["revised"] == [0, 2]


async def test_reopening_makes_provisional_what_only_closing_made_final() -> None:
    async with served() as room:
        add(room.index, event("test.run"))
        room.index.close(key())
        assert (await room.get("/api/v1/sessions/s"))["cells"] == "PPN"
        add(room.index, shell("ls"))
        assert (await room.get("/api/v1/sessions/s"))["cells"] == "pPn"


async def test_results_are_listed_over_all_sessions() -> None:
    async with served() as room:
        add(room.index, shell("git push --force", "a"), event("test.run", "b"), shell("git push --force", "c"))
        failed = await room.get("/api/v1/results", result="fail", behavior="no force push")
        assert [result["unit"]["id"] for result in failed["results"]] == ["c", "a"]
        first = await room.get("/api/v1/results", final="true", limit=1)
        assert [(r["unit"]["id"], r["behavior"]) for r in first["results"]] == [("c", "no force push")]
        rest = await room.get("/api/v1/results", final="true", before=first["next"])
        assert [(r["unit"]["id"], r["behavior"]) for r in rest["results"]] == [
            ("b", "tests run"),
            ("a", "no force push"),
        ]


@pytest.mark.parametrize(
    ("path", "params", "said"),
    [
        ("/api/v1/sessions", {"limit": "0"}, "from 1 to 500"),
        ("/api/v1/sessions", {"limit": "x"}, "found 'x'"),
        ("/api/v1/sessions", {"limit": "501"}, "from 1 to 500"),
        ("/api/v1/sessions", {"results": "fail"}, "unknown parameter 'results'"),
        ("/api/v1/sessions", {"result": "failed"}, "expected one of pass, fail"),
        ("/api/v1/sessions", {"behavior": "no such"}, "no force push"),
        ("/api/v1/sessions/s/items", {"from": "-1"}, "from 0"),
        ("/api/v1/sessions/s/verdict", {"wait": "soon"}, "such as 500ms, 30s or 2m"),
        ("/api/v1/sessions/s/verdict", {"wait": "11m"}, "at most 600 s"),
        ("/api/v1/events", {"since": "3"}, "last_event_id"),
    ],
)
async def test_a_parameter_that_is_not_understood_is_refused(path: str, params: dict[str, str], said: str) -> None:
    async with served() as room:
        add(room.index, shell("ls"))
        refused = await room.get(path, 400, **params)
        assert refused["error"]["code"] == "bad_parameter"
        assert said in refused["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/sessions/none", 404),
        ("POST", "/api/v1/sessions/none/end", 404),
        ("GET", "/api/v1/things", 404),
        ("GET", "/api/v1/things/a/items", 404),
        ("GET", "/api/v1/run", 404),
        ("GET", "/nowhere", 404),
        ("GET", "/page/../app.py", 404),
        ("GET", "/page/..%2fapp.py", 404),
        ("POST", "/api/v1/sessions", 405),
        ("GET", "/api/v1/sessions/s/end", 405),
    ],
)
async def test_what_is_not_there_says_so_in_json(method: str, path: str, status: int) -> None:
    async with served() as room:
        response = await room.client.request(method, path)
        assert response.status_code == status
        assert set(response.json()["error"]) == {"code", "message"}


async def _fill(room: Served, count: int) -> None:
    room.index.apply(Change(None, shell(f"echo {n}", seq=n)) for n in range(count))


async def test_a_long_timeline_is_searched_while_others_are_answered() -> None:
    async with served() as room:
        await _fill(room, 5_000)
        search = asyncio.create_task(room.get("/api/v1/sessions/s/items", q="echo 4999"))
        assert (await room.get("/healthz"))["status"] == "ok"
        assert [item["seq"] for item in (await search)["items"]] == [4999]
