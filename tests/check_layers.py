#!/usr/bin/env python3
"""The folders in order: a folder includes only what stands left of it (docs/design.md). Folders outside
the engine never see inside it: to them it is include/throng. Kernels lie beside the models and see the whole
engine, src/device above all. No file includes a source file. Tests and fuzz
targets may look anywhere. A model's folder sees no other model's, except as LEND says.

With the folder of a build (`check_layers.py build`) the same holds for symbols: what the objects of a folder call is
defined in that folder or left of it. Without one that part is skipped.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import subprocess
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
    ["src/mpi"],
    ["src/record"],
    ["src/observe"],
    ["src/draw"],
    ["src/report"],
    ["src/cluster"],
    ["src/run", "src/validate", "src/import"],
    ["src/studio"],
    ["bench"],
    ["cli", "python"],
]
EXAMPLES = [["include"], ["examples"]]
# Symbols that a folder may take from its right. The table of models points to their descriptions and knows no more of
# them; the device is another backend behind one function.
UPWARD = {
    "src/registry": re.compile(r"th_(behave|plan|filter|move)_\w+_model"),
    "src/world": re.compile(r"th_cuda_backend"),
}
# Models whose parts others use. Distance fields and road map serve all planners; guided and quickest solve on the lattice
# of continuum.
LEND = {
    "src/plan/field": {"src/plan", "src/plan/roadmap", "src/plan/continuum", "src/plan/guided", "src/plan/quickest"},
    "src/plan/roadmap": {"src/plan"},
    "src/plan/continuum": {"src/plan/guided", "src/plan/quickest"},
}
MODEL = re.compile(r"src/(?:plan|behave|filter|move)/\w+(?=/)")
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


def model_of(name):
    """The folder of a model that a file lies in, or of the stage; None: of neither."""
    found = MODEL.match(name)
    return found[0] if found else "/".join(name.split("/")[:2]) if name.startswith("src/") else None


def sees_model(source, target):
    """May a file use another one, as far as models are concerned? Both are paths from the root."""
    lender, user = MODEL.match(target), model_of(source)
    if not lender or lender[0] == user or not user or user.split("/")[1] not in ("plan", "behave", "filter", "move"):
        return True  # whatever is no model is the layers' matter
    return user in LEND.get(lender[0], ())


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
        elif not sees_model(str(source.relative_to(ROOT)), str(target.relative_to(ROOT))):
            yield place + f"models do not see each other ({match[1]}); share it in {folder} or declare a field it uses"


def objects_of(build):
    """Objects of the libraries, by room: those of tests, and of other builds inside, are not meant."""
    for path in sorted((build / "CMakeFiles").glob("throng_*.dir/src/**/*.o")):
        parts = path.relative_to(build).parts
        if (ROOT / pathlib.Path(*parts[2:]).with_suffix("")).is_file():  # else its source has gone
            yield path, "/".join(parts[2:4])


def symbols_of(objects):
    """(room, file, kind, name) of every global symbol."""
    rooms = {str(path): room for path, room in objects}
    listed = subprocess.run(["nm", "-A", "-g", *rooms], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        path, rest = line.split(".o:", 1)
        *_, kind, name = rest.split()
        yield rooms[path + ".o"], path, kind, name


def symbol_faults(build):
    """Faults, and how many references were looked at."""
    defined, files, wanted = {}, {}, []
    for room, path, kind, name in symbols_of(list(objects_of(build))):
        if kind in "Uw":
            wanted.append((room, path, name))
        elif room != "src/core":  # every library has a copy of core, which stands left of all
            defined[name] = room
            files[name] = path.split(".dir/")[1]
    faults = []
    for room, path, name in wanted:
        home = defined.get(name)
        if home and not sees_model(path.split(".dir/")[1], files[name]):
            faults.append(f"{path.split('.dir/')[1]}: models do not see each other, and {name} is in {files[name]}")
        if home is None or home in may_see(room) or UPWARD.get(room, re.compile("$^")).fullmatch(name):
            continue
        if room in OUTSIDE_ROOMS and home in ENGINE_ROOMS:
            continue  # by the public headers, as the includes prove
        source = path.split(".dir/")[1]
        faults.append(f"{source}: {room} may not call {name}, which {home} defines")
    return sorted(faults), len(wanted)


OUTSIDE_ROOMS = {room for layer in OUTSIDE for room in layer}
ENGINE_ROOMS = {room for layer in ENGINE for room in layer}


def check_symbols(faults):
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if build is None or not any(objects_of(build)):
        return "symbols not looked at: name a build folder that has objects"
    found, count = symbol_faults(build)
    faults.extend(found)
    if count == 0:
        faults.append(f"{build}: nm found no symbols in its objects")
    return f"{count} symbols in order"


def main():
    count = 0
    faults = []
    for source in sources("include", "src", "bench", "cli", "examples", "python", "tests", "fuzz"):
        faults.extend(sources_included(source))
    for source in sources("include", "src", "bench", "cli", "examples", "python"):
        count += 1
        folder = folder_of(source)
        allowed = may_see(folder)
        if allowed and source.suffix in (".cu", ".cuh"):
            allowed |= may_see("src/device")
        if allowed is None:
            faults.append(f"{source.relative_to(ROOT)}: {folder} has no place in the order of layers")
        else:
            faults.extend(faults_in(source, folder, allowed))
    told = check_symbols(faults)
    print("\n".join(faults) if faults else f"layers: {count} files in order, {told}")
    return 1 if faults or count == 0 else 0


sys.exit(main())
