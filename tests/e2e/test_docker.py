"""The image: linted, and its steps executed in a clean environment, for which no container engine is needed."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from collector.cli import main as cli
from evaluator.language.behaviors import read_behaviors
from tests.e2e.collector.process import collector_binary, free_port

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
DOCKERFILES = sorted(DOCKER.glob("*Dockerfile"))


@dataclass
class Stage:
    """One FROM of a Dockerfile and its instructions, in order."""

    base: str
    name: str | None
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def all(self, instruction: str) -> list[str]:
        return [rest for name, rest in self.instructions if name == instruction]

    def only(self, instruction: str) -> str:
        (rest,) = self.all(instruction)
        return rest


def stages(dockerfile: Path) -> list[Stage]:
    text = "\n".join(line for line in dockerfile.read_text().splitlines() if not line.lstrip().startswith("#"))
    found: list[Stage] = []
    for line in text.replace("\\\n", " ").splitlines():
        instruction, _, rest = line.strip().partition(" ")
        if instruction == "FROM":
            words = rest.split()
            found.append(Stage(words[0], words[2] if len(words) == 3 else None))
        elif instruction:
            found[-1].instructions.append((instruction, rest.strip()))
    return found


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.name)
def test_hadolint_finds_no_fault(dockerfile: Path) -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    linted = subprocess.run([hadolint, dockerfile], capture_output=True, text=True, check=False)
    assert (linted.returncode, linted.stdout) == (0, "")


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.name)
def test_images_are_pinned_slim_and_not_run_by_root(dockerfile: Path) -> None:
    *building, final = stages(dockerfile)
    assert all(re.fullmatch(r"python:\d+\.\d+\.\d+(-slim)?", stage.base) for stage in building)
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim", final.base)
    user = stages(dockerfile)[-1].only("USER")
    assert user.partition(":")[0].isdecimal()
    assert int(user.partition(":")[0]) > 0


@dataclass
class Image:
    """What the Dockerfile makes, as folders: `root` stands for `/`."""

    root: Path
    stage: Stage

    @property
    def user(self) -> list[str]:
        """A prefix that runs a command as the image's user, where this test may become it."""
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            return []
        uid, gid = self.stage.only("USER").split(":")
        return ["setpriv", "--reuid", uid, "--regid", gid, "--clear-groups"]

    def environ(self, **more: str) -> dict[str, str]:
        """The variables that the image sets, and nothing of this process."""
        pairs = (pair.partition("=") for line in self.stage.all("ENV") for pair in shlex.split(line))
        found = {name: value.replace("$PATH", "/usr/bin:/bin") for name, _, value in pairs}
        return {name: self._here(value) for name, value in found.items()} | more

    def run(self, *command: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        variables = self.environ(**environ)
        program = shutil.which(command[0], path=variables["PATH"])
        assert program is not None, f"{command[0]} is not in the image"
        return subprocess.run(
            [*self.user, program, *command[1:]],
            env=variables,
            cwd=self.root / "spanbar",
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def start(self, *command: str, **environ: str) -> "subprocess.Popen[str]":
        variables = self.environ(**environ)
        program = shutil.which(command[0], path=variables["PATH"])
        assert program is not None, f"{command[0]} is not in the image"
        return subprocess.Popen(
            [*self.user, program, *command[1:]],
            env=variables,
            cwd=self.root / "spanbar",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _here(self, text: str) -> str:
        return re.sub(r"(?<![\w.])/(?=opt/|var/lib)", f"{self.root}/", text)


def _python() -> str:
    """An interpreter that other users may run too: this one may lie in a home folder."""
    for candidate in ("/usr/local/bin/python3", "/usr/bin/python3", f"{sys.base_prefix}/bin/python3"):
        asked = [candidate, "-c", "import sys, pip, venv; sys.exit(sys.version_info < (3, 11))"]
        if Path(candidate).exists() and subprocess.run(asked, check=False, capture_output=True).returncode == 0:
            return candidate
    raise AssertionError("no Python of 3.11 or later with pip was found")


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    """Carry out the steps of docker/Dockerfile with `/` moved to a folder, and take write permission away."""
    build, final = stages(DOCKER / "Dockerfile")
    root = Path(tempfile.mkdtemp(prefix="spanbar-image-"))
    root.chmod(0o755)
    workdir = root
    for instruction, rest in build.instructions:
        if instruction == "WORKDIR":
            workdir = root / rest.lstrip("/")
            workdir.mkdir(parents=True)
        elif instruction == "COPY":
            *sources, target = rest.split()
            for source in sources:
                _copy(ROOT / source, workdir / target / ("" if (ROOT / source).is_dir() else source))
        elif instruction == "RUN":
            command = re.sub(r"(?<![\w.])/opt\b", f"{root}/opt", rest)
            command = re.sub(r"\bpython -m\b", f"{_python()} -m", command)
            subprocess.run(["sh", "-ec", command], cwd=workdir, check=True, capture_output=True)
    (root / "spanbar").mkdir()
    subprocess.run(["chmod", "-R", "a+rX,a-w", root], check=True)
    _mount(root, final)
    yield Image(root, final)
    subprocess.run(["chmod", "-R", "u+w", root], check=True)
    shutil.rmtree(root)


def _mount(root: Path, stage: Stage) -> None:
    """The volume, with the owner that its folder has in the image: all that may be written."""
    volume = root / stage.only("VOLUME").lstrip("/")
    (copied,) = [each for each in stage.all("COPY") if each.endswith(f" /{volume.relative_to(root)}")]
    volume.mkdir(parents=True)
    if os.geteuid() == 0:
        uid, gid = re.search(r"--chown=(\d+):(\d+)", copied).groups()  # type: ignore[union-attr]
        os.chown(volume, int(uid), int(gid))


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def test_the_image_holds_what_is_in_the_repository_and_no_development_tools(image: Image) -> None:
    program = "from importlib.metadata import distributions; print(*(each.name for each in distributions()))"
    names = set(image.run("python", "-c", program).stdout.split())
    assert "spanbar" in names
    assert not names & {"pytest", "ruff", "mypy", "hypothesis", "pip"}


def test_the_entry_point_answers(image: Image) -> None:
    entry = json.loads(image.stage.only("ENTRYPOINT"))
    said = image.run(*entry, "serve", "--help")
    assert said.returncode == 0, said.stderr
    assert "--host" in said.stdout


def test_the_image_does_not_serve_without_a_token(image: Image) -> None:
    command = json.loads(image.stage.only("ENTRYPOINT")) + json.loads(image.stage.only("CMD"))
    said = image.run(*command)
    assert said.returncode == 2
    assert "SPANBAR_TOKEN" in said.stderr


def test_the_image_serves_read_only_and_its_health_check_tells_whether_it_does(image: Image) -> None:
    http, grpc = free_port(), free_port()
    command = json.loads(image.stage.only("ENTRYPOINT")) + json.loads(image.stage.only("CMD"))
    check = _health_check(image, http)
    assert image.run(*check).returncode != 0
    serving = image.start(*command, "--http-port", str(http), "--grpc-port", str(grpc), SPANBAR_TOKEN="secret")
    try:
        deadline = time.monotonic() + 60
        while (checked := image.run(*check)).returncode != 0:
            assert serving.poll() is None, "the server ended"
            assert time.monotonic() < deadline, checked.stderr
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{http}/api/v1/sessions")
        assert refused.value.code == 401
        assert (image.root / f"var/lib/spanbar/serve-{http}.journal").is_file()
        serving.send_signal(getattr(signal, image.stage.only("STOPSIGNAL")))
        assert serving.wait(60) == 0
    finally:
        serving.kill()
        serving.wait()
    assert image.run(*check).returncode != 0


def _health_check(image: Image, port: int) -> list[str]:
    words = image.stage.only("HEALTHCHECK")
    command: list[str] = json.loads(words[words.index("CMD ") + 4 :])
    assert ":4318/" in command[-1]
    return [*command[:-1], command[-1].replace(":4318/", f":{port}/")]


def _compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    return loaded


def compose() -> dict[str, Any]:
    services: dict[str, Any] = _compose()["services"]
    return services


@pytest.mark.parametrize("name", compose())
def test_a_service_has_a_read_only_file_system_no_privileges_and_a_pinned_image(name: str) -> None:
    service = compose()[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    if "image" in service:
        assert re.search(r":\d+\.\d+\.\d+$", service["image"])
    else:
        assert (DOCKER / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    for volume in service.get("volumes", ()):
        source, target, *mode = volume.split(":")
        if source in _compose()["volumes"]:
            assert target in stages(DOCKER / "Dockerfile")[-1].all("VOLUME")
        else:
            assert (DOCKER / source).is_file()
            assert mode == ["ro"]
    for port in service.get("ports", ()):
        assert port.startswith("127.0.0.1:"), "published to other machines"


def test_the_arguments_of_spanbar_in_compose_are_its_own_and_its_behaviors_can_be_read() -> None:
    verb, *arguments = compose()["spanbar"]["command"]
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    context = command.make_context(verb, [each for each in arguments if not each.startswith("/")])
    assert context.params["host"] == "0.0.0.0"
    assert context.params["export"] == ("http://collector:4318",)
    assert len(read_behaviors(DOCKER / "behaviors.yaml")) == 3


def test_the_collector_takes_its_configuration_with_the_variables_of_compose(tmp_path: Path) -> None:
    service = compose()["collector"]
    version = yaml.safe_load((ROOT / "otel-config" / "builder.yaml").read_text())["dist"]["version"]
    assert service["image"].endswith(f":{version}"), "another version than the one that is tested"
    environ = {key: re.sub(r"\$\{\w+:-(.*)\}", r"\1", value) for key, value in service["environment"].items()}
    environ["QUEUE_DIRECTORY"] = str(tmp_path)
    config = ROOT / "otel-config" / Path(service["command"][1]).name
    checked = subprocess.run(
        [collector_binary(), "validate", "--config", config],
        env=os.environ | environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
