"""Ops of command lines: what is done counts, what is only spoken of does not, and what nobody can tell is None."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.shell import ops_of, ops_of_words
from evaluator.language.assertion import SHELL_OPS

DOES = [
    ("git push", "git.push"),
    ("cd service && git push origin main", "git.push"),
    ("git -C service -c user.name=x push", "git.push"),
    ("git --git-dir=.git push", "git.push"),
    ("'git' \"push\"", "git.push"),
    ("git \\\n  push", "git.push"),
    ("FOO=1 sudo -u deploy git push", "git.push"),
    ("nohup git push &", "git.push"),
    ("out=$(git push 2>&1)", "git.push"),
    ("git push origin $(git branch --show-current)", "git.push"),
    ("if test -f x; then git push; fi", "git.push"),
    ("bash -c 'git push'", "git.push"),
    ('bash -lc "cd a && git push"', "git.push"),
    ("eval 'git push'", "git.push"),
    ("bash <<EOF\ngit push\nEOF", "git.push"),
    ("bash <<< 'git push'", "git.push"),
    ("cat <<EOF\n$(git push)\nEOF", "git.push"),
    ("release() { git push; }; release", "git.push"),
    ("/usr/bin/git push", "git.push"),
    ("git.exe push", "git.push"),
    ("'C:\\Git\\bin\\git.exe' push", "git.push"),
    ("trap 'git push' EXIT", "git.push"),
    ("trap -- 'rm -rf $TMP' EXIT INT", "delete"),
    ("parallel git push ::: a b", "git.push"),
    ("parallel -j 4 'git push {}' ::: a b", "git.push"),
    ("parallel ::: 'git push' 'ls'", "git.push"),
    ("parallel git push <<< a", "git.push"),
    ("ls | parallel rm", "delete"),
    ("xargs git push", "git.push"),
    ("timeout -k 5 10s git push", "git.push"),
    ("sudo -iu deploy git push", "git.push"),
    ("sudo -uroot git push", "git.push"),
    ("env -i A=1 git push", "git.push"),
    ("time -p git push", "git.push"),
    ("command git push", "git.push"),
    ("coproc git push", "git.push"),
    ("strace -f -o log git push", "git.push"),
    ("busybox rm x", "delete"),
    ("su -c 'git push' deploy", "git.push"),
    ("runuser -u deploy -- git push", "git.push"),
    ("script --command='git push' /dev/null", "git.push"),
    ("at now <<< 'git push'", "git.push"),
    ("git commit --amend && git push --force-with-lease", "git.commit git.push"),
    ("hub pull-request", "pr.open"),
    ("az repos pr create --title x", "pr.open"),
    ("tea pr create", "pr.open"),
    ("git push -o merge_request.create", "git.push pr.open"),
    ("git add -A && git commit -m 'fix' && git push || true", "git.commit git.push"),
    ("(cd a; git commit -m \"git push\")", "git.commit"),
    ("git commit -m \"$(cat <<'EOF'\nrm -rf everything\nEOF\n)\"", "git.commit"),
    ("gh pr create --fill", "pr.open"),
    ("gh -R owner/name pr new", "pr.open"),
    ("gh api repos/o/r/pulls -f title=x -f head=y", "pr.open"),
    ("gh api -X POST repos/o/r/pulls", "pr.open"),
    ("glab mr create", "pr.open"),
    ("rm -rf build", "delete"),
    ("/bin/rm x", "delete"),
    ("ls | xargs -n 1 rm -f", "delete"),
    ("find . -name '*.pyc' -delete", "delete"),
    ("find . -name '*.pyc' -exec rm {} \\;", "delete"),
    ("for f in a b; do rm $f; done", "delete"),
    ("git rm -r old", "delete"),
    ("git clean -fd", "delete"),
    ("pytest -q 2>&1 | tail -5", "test"),
    ("timeout 60 uv run --with x pytest", "test"),
    ("poetry run python -m pytest", "test"),
    ("coverage run -m pytest", "test"),
    ("python3 -m unittest discover", "test"),
    ("python manage.py test", "test"),
    ("npm test", "test"),
    ("npm run test:unit -- --watch=false", "test"),
    ("yarn workspace web test", "test"),
    ("pnpm --filter web test", "test"),
    ("pnpm exec vitest", "test"),
    ("npx jest src", "test"),
    ("cargo test --release", "test"),
    ("go test ./...", "test"),
    ("make -C lib build test", "test"),
    ("./gradlew clean test", "test"),
    ("mvn -q verify", "test"),
    ("bundle exec rspec", "test"),
    ("pnpm t", "test"),
    ("yarn test", "test"),
    ("cargo test", "test"),
    ("go test", "test"),
    ("make test", "test"),
    ("tox -e py", "test"),
    ("nox -s tests", "test"),
    ("uv run --frozen -- pytest", "test"),
    ("poetry run pytest", "test"),
    ("py -m pytest", "test"),
    ("npx vitest run", "test"),
    ("corepack pnpm test", "test"),
    ("npm.cmd test", "test"),
]  # fmt: skip

DOES_NOTHING = [
    "",
    "# git push",
    'echo "git push"',
    "echo git push",
    "printf 'rm -rf /' > notes.txt",
    "cat <<EOF\ngit push\nEOF",
    "grep -r 'git push' docs",
    "git log --grep 'git push'",
    "git push --dry-run",
    "git push -n",
    "git commit --dry-run",
    "git rm --cached x",
    "git clean -nd",
    "git help push",
    "gh pr create --dry-run",
    "gh pr view 5",
    "gh api repos/o/r/pulls",
    "release() { git push; }",
    "which pytest",
    "command -v pytest",
    "pytest --version",
    "pytest --collect-only -q",
    "cargo test --no-run",
    "make -n test",
    "make build",
    "npm install test",
    "npm run build",
    "go build ./test",
    "test -f setup.py",
    "docker compose up -d",
    "docker build -t $TAG .",
    "ls | wc -l",
    "trap - EXIT",
    "trap '' INT",
    "trap -p git push",
    "alias gp='git push'",
    "alias l='ls -l'; l src",
    "python -c 'print(1)'",
    "python3 -m json.tool < x.json",
    "cat x.json | python3 -m json.tool",
    "cat x.json | python3 -c 'import json, sys; print(json.load(sys.stdin))'",
    "python - <<'EOF'\nprint(1)\nEOF",
    "python git.py push",
    "node -e 'console.log(1)'",
    "awk '/git push/ {print $1}' notes",
    "perl -pi -e 's/a/b/' x",
    "apt-get install -y git gh",
    "man git push",
    "tox -l",
    "nox --list-sessions",
    "pytest -h",
    "vitest list",
    "go test -list .",
    "sed -i 's/git push/git pull/' README.md",
    "curl -d 'git push is done' localhost",
    "tee notes.txt <<E\ngit push\nE",
    "apply_patch <<E\n+git push\nE",
    "slack 'there is no git here'",
    "vim -c 'normal dd' x",
    'python -c "import os; print(os.getcwd())"',
    "python -c \"import subprocess; subprocess.run(['ls', '-l'], check=True)\"",
    "perl -e 'system(\"ls -l\")'",
    "node -e \"console.log(/x/.exec('x'))\"",
]

UNTOLD = [
    'git push "',
    "git push $(",
    "$TOOL push",
    "git $COMMAND",
    "git p",
    "git -c alias.x=push x",
    "eval $COMMAND",
    "bash -c \"$COMMAND\"",
    "echo 'git push' | bash",
    "curl -s https://example.test/install | sh",
    "cat <<EOF | bash\ngit push\nEOF",
    "ssh build 'cd x && git push'",
    "docker run image git push",
    "docker exec box $COMMAND",
    "git rebase -x 'rm x' main",
    "env -S 'git push'",
    "alias gp='git push'; gp",
    "alias g=git; g push",
    "python -c \"import os; os.system('git push')\"",
    "python -c \"import subprocess; subprocess.run(['git', 'push'])\"",
    "python3 -Bc \"import shutil; shutil.rmtree('x')\"",
    "python -c \"import os; os.remove('x')\"",
    "python -c \"$CODE\"",
    "python3 - <<'EOF'\nimport os\nos.system('rm -rf x')\nEOF",
    "curl -s https://example.test/install.py | python3",
    "uv run python -c \"import os; os.system('git push')\"",
    "node -e \"require('child_process').execSync('git push')\"",
    "perl -lane 'system(\"git push\")'",
    "ruby -e 'system(\"git commit -m x\")'",
    "awk 'BEGIN { system(\"git push\") }'",
    "powershell -Command 'Remove-Item x'",
    "cmd.exe /c 'git push'",
    "fish -c 'git push'",
    "tmux new -d 'git push'",
    "watch 'git push'",
    "op run -- git push",
    "cat repositories | parallel",
    "echo 'git push' | at now",
    "su -c \"$COMMAND\"",
    "xargs -I{} sh -c '{}'",
    "vim -c '!git push'",
    "emacs --batch --eval '(shell-command \"git push\")'",
    "ansible all -a 'git push'",
    "gdb -ex 'shell /usr/bin/git push'",
    "sqlite3 x.db '.shell rm -r x'",
    "sqlite3 x.db <<E\n.shell git push\nE",
    "make -f - <<E\nall:\n\tgit push\nE",
    "make -f - <<< $'all:\n\tgit push'",
    "cat rules | make -f -",
    "ssh host <<E\ngit push\nE",
    "docker run -i x sh <<E\nrm x\nE",
    "sed '1e git push' x",
    "sed 's/x/git push/e' x",
    "tar --checkpoint-action='exec=git push' -cf x y",
    "perl -e 'system(\"gi\".\"t push\")'",
    "python -c \"import os; os.system('gi' + 't push')\"",
    "python <<'E'\nimport os; os.system('gi' + 't push')\nE",
    "node -e \"child_process.execSync('gi' + 't push')\"",
    "ruby -e 'system \"gi#{t}\"'",
    "awk 'BEGIN { system(\"gi\" \"t push\") }'",
    "x" * 200_000,
]  # fmt: skip


@pytest.mark.parametrize(("command", "ops"), DOES, ids=[command for command, _ in DOES])
def test_what_a_command_does_is_found(command: str, ops: str) -> None:
    assert ops_of(command) == tuple(op for op in SHELL_OPS if op in ops.split())


@pytest.mark.parametrize("command", DOES_NOTHING)
def test_what_is_only_spoken_of_is_not_done(command: str) -> None:
    assert ops_of(command) == ()


@pytest.mark.parametrize("command", UNTOLD, ids=[command[:40] for command in UNTOLD])
def test_what_the_text_does_not_tell_is_unknown(command: str) -> None:
    assert ops_of(command) is None


def test_words_without_a_shell_are_taken_as_they_are() -> None:
    assert ops_of_words(["git", "push"]) == ("git.push",)
    assert ops_of_words(["echo", "git push; git push"]) == ()
    assert ops_of_words(["bash", "-lc", "cd a && pytest"]) == ("test",)


PIECES = ["git", "push", ";", "|", "&", "(", ")", "$", "{", "}", "'", '"', "\\", "<<EOF", "\n", "rm"]


BRACES = """
from collector.shell import ops_of

for codepoint in range(0x10000, 0x110000, 499):
    for text in ("{%s", "{%s}", "${%s}", "a {%s,b}", "{ %s; }"):
        assert ops_of(text % chr(codepoint)) in (None, ()), codepoint
"""


def test_no_character_behind_a_brace_ends_the_process() -> None:
    # In a process of its own: whether stray memory is there to be read is a matter of how full the process is.
    subprocess.run([sys.executable, "-c", BRACES], check=True)


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_any_text_has_an_answer(text: str) -> None:
    ops = ops_of(text)
    assert ops is None or set(ops) <= set(SHELL_OPS)


@given(st.text(alphabet=st.characters(exclude_characters="'", exclude_categories=["Cc", "Cs"]), max_size=40))
def test_a_quoted_text_does_nothing(text: str) -> None:
    assert ops_of(f"echo '{text}'") in ((), None)
