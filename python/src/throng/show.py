"""Crowds in motion: a page in the notebook, the studio. SPDX-License-Identifier: Apache-2.0"""
from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import urllib.request
import webbrowser
from typing import Any, Union

from .recording import Path
from .runs import _rebased
from .scene import SceneLike, scene_of
from .world import World


def program() -> str:
    """The program ``throng``: that of the package, of THRONG_PROGRAM, or on the path."""
    beside = os.path.join(os.path.dirname(__file__), "throng")
    found = os.environ.get("THRONG_PROGRAM") or (beside if os.access(beside, os.X_OK) else shutil.which("throng"))
    if not found:
        raise FileNotFoundError("the program throng is not here; install it or name it in THRONG_PROGRAM")
    return found


class Page:
    """One file that plays in a browser, and in a notebook, without a server."""

    def __init__(self, html: str, height: int) -> None:
        self.html, self.height = html, height

    def save(self, path: Path) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.html.encode()).decode()
        return (f'<iframe width="100%" height="{self.height}" style="border:0" sandbox="allow-scripts" '
                f'src="data:text/html;base64,{data}"></iframe>')


def animation(source: Union[Path, World], *, seconds: float = 30.0, fps: float = 5.0, height: int = 500) -> Page:
    """The source of an animation: the folder of a recorded run, a recording, or so many further seconds of a world."""
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(source, World):
            recorded = os.path.join(folder, "trajectory.sqlite")
            with source.record(recorded, fps=fps):
                source.run(seconds)
        else:
            recorded = os.fspath(source)
        page = os.path.join(folder, "page.html")
        made = subprocess.run([program(), "export", recorded, "--html", page, "--fps", str(fps)], capture_output=True,
                              text=True)
        if made.returncode != 0:
            raise RuntimeError(made.stderr.strip())
        with open(page, encoding="utf-8") as file:
            return Page(file.read(), height)


class Studio:
    """A studio that runs beside Python. ``close`` ends it; so does the end of the program."""

    def __init__(self, process: "subprocess.Popen[str]", address: str, folder: Any) -> None:
        self.process, self.address, self._folder = process, address, folder

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        self._folder.cleanup()

    def __del__(self) -> None:
        if self.process.poll() is None:
            self.close()

    def _repr_html_(self) -> str:
        return f'<iframe width="100%" height="600" style="border:0" src="{self.address}"></iframe>'


def studio(what: Union[World, SceneLike], *, port: int = 0, browser: bool = True, paused: bool = False) -> Studio:
    """Opens the studio's live page on a scene, or on a world as it stands. The page goes on with a crowd of its own: the
    world here does not move with it."""
    scene = what.scene if isinstance(what, World) else scene_of(what)
    folder = tempfile.TemporaryDirectory()
    path = os.path.join(folder.name, "scene.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(_rebased(scene.document, scene.base) if scene.base else scene.document, file)
    options = ["--paused"] if paused else []
    if isinstance(what, World):
        kept = os.path.join(folder.name, "snapshot")
        with open(kept, "wb") as moment:
            moment.write(what.snapshot())
        options += ["--seed", str(what.seed), "--snapshot", kept, "--replan", str(what.replan)]
        options += ["--room", str(what.max_agents)] if what.max_agents else []
    process = subprocess.Popen([program(), "studio", path, "--port", str(port), "--no-browser", *options],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    for said in process.stdout or ():
        if "http://" in said:
            break
    else:
        folder.cleanup()
        raise RuntimeError(f"the studio did not start: {said.strip()}")
    address = next(word for word in said.split() if word.startswith("http://"))
    try:
        urllib.request.urlopen(address).close()  # answers when the crowd is there
    except OSError:
        process.terminate()
        said = process.communicate()[0]
        folder.cleanup()
        raise RuntimeError(f"the studio did not start: {said.strip()}") from None
    if browser:
        webbrowser.open(address)
    return Studio(process, address, folder)

