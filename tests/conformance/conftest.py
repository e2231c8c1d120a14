"""Which cases are run: `pytest tests/conformance/test_highbar_cases.py --cases FILE`."""

import json
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / ".." / "shared" / "conformance" / "highbar" / "cases.json"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=Path, default=SHARED, help="the file of conformance cases")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        path = metafunc.config.getoption("--cases", default=SHARED)
        # Some cases have integers above 2^53 and floats such as 2.0: Python's json keeps both.
        cases = json.loads(path.read_text("utf-8")) if path.exists() else []
        metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])
