"""`--junit`: results as JUnit XML, as Jenkins, GitLab and others read it.

Source of the format: the schema of the Jenkins xUnit plugin (junit-10), to which GitLab's reader keeps too.
`failure` is a test that failed, `error` one that could not be verified; both make a pipeline red.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from collector.export.json import write_report
from collector.export.printable import printable
from collector.export.story import execution_title, reason_lines, story_lines, unhappy
from evaluator.harness.outcome import RunOutcome, SpecOutcome, SuiteOutcome, TestOutcome, UnitBehaviors
from evaluator.verdict import BehaviorResult, Result, Severity, Status

ELEMENTS: Final = {Status.FAILED: "failure", Status.ERROR: "error"}

MESSAGE: Final = 300
"""How many code points a `message` attribute has; the text of the element has it all."""


def junit_xml(outcome: RunOutcome) -> bytes:
    """The report as UTF-8."""
    suites = [element for spec in outcome.specs for element in _spec(spec)]
    suites += [_unit(unit) for unit in outcome.behaviors]
    if outcome.interrupted:
        suites.append(_interrupted())
    root = Element("testsuites", name="spanbar", time=_seconds((outcome.ended - outcome.started) / 1e6))
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    stamp = datetime.fromtimestamp(outcome.started // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    for number, suite in enumerate(suites):
        suite.set("id", str(number))
        suite.set("timestamp", stamp)
        root.append(suite)
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def write_junit(outcome: RunOutcome, path: Path) -> None:
    """Raises OSError."""
    write_report(junit_xml(outcome), path)


def _spec(spec: SpecOutcome) -> Iterable[Element]:
    for suite in spec.suites:
        yield _suite(spec, suite)
    if spec.not_run:
        yield _not_run(spec)
    if spec.stop is not None:
        text = "\n".join(printable(line) for line in spec.stop.text.splitlines())
        case = Element("testcase", name="(the spec ran)", classname=_text(str(spec.path)))
        _problem(case, "error", spec.stop.code, text, text)
        yield _counted(Element("testsuite", name=_text(f"{spec.path}: stopped"), file=_text(str(spec.path))), [case])


def _interrupted() -> Element:
    """Makes the report red also where no test was running: it is not that of a whole run."""
    case = Element("testcase", name="(the run ended)", classname="spanbar")
    _problem(case, "error", "interrupted", "the run was interrupted", "the run was interrupted")
    return _counted(Element("testsuite", name="spanbar: interrupted"), [case])


def _not_run(spec: SpecOutcome) -> Element:
    cases = []
    for test in spec.not_run:
        case = Element("testcase", name=_text(test.name), classname=_classname(spec, test.suite))
        SubElement(case, "skipped", type="not_run", message="not begun before the run ended")
        cases.append(case)
    return _counted(Element("testsuite", name=_text(f"{spec.path}: not run"), file=_text(str(spec.path))), cases)


def _classname(spec: SpecOutcome, suite: str) -> str:
    return _text(f"{spec.path.name.removesuffix('.yaml').removesuffix('.highbar')}.{suite}")


def _suite(spec: SpecOutcome, suite: SuiteOutcome) -> Element:
    seen: dict[str, int] = {}
    cases = []
    for test in suite.tests:
        # Readers tell tests apart by their names, which a spec need not make unique.
        seen[test.name] = seen.get(test.name, 0) + 1
        name = test.name if seen[test.name] == 1 else f"{test.name} #{seen[test.name]}"
        cases.append(_case(spec, suite, test, name))
    element = Element("testsuite", name=_text(suite.name), file=_text(str(spec.path)))
    element.set("time", _seconds(sum(test.duration_ms for test in suite.tests)))
    return _counted(element, cases)


def _case(spec: SpecOutcome, suite: SuiteOutcome, test: TestOutcome, name: str) -> Element:
    case = Element(
        "testcase", name=_text(name), classname=_classname(spec, suite.name), time=_seconds(test.duration_ms)
    )
    story = "\n".join(story_lines(test))
    if test.status is not Status.PASSED:
        first = test.reasons[0] if test.reasons else None
        message = "; ".join(reason.text for reason in test.reasons) or str(test.status)
        _problem(case, ELEMENTS[test.status], first.code if first else str(test.status), message, story)
    else:
        for execution in unhappy(test):
            text = "\n".join(line for reason in execution.reasons for line in reason_lines(reason))
            code = execution.reasons[0].code if execution.reasons else str(execution.status)
            kind = "flakyFailure" if execution.status is Status.FAILED else "flakyError"
            _problem(case, kind, code, f"{execution_title(execution)}: {execution.status}", text)
    traces = [trace for execution in test.executions for trace in execution.trace_ids]
    if traces:
        SubElement(case, "system-out").text = "\n".join(f"trace {trace}" for trace in traces)
    return case


def _unit(unit: UnitBehaviors) -> Element:
    name = _text(f"behaviors of {unit.kind} {unit.id}")
    cases = [_behavior(result, name) for result in unit.results]
    return _counted(Element("testsuite", name=name), cases)


def _behavior(result: BehaviorResult, classname: str) -> Element:
    case = Element("testcase", name=_text(result.behavior), classname=classname)
    verdict = result.verdict
    if verdict.result is Result.PASS:
        return case
    kind = {Result.FAIL: "failure", Result.NOT_APPLICABLE: "skipped"}.get(verdict.result, "error")
    if result.severity is Severity.WARN:
        kind = "skipped"
    _problem(case, kind, verdict.result, f"{verdict.result}: {verdict.reason}", verdict.reason)
    return case


def _problem(case: Element, kind: str, code: str, message: str, text: str) -> None:
    # `text` is lines, each already printable; the message is one line.
    problem = SubElement(case, kind, type=_text(code), message=printable(message, MESSAGE))
    problem.text = "\n".join(map(printable, text.split("\n")))


def _counted(suite: Element, cases: list[Element]) -> Element:
    suite.extend(cases)
    for key, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(sum(case.find(kind) is not None for case in cases)))
    suite.set("tests", str(len(cases)))
    return suite


def _text(text: str) -> str:
    return printable(text, 500)


def _seconds(ms: float) -> str:
    return f"{max(ms, 0) / 1000:.3f}"
