#!/usr/bin/env python3
"""Every command that README, docs and help texts show works, and shows what they say it shows.

A line of an indented block, or of a block fenced as sh, that begins with `throng`, `build/throng` or `$ throng` is a
command. The commands of a page run one after the other in a folder of their own, in which `scenes`, `tests` and the
other folders of the repository lie. They are shortened, so that all of them take seconds: a run ends after half a
simulated second, of many runs two are made, and what another page has shown already is not run again. Comments in the page, on the line before the block, say otherwise:

    <!-- file hall.json -->        the fenced block that follows is that file
    <!-- file broken.json          so is the rest of this comment
    ... -->
    <!-- exact -->                 runs as it stands, and prints the lines below the commands, "..." aside; in a page with
                                   TH_LONG set also where it says <!-- exact, long -->
    <!-- not run: why -->          is not run

`tests/check_commands.py --update` writes the numbers of exact blocks anew. `--times` prints what each took.
TH_PROGRAM names the program.
SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("TH_PROGRAM")
LONG = bool(os.environ.get("TH_LONG"))
WAIT = float(os.environ.get("TH_WAIT_SECONDS", 450))  # only a hang takes so long
PAGES = ["README.md", "scenes/README.md", "scenes/verification/README.md", *sorted(
    str(p.relative_to(ROOT)) for folder in ("docs", "docs/models") for p in (ROOT / folder).glob("*.md"))]
COMMAND = re.compile(r"^(?:\$ )?(?:build/)?throng [a-z]")
# Whatever is asked of them; their own tests run them. The studio and a replay go on until they are stopped.
# A shortened run leaves no page for `report`.
TOO_LONG = ("bench", "experiment", "validate", "studio", "replay", "report")


SEEN = set()


class Block:
    """Lines of a block with where it begins and what the comment before it says."""

    def __init__(self, line, lines, indent, note):
        self.line, self.lines, self.indent, self.note = line, lines, indent, note


def blocks(text):
    """The indented blocks and fenced sh blocks of a page, and files it gives: (blocks, {name: content})."""
    found, files, lines, note, k = [], {}, text.split("\n"), "", 0
    while k < len(lines):
        line = lines[k]
        comment = re.match(r"<!-- (exact.*|not run.*|file \S+) -->$", line)
        hidden = re.match(r"<!-- file (\S+)$", line)
        fence = re.match(r"```(\w*)$", line)
        if comment:
            note = comment[1]
        elif hidden:
            end = next(e for e in range(k, len(lines)) if lines[e].endswith("-->"))
            files[hidden[1]] = "\n".join(lines[k + 1:end] + [lines[end][:-3]])
            k = end
        elif fence:
            end = next(e for e in range(k + 1, len(lines)) if lines[e] == "```")
            if note.startswith("file "):
                files[note[5:]] = "\n".join(lines[k + 1:end])
            elif fence[1] == "sh":
                found.append(Block(k + 1, lines[k + 1:end], 0, note))
            k, note = end, ""
        elif line.startswith("    ") and (k == 0 or not lines[k - 1].strip() or lines[k - 1].startswith("<!--")):
            end = k
            while end < len(lines) and (lines[end].startswith("    ") or
                                        (not lines[end].strip() and "".join(lines[end + 1:end + 2]).startswith("    "))):
                end += 1
            found.append(Block(k, [text[4:] for text in lines[k:end]], 4, note))
            k, note = end - 1, ""
        elif line.strip():
            note = ""
        k += 1
    return found, files


def joined(lines):
    """Commands with their continuations: (index of the first line, words)."""
    k = 0
    while k < len(lines):
        if COMMAND.match(lines[k]):
            first, text = k, lines[k]
            while text.endswith("\\") and k + 1 < len(lines):
                k += 1
                text = text[:-1] + " " + lines[k].strip()
            yield first, re.sub(r"\s+#.*$", "", re.sub(r"^(\$ )?(build/)?", "", text))
        k += 1


def shortened(words):
    """The same command over in a moment."""
    if words[1] in ("run", "sweep"):
        words = [w for k, w in enumerate(words) if w != "--until-ci" and words[k - 1] != "--until-ci"]
        words = ["2" if words[k - 1] == "--runs" else w for k, w in enumerate(words)]
        words += [] if "--max-time" in words else ["--max-time", "0.5"]
        words += ["--runs", "1"] if words[1] == "sweep" and "--runs" not in words else []
        words += ["--no-report"] if words[1] == "run" and "--no-report" not in words else []
    if words[1] == "compare":
        words = ["2" if words[k - 1] == "--runs" else w for k, w in enumerate(words)] + ["--set", "run.max_time=0.5"]
    if words[1] == "picture":
        words = ["0,1" if words[k - 1] == "--at" else w for k, w in enumerate(words)]
    if words[1] == "fd" and any("scenes/" in w for w in words):
        words += ["--frames", "0:20"]
    return words


def is_placeholder(words):
    return any(re.fullmatch(r"\[?[A-Z][A-Z|_]+\]?(\.\.\.)?", w) for w in words[1:])


def run(command, folder, exact):
    words = shlex.split(command)
    if ">" in words:
        words = words[:words.index(">")]
    if words[1] in TOO_LONG or is_placeholder(words) or ("--video" in words and not shutil.which("ffmpeg")):
        return None
    if "3d" in words:  # a browser draws it: minutes without a GPU; the page's own test does it
        return None
    words = words if exact else shortened(words)
    if not exact and not {"--out", "--record"} & set(words) and not any("/" in w and not Path(ROOT, w).exists() for w in words):
        if tuple(words) in SEEN:
            return None
        SEEN.add(tuple(words))
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive")
    begun = time.monotonic()
    done = subprocess.run([PROGRAM, *words[1:]], cwd=folder, capture_output=True, text=True, timeout=WAIT, env=environment)
    if "--times" in sys.argv:
        print(f"{time.monotonic() - begun:6.2f} s  {shlex.join(words)}")
    return done


def label(line):
    """The text of a line before its first number."""
    return re.sub(r"\s+", " ", re.match(r"[^\d]*", line)[0]).strip()


def compare(block, first, last, printed, where, update):
    """Faults of the lines below a command of an exact block; with `update` they are replaced."""
    at = 0
    shown = [line.rstrip() for line in printed.split("\n")]
    for k in range(first, last):
        wanted = block.lines[k].rstrip()
        if not wanted.strip() or wanted.strip() == "...":
            continue
        same = [n for n in range(at, len(shown)) if shown[n] == wanted]
        alike = [n for n in range(at, len(shown)) if label(shown[n]) == label(wanted)]
        if same:
            at = same[0] + 1
        elif update and alike:
            block.lines[k], at = shown[alike[0]], alike[0] + 1
        else:
            instead = f"\n    instead: {shown[alike[0]]}" if alike else ""
            yield f"{where}:{block.line + k + 1}: is not printed: {wanted}{instead}"


def check_block(block, folder, where, update):
    if block.note.startswith("not run"):
        return
    exact = block.note.startswith("exact") and ("long" not in block.note or LONG or update)
    commands = list(joined(block.lines))
    for n, (k, command) in enumerate(commands):
        if block.note == "exact, long" and not exact and command.split()[1] == "sweep":
            continue
        done = run(command, folder, exact)
        if not done:
            continue
        # Built or installed without Node, a network or GDAL, as the program says.
        if any(words in done.stderr for words in ("no studio page", "web-ifc, which is not here", "ogr2ogr, which is not here")):
            continue
        if done.returncode != 0 and not exact:
            yield f"{where}:{block.line + k + 1}: `{command}` exits {done.returncode}: {done.stderr.strip()[-400:]}"
        elif exact:
            last = commands[n + 1][0] if n + 1 < len(commands) else len(block.lines)
            yield from compare(block, k + 1, last, done.stdout + done.stderr, where, update)


# Files and folders that several pages and help texts name, and what makes them in an empty folder.
HALL = re.search(r"<!-- file hall.json -->\n```jsonc\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)[1]
TOWN = """<osm version="0.6">
<node id="1" lat="48.0" lon="11.0"/><node id="2" lat="48.0" lon="11.0002"/><node id="3" lat="48.0001" lon="11.0002"/>
<way id="4"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="1"/><tag k="building" v="yes"/></way>
</osm>
"""
MADE = {
    "runs/hall": "throng run hall.json --out runs/hall",
    "runs/hall-2": "throng run hall.json --out runs/hall-2 --seed 2",
    "evening": "throng run hall.json --out evening",
    "runs/validation": "throng validate rimea --only 1 --out runs/validation",
}


def make_folder(folder, text):
    for name in ("scenes", "tests", "docs", "bench", "examples"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "hall.json").write_text(HALL, encoding="utf-8")
    (folder / "hall-wide.json").write_text(HALL.replace("5.4", "4.8").replace("6.6", "7.2"), encoding="utf-8")
    shutil.copy(ROOT / "scenes/interest/drawn.png", folder / "logo.png")
    shutil.copy(ROOT / "tests/data/import/two_storeys.ifc", folder / "house.ifc")
    shutil.copy(ROOT / "docs/images/hidac-fallen-loose.png", folder / "floor.png")
    (folder / "people.csv").write_text("x,y,level\n2,2,0\n3,2,0\n", encoding="utf-8")
    (folder / "town.osm").write_text(TOWN, encoding="utf-8")
    for name, command in MADE.items():
        if re.search(rf"\b{name}\b(?!\.)", text) and f"--out {name}" not in text:
            words = [PROGRAM, *command.split()[1:], *(["--max-time", "0.5"] if " run " in command else [])]
            subprocess.run(words, cwd=folder, capture_output=True, check=True, timeout=WAIT)


def check_page(name, update=False):
    text = (ROOT / name).read_text(encoding="utf-8")
    found, files = blocks(text)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        make_folder(Path(folder), text)
        for file, content in files.items():
            (Path(folder) / file).write_text(content, encoding="utf-8")
        for block in found:
            before = list(block.lines)
            faults += check_block(block, folder, name, update)
            if update and before != block.lines:
                pad = " " * block.indent
                old = "\n".join(pad + line if line else line for line in before)
                text = text.replace(old, "\n".join(pad + line if line else line for line in block.lines), 1)
    if update:
        (ROOT / name).write_text(text, encoding="utf-8")
    return faults


def check_help(verb):
    """The examples of a command's help, in a folder that holds a recording as they name it."""
    text = subprocess.run([PROGRAM, "help", verb], capture_output=True, text=True, check=True).stdout
    examples = text.split("\nexamples\n")[-1] if "\nexamples\n" in text else ""
    block = Block(0, [line[2:] for line in examples.split("\n")], 2, "")
    with tempfile.TemporaryDirectory() as folder:
        make_folder(Path(folder), examples)
        return [*check_block(block, folder, f"throng help {verb}", False)]


def check_myself():
    """A wrong command and a wrong number are noticed."""
    page = "<!-- exact -->\n    $ throng check broken.json\n    broken.json: no\n\n    throng run nothing.json\n"
    found, _ = blocks(page)
    assert len(found) == 1 and [c for _, c in joined(found[0].lines)] == ["throng check broken.json", "throng run nothing.json"]
    with tempfile.TemporaryDirectory() as folder:
        assert len([*check_block(found[0], folder, "page", False)]) == 1, "a wrong output was not noticed"
        found[0].note = ""
        assert len([*check_block(found[0], folder, "page", False)]) == 2, "a wrong command was not noticed"


def main():
    if not PROGRAM:
        sys.exit(77)
    update = "--update" in sys.argv
    check_myself()
    help_text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout
    verbs = re.findall(r"^  ([a-z]+) +\S", help_text.split("\nexamples\n")[0], re.M)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        work = [pool.submit(check_page, name, update) for name in PAGES]
        work += [pool.submit(check_help, verb) for verb in verbs if verb != "help"]
        faults = [fault for job in work for fault in job.result()]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
