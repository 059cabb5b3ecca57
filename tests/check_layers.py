#!/usr/bin/env python3
"""The folders in order: a folder includes only what stands left of it (docs/design.md). Folders outside
the engine never see inside it: to them it is include/throng. Kernels lie beside the models and see the whole
engine, src/device above all. No file includes a source file. Tests and fuzz
targets may look anywhere.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Left to right, from include to cli. Folders in one layer do not see each other.
SHARED = [["include"], ["src/core"], ["src/formula"]]
ENGINE = [
    ["src/registry"],
    ["src/scene"],
    ["src/space"],
    ["src/state"],
    ["src/plan", "src/behave", "src/filter", "src/move"],
    ["src/contact"],
    ["src/world"],
    ["src/device"],
]
OUTSIDE = [
    ["src/record"],
    ["src/observe"],
    ["src/draw"],
    ["src/report"],
    ["src/run", "src/validate"],
    ["src/studio"],
    ["bench"],
    ["cli"],
]
EXAMPLES = [["include"], ["examples"]]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def may_see(folder):
    """The folder itself and all that stands left of it; None: it has no place."""
    for order in (SHARED + ENGINE, SHARED + OUTSIDE, EXAMPLES):
        allowed = {folder}
        for layer in order:
            if folder in layer:
                # The bench measures a model's formulas by themselves.
                return allowed | {"src/move"} if folder == "bench" else allowed
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


def sources(*tops):
    for top in tops:
        for pattern in ("*.c", "*.h", "*.cu", "*.cuh"):
            yield from sorted((ROOT / top).rglob(pattern))


def sources_included(source):
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match and match[1].endswith((".c", ".cu")):
            yield f"{source.relative_to(ROOT)}:{number}: include a header, not the source file {match[1]}"


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
    for source in sources("include", "src", "bench", "cli", "examples", "tests", "fuzz"):
        faults.extend(sources_included(source))
    for source in sources("include", "src", "bench", "cli", "examples"):
        count += 1
        folder = folder_of(source)
        allowed = may_see(folder)
        if allowed and source.suffix in (".cu", ".cuh"):
            allowed |= may_see("src/device")
        if allowed is None:
            faults.append(f"{source.relative_to(ROOT)}: {folder} has no place in the order of layers")
        else:
            faults.extend(faults_in(source, folder, allowed))
    print("\n".join(faults) if faults else f"layers: {count} files in order")
    return 1 if faults or count == 0 else 0


sys.exit(main())
