"""`agent`: how to reach the agent."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from evaluator.language import request, session
from evaluator.language.document import Entry, MapNode, Node, ScalarNode
from evaluator.language.environment import Environment
from evaluator.language.matchers import literal
from evaluator.language.placeholders import MESSAGE, TEST, Allowed, check
from evaluator.language.problem import nearest
from evaluator.language.review import Review, is_absent, is_extension, quoted
from evaluator.language.spec import Agent, Place
from evaluator.language.templates import path_of, placeholders

AGENT_KEYS: Final = (
    "endpoint",
    "start",
    "health",
    "startup_timeout",
    "settle_time",
    "timeout",
    "traces",
    "request",
    "response",
    "session",
    "correlate",
)
STARTUP_TIMEOUT: Final = 15_000
SETTLE_TIME: Final = 500
TIMEOUT: Final = 60_000
CORRELATE: Final[Mapping[str, str]] = {"test": "{{test.id}}"}


def read_agent(review: Review, node: Node, variables: Mapping[str, str]) -> Agent | None:
    """Read `agent`, with the environment variables `variables` filled in."""
    if review.mapping(node, AGENT_KEYS) is None or not isinstance(node, MapNode):
        return None
    environment = Environment(variables, review)
    expanded = {}
    for entry in node:
        # Not those that the format does not have: they are told as such, not for their variables.
        if is_extension(entry.key) or entry.key.value in AGENT_KEYS:
            expanded[entry.key.text] = Entry(entry.key, environment.expand(entry.value))
    return _Reader(review, node, expanded).agent(environment.used)


class _Reader:
    def __init__(self, review: Review, node: MapNode, entries: Mapping[str, Entry]) -> None:
        self.review = review
        self.node = node
        self.entries = entries

    def value(self, key: str) -> Node | None:
        entry = self.entries.get(key)
        return None if entry is None else entry.value

    def agent(self, secrets: Mapping[str, str]) -> Agent:
        setup, teardown = session.hooks(self.review, self.value("session"))
        allowed = self.allowed()
        start = self.start()
        return Agent(
            endpoint=self.endpoint(),
            start=start,
            health=self.health(),
            startup_timeout=self.milliseconds("startup_timeout", STARTUP_TIMEOUT, least=1),
            settle_time=self.milliseconds("settle_time", SETTLE_TIME, least=0),
            settle_time_given="settle_time" in self.entries,
            timeout=self.milliseconds("timeout", TIMEOUT, least=1),
            traces=self.traces(),
            request=request.read_request(self.review, self.value("request"), allowed),
            response=self.response(),
            setup=setup,
            teardown=teardown,
            correlate=self.correlate(allowed),
            secrets=dict(secrets),
            place=Place(self.node.path, self.node.line),
        )

    def allowed(self) -> Allowed:
        """The placeholders that request and correlate may use."""
        node = self.value("session")
        why = session.NO_SETUP if node is not None else "there is no agent.session"
        return Allowed(MESSAGE, *TEST, session=session.has_setup(node), why_no_session=why)

    def endpoint(self) -> str:
        node = self.value("endpoint")
        if node is None:
            self.review.missing(self.node, "endpoint", "the URL that each message is sent to is missing")
            return ""
        return self.url(node) or ""

    def health(self) -> str | None:
        node = self.value("health")
        return None if node is None or is_absent(node) else self.url(node)

    def url(self, node: Node) -> str | None:
        text = self.review.any_text(node, "a URL")
        if text is None:
            return None
        if "{{" in text:
            self.review.problem(
                node, "template_not_allowed", f"{quoted(node)} has '{{{{': the URL is the same for all tests"
            )
        elif complaint := _url_complaint(text):
            message = f"{quoted(node)} is not the URL of an agent, such as http://localhost:8000/chat: {complaint}"
            self.review.problem(node, "bad_url", message)
        else:
            return text
        return None

    def start(self) -> tuple[str, ...] | None:
        if (node := self.value("start")) is None:
            if (entry := self.entries.get("startup_timeout")) is not None:
                self.review.problem(entry.key, "mode_conflict", "startup_timeout is for agents that start starts")
            return None
        if (entry := self.entries.get("traces")) is not None:
            message = (
                "traces is for agents that run already: the agent that start starts is told where to send its spans"
            )
            self.review.problem(entry.key, "mode_conflict", message)
        text = self.review.text(node, "the command that starts the agent")
        if text is None:
            return None
        for placeholder in placeholders(text):
            # Braces of the agent's own (`docker ps --format {{.Names}}`) are its business.
            if path_of(placeholder.name)[:1] == ("session",) or nearest(placeholder.name, (MESSAGE, *TEST), 0.8):
                message = f"{quoted(node)} has a placeholder: the agent is started once, for all tests"
                self.review.problem(node, "template_not_allowed", message)
        return session.split(self.review, node, text)

    def traces(self) -> str | None:
        node = self.value("traces")
        return None if node is None else self.review.text(node, "otlp, or the path of the trace file")

    def milliseconds(self, key: str, default: int, *, least: int) -> int:
        node = self.value(key)
        if node is None:
            return default
        value = self.review.whole(node, least=least)
        return default if value is None else value

    def response(self) -> tuple[str, ...] | None:
        """The path of the reply text. `choices[0].text` is as good as `choices.0.text`."""
        node = self.value("response")
        if node is None:
            return None
        text = self.review.any_text(node, "the path of the reply text, such as choices.0.message.content")
        if text is None:
            return None
        path = path_of(text)
        if not path or any(" " in step or step.startswith("-") for step in path):
            message = f"{quoted(node)} is no path of keys and indexes, such as choices.0.message.content"
            self.review.problem(node, "bad_value", message)
            return None
        return path

    def correlate(self, allowed: Allowed) -> Mapping[str, str | int | float]:
        node = self.value("correlate")
        if node is None:
            return CORRELATE
        if not isinstance(node, MapNode):
            message = (
                f"must be a mapping of attributes to values, such as {{test: '{{{{test.id}}}}'}}, not {quoted(node)}"
            )
            self.review.problem(node, "wrong_type", message)
            return {}
        if not node.entries:
            self.review.problem(node, "empty", "must name at least one attribute, or be left out")
        values: dict[str, str | int | float] = {}
        for entry in node:
            value = entry.value
            if (
                isinstance(value, ScalarNode)
                and isinstance(value.value, str | int | float)
                and type(value.value) is not bool
            ):
                literal(self.review, value)
                values[entry.key.text] = value.value
            else:
                self.review.problem(
                    value, "wrong_type", f"must be text, a number or a placeholder, not {quoted(value)}"
                )
        check(self.review, node, allowed)
        return values


def _url_complaint(text: str) -> str:
    """What is wrong with a URL, "" when nothing is."""
    if any(character.isspace() or ord(character) < 32 for character in text):
        return "it has a space or a line break in it"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        # The error may hold a part of a URL that came out of a variable.
        return "its port is no number up to 65535" if "ort" in str(error) else "its host cannot be read"
    if parts.scheme not in ("http", "https"):
        return "it must start with http:// or https://"
    if not parts.hostname:
        return "it has no host"
    return "its port is 0" if port == 0 else ""
