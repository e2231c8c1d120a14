"""`spanbar doctor` against agents with one thing wrong each: it names it, and the line that fixes it."""

import sys
from pathlib import Path

import pytest

from tests.environments import free_port, spanbar

AGENT = Path("agent.py")
SPEC = Path("specs") / "support.highbar.yaml"


@pytest.fixture
def support(tmp_path: Path) -> Path:
    assert spanbar("init", cwd=tmp_path).returncode == 0
    port = str(free_port())
    edit(tmp_path / AGENT, "8731", port)
    edit(tmp_path / SPEC, "8731", port)
    edit(tmp_path / SPEC, "python agent.py", f"{sys.executable} agent.py")
    return tmp_path


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_an_agent_with_all_in_order_is_told_to_be_so(support: Path) -> None:
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "'POST /chat' is the entry span" in ran.stdout
    assert "1 tool call for this message" in ran.stdout
    assert "fix:" not in ran.stdout


def test_without_any_span_it_says_so_and_how_to_send_some(support: Path) -> None:
    edit(support / AGENT, "provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))", "")
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 1
    assert "fix:" in ran.stdout
    assert "nothing arrived" in ran.stdout


@pytest.mark.parametrize("path", ["", "/traces"])
def test_a_wrong_path_of_the_exporter_is_named(support: Path, path: str) -> None:
    endpoint = f'__import__("os").environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "{path}"'
    edit(support / AGENT, "OTLPSpanExporter()", f"OTLPSpanExporter({endpoint})")
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 1
    assert f"a request came to POST {path or '/'}: OTLP/HTTP is at /v1/traces" in ran.stdout
    assert "fix: Append /v1/traces" in ran.stdout


def test_a_delay_in_the_code_of_the_agent_is_looked_for_there_and_in_its_log(support: Path) -> None:
    edit(support / AGENT, "OTLPSpanExporter()", "OTLPSpanExporter(), schedule_delay_millis=60_000")
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 1
    fix = next(line for line in ran.stdout.splitlines() if "fix:" in line)
    assert "set neither endpoint nor schedule_delay_millis in code" in fix
    assert "spanbar doctor" not in fix
    (log,) = (support / ".highbar" / "logs").glob("*.log")
    assert str(log.relative_to(support)) in fix


def test_a_reply_that_fails_names_the_log_of_the_agent(support: Path) -> None:
    edit(support / AGENT, 'reply = answer(body["message"])', 'print("on its way", flush=True); reply = 1 / 0')
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 1
    (log,) = (support / ".highbar" / "logs").glob("*.log")
    assert f"The agent's log is {log.relative_to(support)}." in ran.stdout


def test_an_agent_that_ends_at_a_message_is_said_to_have_ended(support: Path) -> None:
    edit(
        support / AGENT, 'reply = answer(body["message"])', 'print("no more", flush=True); __import__("os")._exit(3)'
    )
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 1
    assert ran.stdout.count("The agent has ended with exit code 3.") == 1
    assert "no more" in ran.stdout
    assert "fix: Let the agent answer every request" in ran.stdout


def test_an_endpoint_where_nothing_listens_is_to_be_checked(support: Path) -> None:
    spec = (support / SPEC).read_text()
    old = next(line for line in spec.splitlines() if "endpoint:" in line)
    edit(support / SPEC, old, f'  endpoint: "http://127.0.0.1:{free_port()}/chat"')
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 1
    assert "fix: Check the host and port of agent.endpoint" in ran.stdout


def test_spans_of_other_traces_mean_that_the_context_is_not_continued(support: Path) -> None:
    edit(support / AGENT, "context=extract(self.headers), ", "")
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 1
    assert "the message's trace is not continued" in ran.stdout
    assert "traceparent" in ran.stdout


def test_spans_that_mean_nothing_for_agents_are_told_from_those_that_do(support: Path) -> None:
    for line in ('"gen_ai.operation.name": "execute_tool",', '"gen_ai.operation.name": "invoke_agent",'):
        edit(support / AGENT, line, "")
    edit(support / AGENT, 'f"execute_tool {function.__name__}"', "function.__name__")
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 1
    assert "no span says anything of tools, models or agents" in ran.stdout
    assert "spanbar init --framework" in ran.stdout


def test_an_agent_that_declares_no_tools_is_told_how_to(support: Path) -> None:
    edit(support / AGENT, '"gen_ai.tool.definitions": TOOLS,', "")
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 0
    assert "fix: send gen_ai.tool.definitions" in ran.stdout


def test_content_that_is_not_captured_is_named(support: Path) -> None:
    edit(support / AGENT, '"gen_ai.tool.call.arguments": json.dumps(arguments),', "")
    ran = spanbar("doctor", SPEC, cwd=support)
    assert "arguments not recorded" in ran.stdout


def test_a_message_without_a_tool_call_is_no_fault(support: Path) -> None:
    ran = spanbar("doctor", SPEC, "--message", "hello", cwd=support)
    assert ran.returncode == 0
    assert "no tool call for this message; try one that needs a tool" in ran.stdout


def test_an_agent_that_does_not_start_is_exit_code_2(support: Path) -> None:
    (support / AGENT).write_text("raise SystemExit('no key')\n")
    ran = spanbar("doctor", SPEC, cwd=support)
    assert ran.returncode == 2
    assert "no key" in ran.stderr
