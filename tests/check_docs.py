#!/usr/bin/env python3
"""The documentation agrees with the repository: generated tables are not stale, links lead somewhere, paths exist,
scenes in it are good.

Run from anywhere; TH_PROGRAM names the built program, without it the scenes are not looked at.
SPDX-License-Identifier: Apache-2.0
"""
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "update-docs"


def load_tool():
    loader = importlib.machinery.SourceFileLoader("update_docs", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("update_docs", loader))
    loader.exec_module(module)
    return module


def without_blocks(text):
    """The text with code blocks emptied, line numbers kept."""
    out, fenced = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            out.append("")
        else:
            out.append("" if fenced or line.startswith("    ") else line)
    return "\n".join(out)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for line in without_blocks(path.read_text(encoding="utf-8")).split("\n"):
        if re.match(r"#+ ", line):
            title = re.sub(r"[`*]|\[|\]\([^)]*\)", "", line.lstrip("#").strip()).lower()
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def bad_links(path):
    text = without_blocks(path.read_text(encoding="utf-8"))
    for match in re.finditer(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", lambda m: "x" * len(m[0]), text)):
        target, _, anchor = unquote(match[1]).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        place = (path.parent / target).resolve() if target else path
        if not place.exists():
            yield line_of(text, match.start()), f"the link to {target} leads nowhere"
        elif anchor and place.suffix == ".md" and anchor not in anchors(place):
            yield line_of(text, match.start()), f"{target or 'this page'} has no heading #{anchor}"


def bad_paths(path, folders):
    """Paths into the repository in code that do not exist. Capitals stand for any name, * is a glob."""
    text = path.read_text(encoding="utf-8")
    code = [(m.start(), m[1]) for m in re.finditer(r"`([^`\n]+)`", text)]
    code += [(m.start(), m[0]) for m in re.finditer(r"^    .*$", text, re.MULTILINE)]
    for position, words in code:
        for word in re.findall(rf"(?<![\w./-])(?:{folders})/[\w./*-]*\w", words):
            pattern = re.sub(r"\b(?:DIR|FILE|NAME|SCENE|MODEL)\b", "*", word)
            if not any(ROOT.glob(pattern)) and not word.startswith("studio/dist/"):  # a build writes that folder
                yield line_of(text, position), f"there is no {word}"


def bad_scenes(path):
    """Scenes shown in a page that the program does not take."""
    program, text = os.environ.get("TH_PROGRAM"), path.read_text(encoding="utf-8")
    for match in re.finditer(r"^```jsonc?\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if program and '"levels"' in match[1]:
            with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
                file.write(match[1])
                file.flush()
                done = subprocess.run([program, "check", file.name], capture_output=True, text=True)
            if done.returncode != 0:
                yield line_of(text, match.start()), f"the scene is not good: {done.stderr.strip()}"


def unnamed_data():
    """CSV files of docs/data that no command is given for."""
    folder = ROOT / "docs" / "data"
    text = (folder / "made_by.csv").read_text(encoding="utf-8") + "made_by.csv"
    named = {p for pattern in re.findall(r"[\w/*]+\.csv", text) for p in folder.glob(pattern)}
    return sorted(set(folder.rglob("*.csv")) - named)


def stale_names():
    """Comments in the sources that name a source file which is not there."""
    names = {p.name for folder in ("src", "include", "cli", "bench", "tests", "studio", "fuzz", "examples", "python")
             for p in (ROOT / folder).rglob("*.*") if "node_modules" not in p.parts}
    for folder in ("src", "include", "cli", "bench"):
        for path in sorted((ROOT / folder).rglob("*.[ch]*")):
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                for word in re.findall(r"[\w/]+\.(?:c|h|cu|cuh|ts)\b", line.partition("//")[2]):
                    if word.rsplit("/", 1)[-1] not in names:
                        yield f"{path.relative_to(ROOT)}:{number}: there is no {word}"


def check_the_tool():
    """update-docs notices a stale table, writes it, is content then, and refuses a column that is not there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tools").mkdir()
        tool = shutil.copy(TOOL, folder / "tools")
        (folder / "data.csv").write_text("model,people,ms,ms\norca,1000,1.234,2\norca,1000000,5,\n", encoding="utf-8")
        page = folder / "page.md"
        page.write_text("<!-- table data.csv; columns: model; pivot: people:si -> {ms:.1f} ({ms#2}) -->\nold\n<!-- end -->\n",
                        encoding="utf-8")

        def run(*arguments):
            return subprocess.run([sys.executable, tool, *arguments], capture_output=True, text=True).returncode

        assert run("--check") == 1, "a stale table was not noticed"
        assert run() == 0 and run("--check") == 0, "a table was not written"
        assert page.read_text(encoding="utf-8").split("\n")[1:4] == [
            "| model | 1 k | 1 M |", "|---|---|---|", "| orca | 1.2 (2) | 5.0 |"], page.read_text(encoding="utf-8")
        (folder / "data.csv").write_text("scene,model,left\na/x,orca,0\na/y,orca,7\nb,uic,?\n", encoding="utf-8")
        page.write_text("<!-- table data.csv; columns: scene/=folder, count(), count(left=0)=empty, max(left)=most,"
                        " worst(left, scene)=where; by: scene/ -->\n<!-- end -->\n", encoding="utf-8")
        assert run() == 0, "a summary was not written"
        assert page.read_text(encoding="utf-8").split("\n")[3:5] == [
            "| a | 2 | 1 | 7 | a/y |", "| b | 1 | 0 | | |"], page.read_text(encoding="utf-8")
        page.write_text("<!-- table data.csv; columns: nobody -->\n<!-- end -->\n", encoding="utf-8")
        assert run() == 1, "a column that does not exist was taken"


def main():
    check_the_tool()
    tool = load_tool()
    faults = []
    folders = "|".join(sorted(re.escape(p.name) for p in ROOT.iterdir()
                              if p.is_dir() and not p.name.startswith(("build", ".git")) and p.name not in ("runs", "pictures")))
    for path in tool.pages():
        for line, fault in sorted([*bad_links(path), *bad_paths(path, folders), *bad_scenes(path)]):
            faults.append(f"{path.relative_to(ROOT)}:{line}: {fault}")
    faults += stale_names()
    faults += [f"{p.relative_to(ROOT)}: docs/data/made_by.csv does not say which command prints it" for p in unnamed_data()]
    stale = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True)
    if stale.returncode != 0:
        faults.append((stale.stdout + stale.stderr).strip())
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
