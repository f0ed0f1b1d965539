# SPDX-License-Identifier: BSD-3-Clause
"""The completion script, by the function that bash and zsh call."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["STEELYARD_BUILD"])
COMMAND = BUILD / "bin" / "steelyard"
ASK = 'source $1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _steelyard; printf "%s\\n" "${COMPREPLY[@]}"'


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "steelyard"
    path.write_bytes(subprocess.run([COMMAND, "options", "--completion"], capture_output=True, check=True).stdout)
    return path


def replies(script: Path, words: list[str], folder: Path, before: str = "") -> list[str]:
    result = subprocess.run(["bash", "--norc", "-c", "compopt() { :; }; " + before + ASK, "bash", script, *words],
                            text=True, capture_output=True, cwd=folder)
    assert result.stderr == "", result.stderr
    return sorted(line.rstrip() for line in result.stdout.splitlines() if line)


@pytest.mark.parametrize(("line", "expected"), [
    ("steelyard d", "doctor"),
    ("steelyard re", "report"),
    ("steelyard --v", "--version"),
    ("steelyard help to", "top"),
    ("steelyard run --loops-s", "--loops-static-percent="),
    ("steelyard doctor --obs", "--observe"),
    ("steelyard run --cor", "--cores-domain= --cores="),
    ("steelyard run --cores = o", "off on"),
    ("steelyard run --cores =", "off on sabo"),
    ("steelyard run --observe =", "off on"),
    ("steelyard run --spin = 3 --wait = s", "sleep"),
    ("steelyard run --wait s", "sleep"),
    ("steelyard run --spin 3 --wait = p", "poll"),
    ("steelyard run --max-threads = a", "auto"),
    ("steelyard run --loops = hybrid+sl", "hybrid+slack hybrid+slack+staggered"),
    ("steelyard run --loops = com", "combined"),
    ("steelyard report --h", "--help --html="),
    ("steelyard top --p", "--prometheus"),
    ("steelyard cores --s", "--set= --shrink="),
    ("steelyard cores --wait = ", ""),
    ("steelyard options --com", "--completion"),
    ("steelyard run --record = r", "run.json"),
    ("steelyard report --html = r", "run.json"),
    ("steelyard run ./app --cor", ""),
    ("steelyard run -- ./app --cor", ""),
    ("steelyard run --observe ./app run", ""),
])
def test_bash(script, tmp_path, line, expected):
    (tmp_path / "run.json").touch()
    assert replies(script, line.split(" "), tmp_path) == expected.split()


def test_the_program_is_a_command_or_a_file(script, tmp_path):
    for words in ("steelyard run bas", "steelyard run --observe -- bas", "steelyard run --spin 3 bas"):
        assert "bash" in replies(script, words.split(), tmp_path)
    assert replies(script, ["steelyard", "run", "./b"], tmp_path) == [], "left to the default, files"


def test_names_of_files_stay_as_they_are(script, tmp_path):
    names = ["*", "?", "[a-z]*", "a b.json", "run.json"]
    for name in names:
        (tmp_path / name).touch()
    assert replies(script, ["steelyard", "run", "--record", "=", ""], tmp_path) == sorted(["auto", "none", *names])
    assert replies(script, ["steelyard", "report", "--html", "=", "*"], tmp_path) == ["*"]


@pytest.mark.parametrize("word", ["--cores=of", "--record=r"])
def test_words_that_the_shell_does_not_break_at_equals_signs(script, tmp_path, word):
    """As in zsh, or with COMP_WORDBREAKS set so."""
    (tmp_path / "run.json").touch()
    (reply,) = replies(script, ["steelyard", "run", word], tmp_path, "COMP_WORDBREAKS=' '; ")
    assert reply == {"--cores=of": "--cores=off", "--record=r": "--record=run.json"}[word]


def test_every_option_is_completed(script, tmp_path):
    page = subprocess.run([COMMAND, "options"], capture_output=True, text=True).stdout
    options = {line.split("=")[0].strip() for line in page.splitlines() if line.startswith("  --")}
    completed = {reply.rstrip("=") for reply in replies(script, ["steelyard", "run", "--"], tmp_path)}
    assert len(options) > 30 and completed == options | {"--help"}


def test_zsh_takes_it(script):
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("zsh is not installed")
    load = "autoload -U +X compinit && compinit -D; autoload -U +X bashcompinit && bashcompinit; emulate -L ksh; "
    result = subprocess.run([zsh, "-f", "-c", load + ASK, "zsh", script, "steelyard", "run", "--cores=o"], text=True,
                            capture_output=True)
    assert "--cores=off" in result.stdout.split(), "zsh itself drops what does not fit: " + result.stderr
