"""`spanbar run` and `spanbar check` as their users call them, on what `spanbar init` writes."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from collector.receiver.files import read
from tests.environments import free_port, spanbar
from tests.waiting import until

BEHAVIORS = """
behaviors:
  - name: never deletes an account
    assert: {never: {where: {name: delete_account}}}
  - name: looks up before it cancels
    assert: {before: {first: {where: {name: get_order}}, then: {where: {name: cancel_order}}}}
  - name: always looks up
    severity: warn
    assert: {eventually: {where: {name: get_order}}}
"""


@pytest.fixture
def support(tmp_path: Path) -> Path:
    """A folder with the starter's agent and spec, on a port of its own."""
    assert spanbar("init", cwd=tmp_path).returncode == 0
    port = str(free_port())
    for file in (tmp_path / "agent.py", tmp_path / "specs" / "support.highbar.yaml"):
        file.write_text(file.read_text().replace("8731", port))
    spec = tmp_path / "specs" / "support.highbar.yaml"
    spec.write_text(spec.read_text().replace("python agent.py", f"{sys.executable} agent.py"))
    return tmp_path


@pytest.fixture
def careless(support: Path) -> Path:
    """The same with its guardrails off."""
    agent = support / "agent.py"
    agent.write_text(agent.read_text().replace("GUARDRAILS = True", "GUARDRAILS = False"))
    return support


def statuses(document: Path) -> dict[str, str]:
    return {test["name"]: test["status"] for test in json.loads(document.read_text())["tests"]}


def results(document: Path) -> list[dict[str, str]]:
    behaviors = json.loads(document.read_text())["behaviors"]
    return [{"behavior": behavior["name"], "result": behavior["result"]} for behavior in behaviors]


def test_the_starter_passes(support: Path) -> None:
    ran = spanbar("run", cwd=support)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "4 passed" in ran.stdout


def test_an_agent_with_the_grpc_exporter_passes_without_being_told_of_a_port(support: Path) -> None:
    agent = support / "agent.py"
    agent.write_text(agent.read_text().replace("exporter.otlp.proto.http", "exporter.otlp.proto.grpc"))
    ran = spanbar("run", cwd=support)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_without_guardrails_the_guardrail_tests_fail(careless: Path) -> None:
    ran = spanbar("run", "--json", "found.json", cwd=careless)
    assert ran.returncode == 1
    assert statuses(careless / "found.json") == {
        "looks the order up": "passed",
        "looks the order up before cancelling it": "passed",
        "never deletes an account from chat": "failed",
        "never repeats a card number": "failed",
    }


def test_k_selects_tests_by_their_own_and_their_suites_name(support: Path) -> None:
    spanbar("run", "-k", "guardRAILS", "--json", "found.json", cwd=support)
    assert list(statuses(support / "found.json")) == [
        "never deletes an account from chat",
        "never repeats a card number",
    ]


def test_when_nothing_is_selected_nothing_is_verified(support: Path) -> None:
    assert spanbar("run", "-k", "no such test", cwd=support).returncode == 2


def test_check_of_the_recorded_telemetry_says_what_the_run_said(careless: Path) -> None:
    (careless / "b.yaml").write_text(BEHAVIORS)
    ran = spanbar("run", "--behaviors", "b.yaml", "--record", "r.jsonl", "--json", "run.json", cwd=careless)
    checked = spanbar("check", "b.yaml", "r.jsonl", "--json", "check.json", cwd=careless)
    live, recorded = (json.loads((careless / name).read_text())["behaviors"] for name in ("run.json", "check.json"))
    assert live, ran.stdout + ran.stderr
    assert json.dumps(live) == json.dumps(recorded), checked.stdout
    assert (ran.returncode, checked.returncode) == (1, 1)


def test_a_broken_behavior_fails_the_test_that_broke_it(careless: Path) -> None:
    (careless / "b.yaml").write_text(BEHAVIORS)
    spanbar("run", "--behaviors", "b.yaml", "--json", "found.json", cwd=careless)
    tests = json.loads((careless / "found.json").read_text())["tests"]
    broken = [test["name"] for test in tests if any(reason["code"] == "behavior" for reason in test["reasons"])]
    assert broken == ["never deletes an account from chat"]


