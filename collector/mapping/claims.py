"""Claims: spans and log events, read as a mapping file says."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from collector.conventions.payload import arguments, decoded, identifier, lost
from collector.conventions.reading import Reading, Role, ToolFacts
from collector.conventions.reports import ALLOWED, DENIED, CallReport, Report, began, decision_of
from collector.mapping.rules import Kind, Rule, Rules, Signal, Source
from collector.telemetry import STATUS_ERROR, LogRecord, Span
from evaluator.items import UNREADABLE_NAME, CallStatus, Json, NotRecorded
from evaluator.matchers import equal

_COLUMNS: Final = {
    "seq": "hangar.seq",
    "turn": "hangar.turn",
    "kind": "hangar.tool.kind",
    "ops": "hangar.shell.ops",
    "path": "hangar.file.repo_path",
    "op": "hangar.file.op",
    "server": "hangar.mcp.server",
    "skill": "gen_ai.skill.name",
}
_OK: Final = frozenset({"ok", "success", "succeeded", "true", "completed", "done", "passed"})
_ERROR: Final = frozenset({"error", "failed", "failure", "false", "exception", "timeout"})
_HELD: Final = frozenset({"held", "suspended", "pending", "waiting"})
NO_HOW: Final = NotRecorded("the call failed and nothing says how")


class Claims:
    """A mapping file at work. What it claims, no convention reads."""

    def __init__(self, rules: Rules) -> None:
        self.name = rules.name
        self._rules = rules
        self._of_spans = tuple(rule for rule in rules.rules if rule.where.signal is not Signal.LOGS)
        self._of_logs = tuple(rule for rule in rules.rules if rule.where.signal is not Signal.SPANS)
        self._spans = 0
        self._logs = 0
        self._used: set[int] = set()
        """The `id` of each rule that has claimed anything."""

    def __len__(self) -> int:
        """How many rules it has."""
        return len(self._rules.rules)

    def read_span(self, span: Span) -> Reading | None:
        """What the span means; None when no rule claims it."""
        self._spans += 1
        for rule in self._of_spans:
            if _claims(rule, span.name, span.attributes):
                self._used.add(id(rule))
                return _Claim(self._rules, rule, span).reading()
        return None

    def read_log(self, log: LogRecord) -> Reading | None:
        """What the log event means; None when no rule claims it. The keys of a body that is a mapping count as
        attributes."""
        attributes = log.attributes
        if isinstance(log.body, Mapping):
            attributes = {**log.body, **attributes}
        self._logs += 1
        for rule in self._of_logs:
            if _claims(rule, log.event_name, attributes):
                self._used.add(id(rule))
                return _Claim(self._rules, rule, log, attributes).reading()
        return None

    def idle(self) -> list[str]:
        """A sentence about each rule that has claimed nothing so far: its `where` may be wrong."""
        numbers: Counter[Kind] = Counter()
        found = []
        for rule in self._rules.rules:
            place = f"{rule.kind}[{numbers[rule.kind]}]"
            numbers[rule.kind] += 1
            if id(rule) not in self._used:
                found.append(f"mapping {self.name}: the rule {place} claimed nothing of {self._offered(rule)}")
        return found

    def _offered(self, rule: Rule) -> str:
        """What there was to claim for a rule."""
        spans, logs = (f"{self._spans} span{_s(self._spans)}", f"{self._logs} log record{_s(self._logs)}")
        match rule.where.signal:
            case Signal.SPANS:
                return spans
            case Signal.LOGS:
                return logs
            case _:
                return f"{spans} and {logs}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _claims(rule: Rule, name: str, attributes: Mapping[str, Json]) -> bool:
    where = rule.where
    if where.name is not None and not where.name(name):
        return False
    for key, values in where.attributes:
        found = attributes.get(key)
        if not any(found is None if value is None else found is not None and equal(found, value) for value in values):
            return False
    return True


class _Claim:
    """One span or log event, and the rule that claims it."""

    def __init__(
        self, rules: Rules, rule: Rule, record: Span | LogRecord, attributes: Mapping[str, Json] | None = None
    ) -> None:
        self._rules = rules
        self._rule = rule
        self._record = record
        self._attributes = record.attributes if attributes is None else attributes
        self._name = record.name if isinstance(record, Span) else record.event_name
        self._time = record.start if isinstance(record, Span) else record.time

    def reading(self) -> Reading:
        rule = self._rule
        columns = {name: value for key, name in _COLUMNS.items() if (value := self._value(key)[0]) is not None}
        for name in ("hangar.seq", "hangar.turn"):
            if name in columns:
                columns[name] = _number(columns[name])
        report = Report(self._rules.name, "", self._time, {**self._attributes, **columns})
        role = Role.OTHER
        match rule.kind:
            case Kind.CALL:
                report.call = self._call()
                role = Role.TOOL
            case Kind.APPROVAL:
                report.call = self._approval()
            case Kind.EVENT:
                status = self._value("status")[0]
                report.name = str(self._value("name")[0] or self._name)
                if status is not None:
                    report.attributes = {**report.attributes, "hangar.status": status}
            case Kind.PROMPT:
                report.turn_key = repr((self._record.trace_id, self._record.span_id, self._time))
        session, session_from = self._value("session")
        job, _ = self._value("job")
        return Reading(
            self._rules.name,
            role,
            session=None if session is None else str(session),
            session_from=session_from,
            claimed=True,
            job=None if job is None else str(job),
            report=report,
        )

    def _call(self) -> CallReport:
        record, facts = self._record, self._facts()
        started, ended = self._times()
        status = self._status()
        error, error_from = self._value("error")
        failed = status is CallStatus.ERROR or (status is None and (error not in (None, "", False)))
        if status is None and isinstance(record, Span) and record.status == STATUS_ERROR:
            failed = True
        if failed:
            message = record.status_message if isinstance(record, Span) else ""
            facts.status, facts.error_from = CallStatus.ERROR, error_from
            facts.error = str(error) if error not in (None, "", True) else message or NO_HOW
        refused = status is CallStatus.DENIED or status is CallStatus.SUSPENDED
        decision = {CallStatus.DENIED: DENIED, CallStatus.SUSPENDED: "requested"}.get(status or CallStatus.OK, "")
        return CallReport(
            facts.call_id,
            facts,
            ran=not refused,
            never_ran=status is CallStatus.DENIED,
            started=started,
            ended=ended,
            decision=decision,
        )

    def _approval(self) -> CallReport:
        said, _ = self._value("status")
        word = str(said or "").lower()
        decision = self._rule.words.get(word) or decision_of(said) or "requested"
        decider, _ = self._value("decider")
        facts = self._facts()
        return CallReport(
            facts.call_id, facts, decision=decision, decider="" if decider is None else str(decider)
        )  # fmt: skip

    def _facts(self) -> ToolFacts:
        name, name_from = self._value("tool")
        call_id, _ = self._value("call_id")
        args, args_from = self._arguments()
        result, result_from = self._value("result")
        text = identifier(name) or ""
        named = bool(text.strip())
        unnamed = "approval" if self._rule.kind is Kind.APPROVAL else UNREADABLE_NAME
        return ToolFacts(
            text if named else unnamed,
            args,
            self._absent("result") if result is None else decoded(result),
            call_id=identifier(call_id),
            name_from=name_from if named else "",
            args_from=args_from,
            result_from=result_from,
            nameless="" if named else self._nameless(),
        )

    def _nameless(self) -> str:
        """Why the tool of a call has no name (a clause)."""
        told = " and no ".join(str(source) for source in self._sources("tool"))
        return f"a tool was called, and there is no {told}, where the mapping {self._rules.name} looks for its name"

    def _arguments(self) -> tuple[Any, str]:
        for source in self._sources("args"):
            if source.prefix is not None:
                names = [key for key in self._attributes if key.startswith(source.prefix)]
                return {key[len(source.prefix) :]: self._attributes[key] for key in names}, str(source)
            value = self._of(source)
            if value is not None:
                return arguments(value, self._absent("args")), str(source)
        return self._absent("args"), ""

    def _absent(self, key: str) -> NotRecorded:
        sources = self._sources(key)
        if not sources and self._rule.kind is Kind.APPROVAL:
            missing = NotRecorded("its approval does not carry it")
        elif not sources:
            missing = NotRecorded(
                f"the mapping {self._rules.name} does not say where {key} stands", f"add {key} to it"
            )
        else:
            told = " and no ".join(str(source) for source in sources)
            missing = NotRecorded(f"there is no {told}, where the mapping {self._rules.name} looks for it")
        return lost(self._record, missing) if isinstance(self._record, Span) else missing

    def _status(self) -> CallStatus | None:
        """What became of the call, as its status says; None where that says nothing."""
        value, _ = self._value("status")
        if value is None:
            return None
        word = str(value).lower()
        meaning = self._rule.words.get(word)
        if meaning is None:
            denied = decision_of(value) == DENIED and word not in _OK and word not in _ERROR and word not in _HELD
            meaning = (
                "ok" if word in _OK or decision_of(value) == ALLOWED else "error" if word in _ERROR
                else "held" if word in _HELD else "denied" if denied else None
            )  # fmt: skip
        if meaning is None:
            return None
        return CallStatus.SUSPENDED if meaning == "held" else CallStatus(meaning)

    def _times(self) -> tuple[int, int]:
        if isinstance(self._record, Span):
            return self._record.start, self._record.end
        return began(self._time, self._value("duration_ms")[0]), self._time

    def _sources(self, key: str) -> tuple[Source, ...]:
        return self._rule.parts.get(key) or self._rules.common.get(key, ())

    def _value(self, key: str) -> tuple[Json, str]:
        """The first value of a part, and where it stands; None when it has none."""
        for source in self._sources(key):
            value = self._of(source)
            if value is not None:
                return value, str(source)
        return None, ""

    def _of(self, source: Source) -> Json:
        if source.attribute is not None:
            value = self._attributes.get(source.attribute)
            return self._record.resource.attributes.get(source.attribute) if value is None else value
        if source.name is not None:
            found = re.search(source.name, self._name)
            return None if found is None else found.group(1 if found.re.groups else 0)
        return source.value


def _number(value: Json) -> int | float | None:
    """A number, also one that is written as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    try:
        return int(str(value))
    except ValueError:
        return None
