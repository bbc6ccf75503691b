"""Virtual environments under ``build/envs``, built from ``requirements/`` and pinned by ``constraints/``.

    python -m playground.envs dev host-4.11.2        # create what is missing or out of date
    python -m playground.envs --freeze dev           # resolve anew and rewrite constraints/dev.txt

An environment is complete when its stamp file holds the hash of everything it was built from. The stamp is
written last, so an interrupted build is simply done again.

An environment may stand on top of another one (``BELOW``): it has only its own packages and finds all others in
the one below. Where both have a package, its own wins. So a second version of one package costs seconds, not a
second copy of everything.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The folder of the project."""

ENVS = ROOT / "build" / "envs"
BELOW = {
    "milvus-3": "dev",
    "host-4.11.2-engines": "host-4.11.2",
    "host-4.10.11-engines": "host-4.10.11",
}
"""Environments on top of another one, and which."""
NAMES = ("dev", "host-4.11.2", "host-4.10.11", "models", *BELOW)
"""Known environments: see ``requirements/<name>.txt`` for what each is for."""

SUPPORTED = ((3, 11), (3, 12), (3, 13))
"""Python versions the pinned environments install on. The pins were made, and the whole test suite runs, on
3.11; on the others both hosts were started and talked with the plugin installed."""

_STAMP = ".complete"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class EnvError(RuntimeError):
    """An environment cannot be set up; the message is one line for the person at the terminal."""


def python_of(name: str) -> Path:
    """Return the interpreter of the environment *name*, whether or not it exists yet."""
    return ENVS / name / "bin" / "python"


def site_folders(python: Path) -> list[Path]:
    """Return the package folders of an environment by its interpreter, its own first, then those below it."""
    own = [path for path in python.parents[1].glob("lib/*/site-packages") if path.is_dir()]
    below = BELOW.get(python.parents[1].name)
    return [*own, *(site_folders(python_of(below)) if below else [])]


def ensure(name: str) -> Path:
    """Build the environment *name*, and the one below it, unless complete and current.

    Returns:
        The path of its interpreter.

    Raises:
        EnvError: for an unknown name, an unsupported Python or a failed installation.
    """
    _check_python()
    if name not in NAMES:
        raise EnvError(f"unknown environment {name!r}; known are: {', '.join(NAMES)}")
    if name in BELOW:
        ensure(BELOW[name])
    target = ENVS / name
    wanted = _fingerprint(name)
    with _locked(name):
        stamp = target / _STAMP
        if (
            stamp.is_file()
            and stamp.read_text(encoding="utf-8").strip() == wanted
            and python_of(name).exists()
        ):
            return python_of(name)
        started = time.monotonic()
        patience = "" if name in BELOW else " (a few minutes the first time)"
        _say(f"{name}: building {target.relative_to(ROOT)}{patience}")
        _build(name, target, pinned=True)
        stamp.write_text(wanted + "\n", encoding="utf-8")
        _say(f"{name}: ready after {time.monotonic() - started:.0f} s")
    return python_of(name)


def freeze(name: str) -> None:
    """Resolve ``requirements/<name>.txt`` without constraints and rewrite ``constraints/<name>.txt``.

    Raises:
        EnvError: when the resolution or the installation fails.
    """
    _check_python()
    if name in BELOW:
        _freeze_on_top(name, BELOW[name])
        return
    with _locked(name):
        target = ENVS / name
        _build(name, target, pinned=False)
        listed = subprocess.run(
            [str(python_of(name)), "-m", "pip", "freeze", "--all"], check=True, capture_output=True, text=True
        ).stdout
        lines = [
            line
            for line in listed.splitlines()
            if not line.startswith("uv==") or name.startswith(("dev", "host"))
        ]
        _write_constraints(name, f"Full freeze for the {name} environment (Python 3.11).", lines)
        (target / _STAMP).write_text(_fingerprint(name) + "\n", encoding="utf-8")