def test_x_behaviors_judge_only_the_tests_that_name_them(careless: Path) -> None:
    (careless / "specs" / "b.yaml").write_text(BEHAVIORS)
    spec = careless / "specs" / "support.highbar.yaml"
    spec.write_text(spec.read_text().replace("- name: Orders\n", "- name: Orders\n    x-behaviors: [b.yaml]\n"))
    ran = spanbar("run", "--json", "found.json", cwd=careless)
    document = json.loads((careless / "found.json").read_text())
    sessions = {
        trace
        for test in document["tests"]
        if test["suite"] == "Orders"
        for execution in test["executions"]
        for trace in execution["trace_ids"]
    }
    assert {behavior["unit"]["id"] for behavior in document["behaviors"]} == sessions, ran.stdout


def only_replies(support: Path) -> None:
    """Make the spec one test that is about the reply alone, of what the careless agent does all the same."""
    spec = support / "specs" / "support.highbar.yaml"
    agent = spec.read_text().partition("suites:")[0]
    test = {"name": "answers", "trigger": "Delete my account right now", "expect": {"response": {"icontains": "a"}}}
    spec.write_text(f"{agent}suites: {json.dumps([{'name': 'Replies', 'tests': [test]}])}\n")
    (support / "b.yaml").write_text(BEHAVIORS)


def test_a_test_of_the_reply_alone_waits_for_the_calls_that_behaviors_judge(careless: Path) -> None:
    only_replies(careless)
    ran = spanbar("run", "--behaviors", "b.yaml", "--json", "found.json", cwd=careless)
    assert ran.returncode == 1
    assert {"behavior": "never deletes an account", "result": "fail"} in results(careless / "found.json"), ran.stdout


EXPORTING = "provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))"
TOOL_SPAN = 'with tracer.start_as_current_span(f"execute_tool {function.__name__}", attributes=attributes) as span:'
UNSEEN = {
    "nothing is exported": {EXPORTING: ""},
    "it is exported too late": {"OTLPSpanExporter())": "OTLPSpanExporter(), schedule_delay_millis=60000)"},
    "only the web server is instrumented": {
        TOOL_SPAN: "for span in [trace.INVALID_SPAN]:",
        "SERVER, attributes=attributes": "SERVER",
    },
}


@pytest.mark.parametrize("changes", UNSEEN.values(), ids=UNSEEN)
def test_behaviors_over_what_nobody_saw_are_unknown(careless: Path, changes: dict[str, str]) -> None:
    only_replies(careless)
    agent = careless / "agent.py"
    for line, instead in changes.items():
        assert line in agent.read_text()
        agent.write_text(agent.read_text().replace(line, instead))
    ran = spanbar("run", "--behaviors", "b.yaml", "--json", "found.json", cwd=careless)
    assert ran.returncode == 1, ran.stdout
    assert {found["result"] for found in results(careless / "found.json")} == {"unknown"}, ran.stdout
    assert "1 passed, 2 behaviors unknown, 1 behavior warned" in ran.stdout


def test_messages_of_a_conversation_without_a_session_are_not_judged_one_by_one(support: Path) -> None:
    only_replies(support)
    spec = support / "specs" / "support.highbar.yaml"
    agent = spec.read_text().partition("suites:")[0]
    turns = [{"trigger": f"Where is order {order}?"} for order in (1042, 1043)]
    turns[-1]["expect"] = {"function_calls": [{"name": "get_order"}]}
    spec.write_text(
        f"{agent}suites: {json.dumps([{'name': 'Talk', 'tests': [{'name': 'two orders', 'turns': turns}]}])}\n"
    )
    (support / "b.yaml").write_text(
        "behaviors: [{name: once, assert: {count: {match: {where: {name: get_order}}, max: 1}}}]"
    )
    ran = spanbar("run", "--behaviors", "b.yaml", "--json", "found.json", cwd=support)
    assert ran.returncode == 1, ran.stdout
    assert [found["result"] for found in results(support / "found.json")] == ["unknown", "unknown"]
    assert "name no session" in ran.stdout


def test_what_fails_at_the_end_of_a_session_is_in_every_report(support: Path) -> None:
    (support / "b.yaml").write_text("behaviors: [{name: refunds, assert: {eventually: {where: {name: refund}}}}]")
    ran = spanbar(
        "run", "-k", "looks the order up before", "--behaviors", "b.yaml", "--json", "found.json", cwd=support
    )
    summary = json.loads((support / "found.json").read_text())["summary"]
    assert (summary["passed"], summary["failed"]) == (0, 1)
    last = ran.stdout.index("REVISED")
    assert last < ran.stdout.index("0 passed, 1 failed, 1 behavior failed")


def test_a_record_reads_back_as_spans(support: Path) -> None:
    spanbar("run", "--record", "r.jsonl", cwd=support)
    names = [span.name for batch in read(support / "r.jsonl") for span in batch.spans]
    assert names.count("POST /chat") == 6
    assert names.count("execute_tool cancel_order") == 1


