"""The live room: verdicts while they form, as an HTTP API, an event stream and a page."""