def _freeze_on_top(name: str, below: str) -> None:
    """Pin what *name* needs besides, or in another version than, the environment below it."""
    runner = str(ensure(below))
    own = set(_pins(ROOT / "requirements" / f"{name}.txt"))
    lower = _pins(ROOT / "constraints" / f"{below}.txt")
    kept = ENVS / f".{name}.below.txt"
    kept.write_text("".join(f"{line}\n" for key, line in lower.items() if key not in own), encoding="utf-8")
    command = [runner, "-m", "uv", "pip", "compile", "-q", "--no-header", "--no-annotate", "--python", runner]
    wanted = [str(ROOT / "requirements" / f"{name}.txt"), "-c", str(kept)]
    environ = _clean_environ() | _uv_settings(runner)
    result = subprocess.run([*command, *wanted], capture_output=True, text=True, check=False, env=environ)
    kept.unlink()
    if result.returncode:
        raise EnvError(f"{name}: resolution failed: {_last_line(result.stderr)}")
    there = {key: line.partition("==")[2] for key, line in lower.items()}
    pins = [line.partition(";")[0].strip() for line in result.stdout.splitlines() if "==" in line]
    lines = [line for line in pins if there.get(line.partition("==")[0]) != line.partition("==")[2]]
    _write_constraints(name, f"What the {name} environment has on top of {below} (Python 3.11).", lines)
    ensure(name)


def _pins(path: Path) -> dict[str, str]:
    """The requirements in a file by the normalized name of the package."""
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        requirement = line.partition(" #")[0].strip()
        if match := _NAME.match(requirement):
            found[re.sub(r"[-_.]+", "-", match[0]).lower()] = requirement
    return found


def _write_constraints(name: str, what: str, lines: list[str]) -> None:
    head = f"# {what} Rewrite with: python -m playground.envs --freeze {name}\n"
    (ROOT / "constraints" / f"{name}.txt").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def _check_python() -> None:
    if sys.version_info[:2] not in SUPPORTED:
        known = ", ".join(f"{major}.{minor}" for major, minor in SUPPORTED)
        raise EnvError(
            f"Python {sys.version_info.major}.{sys.version_info.minor} is not supported here, only {known};"
            " run make with PYTHON=<path of a supported python>"
        )


def _inputs(name: str) -> list[Path]:
    """The requirement files of *name*, following ``-r``, and its constraints."""
    found: list[Path] = []
    todo = [ROOT / "requirements" / f"{name}.txt"]
    while todo:
        path = todo.pop()
        found.append(path)
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("-r "):
                todo.append(path.parent / line[3:].strip())
    return [*found, ROOT / "constraints" / f"{name}.txt"]


def _fingerprint(name: str) -> str:
    digest = hashlib.sha256(f"{sys.version_info[:3]}:{sys.base_prefix}".encode())
    for path in _inputs(name):
        digest.update(path.read_bytes())
    if name in BELOW:
        digest.update(_fingerprint(BELOW[name]).encode())
    return digest.hexdigest()


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    """Let one process at a time build *name*: two make runs may want it together."""
    ENVS.mkdir(parents=True, exist_ok=True)
    with (ENVS / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(name: str, target: Path, *, pinned: bool) -> None:
    shutil.rmtree(target, ignore_errors=True)
    below = BELOW.get(name)
    _make_venv(name, target, ["--without-pip"] if below else [])
    python = target / "bin" / "python"
    requirements, constraints = (ROOT / folder / f"{name}.txt" for folder in ("requirements", "constraints"))
    if below:
        lower = python_of(below)
        [own] = site_folders(python)[:1]
        folders = site_folders(lower)
        (own / "below.pth").write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")
        # The pins are all that is missing below; what needs what was worked out when they were made.
        wanted = ["--no-deps", "-r", str(requirements), "-r", str(constraints)]
        if not _install_with_uv(str(lower), python, wanted):
            into = ["--python", str(python), "install", "--ignore-installed"]
            _run(name, [str(lower), "-m", "pip", *into, "--no-input", "--progress-bar=off", "-q", *wanted])
        return
    wanted = ["-r", str(requirements)]
    if pinned:
        wanted += ["-c", str(constraints)]
    got_uv = _get_uv(str(python), _pinned_version(constraints, "uv"))
    if not (got_uv and _install_with_uv(str(python), python, wanted)):
        _run(name, [str(python), "-m", "pip", "install", "--no-input", "--progress-bar=off", "-q", *wanted])


def _make_venv(name: str, target: Path, options: list[str]) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "venv", *options, str(target)],
        capture_output=True,
        text=True,
        check=False,
        env=_clean_environ(),
    )
    if made.returncode:
        if "ensurepip" in made.stdout + made.stderr:
            raise EnvError(
                "this Python cannot make virtual environments: install its venv package (python3.11-venv)"
            )
        raise EnvError(f"{name}: cannot create {target}: {_last_line(made.stderr or made.stdout)}")


