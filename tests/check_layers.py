#!/usr/bin/env python3
"""The rooms of the house in order: a folder includes only what stands left of it (docs/design.md).
Tests and fuzz targets may look anywhere.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Left to right. Folders in one layer do not see each other.
LAYERS = [
    ["include"],
    ["src/core"],
    ["src/formula"],
    ["src/scene"],
    ["src/space"],
    ["src/state"],
    ["src/plan", "src/behave", "src/filter", "src/move"],
    ["src/contact"],
    ["src/world"],
    ["src/cuda"],
    ["src/record"],
    ["src/observe"],
    ["src/draw"],
    ["src/report"],
    ["src/validate", "src/run"],
    ["bench"],
    ["cli"],
]
# The folder may include these and itself, whatever the layers say.
ONLY = {
    "examples": {"include"},
    # Recordings, measurement, pictures and the program are users of the public surface. They need walls
    # and goals as compiled, which no user of the library has asked for yet, hence src/scene.
    "src/record": {"include", "src/scene", "src/core", "src/formula"},
    "src/observe": {"include", "src/scene", "src/core", "src/formula", "src/record"},
    "src/draw": {"include", "src/scene", "src/core", "src/record", "src/observe"},
    "src/report": {"include", "src/scene", "src/core", "src/observe", "src/draw"},
    "src/validate": {"include", "src/scene", "src/core", "src/formula", "src/record", "src/observe", "src/draw",
                     "src/report"},
    "src/run": {"include", "src/core", "src/record", "src/observe", "src/draw", "src/report"},
    # The program is a user of the libraries; src/run only through include/throng/run.h.
    "cli": {"include", "bench", "src/core", "src/observe", "src/draw", "src/report", "src/validate"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def may_see(folder):
    if folder in ONLY:
        return ONLY[folder] | {folder}
    allowed = {folder}
    for layer in LAYERS:
        if folder in layer:
            return allowed
        allowed |= set(layer)
    return None


def folder_of(path):
    """The room a file lies in: include, src/<room>, or the top folder."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[:2]) if parts[0] == "src" else parts[0]


def resolve(name, source):
    for base in (source.parent, ROOT / "src", ROOT / "include", ROOT):
        if (base / name).is_file():
            return (base / name).resolve()
    return None


def sources():
    for top in ("include", "src", "bench", "cli", "examples"):
        for pattern in ("*.c", "*.h", "*.cu", "*.cuh"):
            yield from sorted((ROOT / top).rglob(pattern))


def faults_in(source, folder, allowed):
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        place = f"{source.relative_to(ROOT)}:{number}: "
        target = resolve(match[1], source)
        if target is None:
            yield place + f'"{match[1]}" is not a file of this repository; use <> for others'
        elif folder_of(target) not in allowed:
            yield place + f"{folder} may not include {folder_of(target)} ({match[1]})"


def main():
    count = 0
    faults = []
    for source in sources():
        count += 1
        folder = folder_of(source)
        allowed = may_see(folder)
        if allowed is None:
            faults.append(f"{source.relative_to(ROOT)}: {folder} has no place in the order of layers")
        else:
            faults.extend(faults_in(source, folder, allowed))
    print("\n".join(faults) if faults else f"layers: {count} files in order")
    return 1 if faults or count == 0 else 0


sys.exit(main())