def test_reports_are_written_and_a_report_that_cannot_be_is_said(support: Path) -> None:
    ran = spanbar("run", "--junit", "out/junit.xml", "--html", "out/page.html", "--json", "/dev/null/x", cwd=support)
    assert ran.returncode == 2
    assert "/dev/null/x could not be written" in ran.stderr


def test_each_file_is_named_at_the_end_and_its_folder_is_made(support: Path) -> None:
    files = {
        "--json": "out/new/run.json",
        "--junit": "junit.xml",
        "--html": "out/page.html",
        "--record": "rec/r.jsonl",
    }
    ran = spanbar("run", *(word for option in files.items() for word in option), cwd=support)
    assert ran.returncode == 0, ran.stdout
    lines = ran.stdout.splitlines()
    summary = next(at for at, line in enumerate(lines) if " passed in " in line)
    assert sorted(lines[summary + 1 :]) == sorted(f"wrote {path}" for path in files.values())
    assert all((support / path).stat().st_size for path in files.values())


def test_a_taken_port_stops_the_run_before_any_test(support: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = spanbar("run", "--http-port", port, cwd=support)
    assert ran.returncode == 2
    assert "cannot receive on 127.0.0.1" in ran.stderr


def test_an_interrupted_run_ends_its_agent_and_says_130(support: Path) -> None:
    agent = support / "agent.py"
    agent.write_text(
        agent.read_text().replace("def answer(message):", "def answer(message):\n    import time; time.sleep(600)")
    )
    (support / "agent.pid").unlink(missing_ok=True)
    agent.write_text(f"import os; open('agent.pid', 'w').write(str(os.getpid()))\n{agent.read_text()}")
    command = [Path(sys.executable).with_name("spanbar"), "run"]
    with subprocess.Popen(command, cwd=support, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if "agent started" in line)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int((support / "agent.pid").read_text()), 0)


STUBBORN = """
import os, pathlib, signal
pathlib.Path("agent.pid").write_text(str(os.getpid()))
signal.signal(signal.SIGTERM, lambda number, frame: pathlib.Path("asked to end").touch())
"""


def test_a_second_interrupt_kills_an_agent_that_does_not_end_and_the_reports_are_written(support: Path) -> None:
    agent = support / "agent.py"
    agent.write_text(STUBBORN + agent.read_text())
    command = [Path(sys.executable).with_name("spanbar"), "run", "--json", "found.json", "--junit", "found.xml"]
    with subprocess.Popen(command, cwd=support, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if "agent started" in line)
        process.send_signal(signal.SIGINT)
        asyncio.run(until((support / "asked to end").exists))
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == 130
    assert json.loads((support / "found.json").read_text())["summary"]["interrupted"]
    assert (support / "found.xml").read_text().endswith("</testsuites>\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int((support / "agent.pid").read_text()), 0)


def test_problems_of_all_files_are_told_at_once_and_nothing_runs(support: Path) -> None:
    (support / "specs" / "b.highbar.yaml").write_text("agent: {endpont: http://h/}\nsuites: []\n")
    (support / "specs" / "c.highbar.yaml").write_text("suites: [\n")
    ran = spanbar("run", cwd=support)
    assert ran.returncode == 2
    assert "did you mean 'endpoint'" in ran.stderr or 'did you mean "endpoint"' in ran.stderr
    assert "c.highbar.yaml" in ran.stderr
    assert not (support / ".highbar").exists()


def test_what_a_missing_part_of_a_recording_could_change_is_never_a_pass(careless: Path) -> None:
    (careless / "b.yaml").write_text(BEHAVIORS)
    spanbar("run", "--record", "r.jsonl", cwd=careless)
    with (careless / "r.jsonl").open("a") as record:
        record.write('{"resourceSpans": [{"scopeSpans": [{"spans": [')
    checked = spanbar("check", "b.yaml", "r.jsonl", "--json", "found.json", cwd=careless)
    found = {(one["behavior"], one["result"]) for one in results(careless / "found.json")}
    assert checked.returncode == 1
    assert {result for name, result in found if name.startswith("never")} == {"fail", "unknown"}
    assert ("always looks up", "pass") in found


def test_a_recording_in_which_nothing_is_a_session_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(BEHAVIORS)
    (tmp_path / "empty.jsonl").write_text("")
    checked = spanbar("check", "b.yaml", "empty.jsonl", cwd=tmp_path)
    assert checked.returncode == 2
    assert "nothing in these files is a session" in checked.stderr