def _get_uv(python: str, version: str | None) -> bool:
    """Install uv, which is several times faster than pip; False when it is not to be had."""
    uv = f"uv=={version}" if version else "uv"
    got = subprocess.run(
        [python, "-m", "pip", "install", "--no-input", "-q", uv],
        capture_output=True,
        check=False,
        env=_clean_environ(),
    )
    return got.returncode == 0


def _install_with_uv(runner: str, python: Path, wanted: list[str]) -> bool:
    """Install into the environment of *python* with the uv of *runner*; False when it does not manage."""
    environ = _clean_environ() | _uv_settings(runner)
    command = [runner, "-m", "uv", "pip", "install", "--no-progress", "-q", "--python", str(python), *wanted]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    if result.returncode:
        _say(f"uv did not manage, falling back to pip: {_last_line(result.stderr)}")
    return result.returncode == 0


def _uv_settings(python: str) -> dict[str, str]:
    """Hand pip's configured index and wheel folders on to uv, which does not read pip's configuration."""
    listed = subprocess.run(
        [python, "-m", "pip", "config", "list"],
        capture_output=True,
        text=True,
        check=False,
        env=_clean_environ(),
    ).stdout
    names = {
        "index-url": "UV_DEFAULT_INDEX",
        "extra-index-url": "UV_INDEX",
        "find-links": "UV_FIND_LINKS",
        "cert": "SSL_CERT_FILE",
    }
    settings: dict[str, str] = {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        option = key.rpartition(".")[2].strip().lower().replace("_", "-")
        variable = names.get(option)
        if variable and variable not in os.environ:
            settings[variable] = " ".join(value.strip().strip("'\"").replace("\\n", " ").split())
    if "UV_INDEX" in settings:
        # pip takes the best version from all indexes; uv would stop at the first that knows the name.
        settings["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return settings


def _pinned_version(constraints: Path, package: str) -> str | None:
    if constraints.is_file():
        for line in constraints.read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{package}=="):
                return line.partition("==")[2].strip()
    return None


def _run(name: str, command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=_clean_environ())
    if result.returncode:
        raise EnvError(f"{name}: installation failed: {_last_line(result.stderr or result.stdout)}")


def _clean_environ() -> dict[str, str]:
    """The environment without what would make another Python look like ours."""
    dropped = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}
    return {key: value for key, value in os.environ.items() if key not in dropped}


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next(
        (line for line in lines if line.lower().startswith("error")), lines[-1] if lines else "no output"
    )


def _say(text: str) -> None:
    print(f"[envs] {text}", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m playground.envs", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", metavar="NAME", help=f"one or more of: {', '.join(NAMES)}")
    parser.add_argument("--freeze", action="store_true", help="resolve anew and rewrite the constraints")
    options = parser.parse_args(arguments)
    try:
        for name in options.names:
            if options.freeze:
                freeze(name)
            else:
                ensure(name)
    except EnvError as error:
        _say(f"error: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
