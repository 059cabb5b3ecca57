#!/usr/bin/env python3
"""The Python package as a user gets it: a wheel, installed in a virtual environment, and its tests; the stubs by mypy, the
tutorial by nbconvert. The program is named by TH_PROGRAM; its build folder has the libraries. Where numpy is missing, or
the build has sanitizers, this is skipped and says so; with THRONG_NEED_PYTHON, as in CI, a missing package is a failure.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77
NEEDED = "numpy setuptools wheel build.env".split()  # a folder "build" is a module, too
WANTED = "mypy nbconvert ipykernel pandas scipy cffi".split()


def skip(reason):
    print("skipped:", reason)
    sys.exit(1 if os.environ.get("THRONG_NEED_PYTHON") else SKIPPED)


def lacks(python, modules):
    return [m for m in modules if subprocess.run([python, "-c", f"import {m}"], capture_output=True).returncode != 0]


def find_python():
    """The first that has what the package needs; often the system's and not the first on the path."""
    for python in ("/usr/bin/python3", sys.executable):
        if os.path.exists(python) and not lacks(python, NEEDED):
            return python
    return skip(f"no Python with {', '.join(NEEDED)}; tools/install-deps --ci brings them")


def run(*command, **environment):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, cwd=ROOT, env={**os.environ, **environment})


def install(python, build, folder):
    """The interpreter of a virtual environment with the wheel in it. The sources are copied: building leaves traces."""
    shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    for name in ("include", "src", "docs"):
        (folder / name).symlink_to(ROOT / name)
    run(python, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, folder / "python", THRONG_BUILD=str(build))
    run(python, "-m", "venv", "--system-site-packages", folder / "venv")
    inside = folder / "venv/bin/python"
    run(inside, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", next(folder.glob("*.whl")))
    return inside


def check_archive(python, build):
    """The sources that the archive compiles define every function of ours that they call, or it would not load."""
    listed = subprocess.run([python, "-c", "import runpy; print(*runpy.run_path('python/setup.py')['engine_sources'](), sep='\\n')"],
                            check=True, capture_output=True, text=True, cwd=ROOT).stdout.split("\n")
    names = {str(pathlib.Path(line).relative_to(ROOT)) for line in listed if line}
    objects = {str(o.relative_to(build)).split(".dir/")[1][:-2]: o for o in (build / "CMakeFiles").glob("throng_*.dir/src/**/*.o")}
    lines = subprocess.run(["nm", "-g", *(str(o) for n, o in objects.items() if n in names)], check=True, capture_output=True, text=True)
    symbols = [line.split()[-2:] for line in lines.stdout.splitlines() if len(line.split()) > 1]
    missing = {name for kind, name in symbols if kind == "U" and name.startswith("th_")}
    missing -= {name for kind, name in symbols if kind not in "Uw"}
    if missing or not symbols:
        sys.exit(f"the source archive lacks the files that define {', '.join(sorted(missing))}; see engine_sources in python/setup.py")


def main():
    program = os.environ.get("TH_PROGRAM")
    if not program:
        skip("TH_PROGRAM names no program")
    build = pathlib.Path(program).resolve().parent
    cache = (build / "CMakeCache.txt").read_text() if (build / "CMakeCache.txt").exists() else ""
    if "TH_SANITIZE:STRING=\n" not in cache:
        print("skipped: the build has sanitizers, which the interpreter lacks")
        return SKIPPED
    python = find_python()
    if lacks(python, WANTED) and os.environ.get("THRONG_NEED_PYTHON"):
        skip(f"{python} lacks {', '.join(lacks(python, WANTED))}")
    check_archive(python, build)
    folder = build / "python"  # the wheel and the environment stay, to be used
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    inside = install(python, build, folder)
    run(inside, "-B", "-m", "unittest", "discover", "-s", "python/tests", "-t", "python/tests")
    run(inside, "-B", "examples/environment.py")
    if not lacks(inside, ["mypy"]):
        run(inside, "-m", "mypy", "--config-file", "python/pyproject.toml", "--cache-dir", folder / "mypy", "python/src/throng")
    if not lacks(inside, ["nbconvert", "ipykernel"]):
        site = next((folder / "venv/lib").glob("python*/site-packages"))
        run(inside, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", folder, "python/tutorial.ipynb",
            PYTHONPATH=str(site), HOME=str(folder))
    return 0


sys.exit(main())
