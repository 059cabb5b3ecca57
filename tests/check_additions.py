#!/usr/bin/env python3
"""The table "To add something" of docs/design.md is true: one of each kind (KINDS) is added by script, and the files this
takes are those that the table names. Rows without a script: a kernel and a tool of the studio, which other compilers build,
a rule of a model (tests/check_mutants.py) and a model of a program of its own (tests/test_own_model.c).

The edited files lie in a folder of their own that the compiler searches before the sources; only the units that hold
the additions and the lists are compiled, and their symbols show that one knows the other. With THRONG_LONG all of it
goes into a copy of the repository, which is built and asked for each addition.

SPDX-License-Identifier: Apache-2.0
"""
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77  # what ctest takes for "not run"
PACKAGES = ["jansson", "cairo", "geos", "libpng"]

MODEL = """// A dummy. SPDX-License-Identifier: Apache-2.0
#include "throng/model.h"
#include <stddef.h>

const th_model th_filter_dummy_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_FILTER,
    .name = "dummy",
    .doc = "nothing",
    .source = "tests/check_additions.py",
};
"""
SECTION = """
typedef struct spot {
    th_item item;
    th_polygons area;
} spot;
static const th_key_info keys[] = {{.name = "area", .kind = TH_KEY_AREA, .offset = offsetof(spot, area), .required = true,
                                    .doc = "Where it is."}};
static const th_section_info section = {
    .name = "spots", .item = "spot", .doc = "Nothing.", .item_size = sizeof(spot), .keys = keys, .key_count = 1};
"""
FIELD = """
static const th_field_info fields[] = {{"dummies", true, true, "nothing", "dummies"}};
"""
FORMAT = """// A dummy format. SPDX-License-Identifier: Apache-2.0
#include "record/backend.h"

static bool recognise(const unsigned char *head, size_t size) {
    (void)head;
    return size == 0;
}

const th_trajectory_backend th_dummy_backend = {.recognise = recognise};
"""
TRIAL = "static void dummy(th_trial *trial) { th_check_walking_speed(trial); }\n\n"
FIGURE = """
bool th_figure_dummy_applies(const th_figure_data *data) { return data->scene->level_count > 0; }

double th_figure_dummy_draw(const th_canvas *canvas, const th_figure_data *data) {
    return th_figure_head(canvas, data, "Dummy", "");
}

void th_figure_dummy_caption(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_put(text, "A dummy.");
}
"""
VERB = """// throng dummy: nothing. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

static int run(const th_command *command, int argc, char **argv) {
    (void)command, (void)argc, (void)argv;
    return TH_EXIT_OK;
}

const th_command th_command_dummy = {
    .name = "dummy", .operands = "", .summary = "nothing", .detail = "", .examples = "", .run = run};
"""


class Tree:
    """Files that are read from the repository and written below `folder`."""

    def __init__(self, folder):
        self.folder, self.touched = folder, []

    def write(self, path, text):
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        if path not in self.touched:
            self.touched.append(path)

    def edit(self, path, pattern, replacement, count=1):
        place = self.folder / path
        text = (place if place.exists() else ROOT / path).read_text(encoding="utf-8")
        text, done = re.subn(pattern, replacement, text, flags=re.MULTILINE)
        if done != count:
            raise SystemExit(f"additions: {path}: {pattern!r} is there {done} times instead of {count}; "
                             "adapt tests/check_additions.py")
        self.write(path, text)


def add_model(tree):
    tree.write("src/filter/dummy/dummy.c", MODEL)
    tree.edit("src/registry/models.h", r"^( *X\(FILTER, NONE, filter, none\)) +\\$", r"\1 X(FILTER, DUMMY, filter, dummy) \\")
    tree.edit("schema/scene.schema.json", r'^( +)"keep_side"', r'\1"keep_side",\n\1"dummy"', 2)
    return ["src/filter/dummy/dummy.c", "src/registry/registry.c"], ["th_filter_dummy_model"]


def add_to_model(tree, text, members):
    """Into the dummy model, which is there or is made."""
    path = "src/filter/dummy/dummy.c"
    if not (tree.folder / path).exists():
        tree.write(path, MODEL)
        tree.touched.remove(path)  # that is the row of a model
    tree.edit(path, r"^const th_model ", text + r"\n\g<0>")
    tree.edit(path, r"^( +\.source = .*)$", r"\1\n" + members)
    tree.touched[:] = dict.fromkeys(tree.touched + [path])
    return [path, path], []


def add_section(tree):
    return add_to_model(tree, SECTION, "    .sections = &section,\n    .section_count = 1,")


def add_field(tree):
    return add_to_model(tree, FIELD, "    .fields = fields,\n    .field_count = 1,")


def add_parameter(tree):
    tree.edit("src/filter/keep_side/keep_side.h", r"^    X\(keep, ",
              r'    X(dummy, 1, 0, 1, "-", "tests/check_additions.py", "nothing") \\\n\g<0>')
    return ["src/filter/keep_side/keep_side.c"] * 2, []


def add_format(tree):
    tree.write("src/record/dummy.c", FORMAT)
    tree.edit("src/record/backend.h", r"^extern const th_trajectory_backend th_text_backend;.*$",
              r"\g<0>\nextern const th_trajectory_backend th_dummy_backend;")
    tree.edit("src/record/trajectory.c", r"^    &th_text_backend,$", r"    &th_dummy_backend,\n\g<0>")
    tree.edit("src/record/trajectory.c", r"^    case TH_TRAJECTORY_TEXT: .*$",
              r"\g<0>\n    case TH_TRAJECTORY_DUMMY: return &th_dummy_backend;")
    tree.edit("include/throng/record.h", r"^#define TH_TRAJECTORY_FORMATS\(X\) +\\$",
              r'\g<0>\n    X(DUMMY, dummy, ".dummy", "nothing") \\')
    return ["src/record/dummy.c", "src/record/trajectory.c"], ["th_dummy_backend"]


def add_trial(tree):
    tree.edit("src/validate/suite_standards.c", r"^static const th_suite_test nist_tests\[\] = \{$",
              TRIAL + r"""\g<0>\n    {"0.1", "Dummy", 'F', "nothing", "tests/check_additions.py", dummy, 1},""")
    tree.write("scenes/verification/dummy.json", (ROOT / "scenes/verification/imo_04_exit_flow.json").read_text(encoding="utf-8"))
    return ["src/validate/suite_standards.c"] * 2, []


def add_figure(tree):
    tree.write("src/report/figure_plan.c", (ROOT / "src/report/figure_plan.c").read_text(encoding="utf-8") + FIGURE)
    tree.edit("src/report/figures.h", r"^( *X\(areas, [^)]*\)) +\\$", r'\1 X(dummy, "Dummy", NULL) \\')
    return ["src/report/figure_plan.c", "src/report/figures.c"], [
        "th_figure_dummy_" + part for part in ("applies", "draw", "caption")]


def add_verb(tree):
    tree.write("cli/dummy.c", VERB)
    tree.edit("cli/args.h", r"X\(validate\)", "X(validate) X(dummy)")
    tree.edit("tests/golden/help.txt", r"^(  experiment )", r"  dummy                  nothing\n\1")
    return ["cli/dummy.c", "cli/main.c"], ["th_command_dummy"]


def add_key(tree):
    tree.edit("include/throng/scene.h", r"^(    int runs; .*)$", r"\1\n    double dummy; // [s] 0 .. 10 default 1")
    tree.edit("src/scene/decode.c", r'"until_empty", "max_time"', '"until_empty", "dummy", "max_time"')
    tree.edit("src/scene/decode.c", r'^( *th_read_number\()(.*), "max_time", &run->max_time\);$',
              r'\g<0>\n\1\2, "dummy", &run->dummy);')
    tree.edit("src/scene/defaults.c", r"\.runs = 1\}", ".runs = 1, .dummy = 1}")
    tree.edit("src/scene/compile.c", r'^    th_at\(c, "run.runs"\);$',
              '    th_at(c, "run.dummy");\n    th_check_range(c, "dummy", def->run.dummy, 0.0, 10.0, "s");\n'
              r"\g<0>")
    tree.edit("schema/scene.schema.json", r'^( +)"until_empty": \{$',
              r'\1"dummy": {"description": "Nothing [s].", "type": "number", "minimum": 0, "maximum": 10},\n\g<0>')
    return ["src/scene/decode.c", "src/scene/compile.c"], []


KINDS = {"behave model": add_model, "figure of the report": add_figure, "verb of the program": add_verb,
         "scene key": add_key, "scene data of a model": add_section, "per-person value of a model": add_field,
         "parameter or preset of a model": add_parameter, "trajectory format": add_format,
         "verification test": add_trial}
# Rows that name a part of the model's own file instead of a path.
WITHIN = {"scene data of a model": ("`sections`", "src/filter/dummy/dummy.c"),
          "per-person value of a model": ("`fields`", "src/filter/dummy/dummy.c"),
          "parameter or preset of a model": ("header", "src/filter/keep_side/keep_side.h")}


def named_paths(kind):
    """The files and folders that the table names for a kind."""
    for line in (ROOT / "docs" / "design.md").read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 2 and cells[0].endswith(kind):
            word, path = WITHIN.get(kind, ("", None))
            if word not in cells[1]:
                raise SystemExit(f"additions: docs/design.md does not name {word} for a {kind}")
            return [path] if path else re.findall(r"`([\w.*]+/[\w./*]*)`", cells[1])
    raise SystemExit(f"additions: docs/design.md has no row for a {kind}")


def matches(path, name):
    return fnmatch.fnmatch(path, name) or name.endswith("/") and path.startswith(name)


def faults_of_table(kind, touched):
    names = named_paths(kind)
    # A model is in one of four folders; the dummy is a filter, and tools/ and tests/ hold what is run, not edited.
    stages = {"src/move/", "src/plan/", "src/behave/", "tools/update-schema"}
    for path in touched:
        if not any(matches(path, name) for name in names):
            yield f"docs/design.md: to add a {kind} {path} is touched, and its row does not say so"
    for name in names:
        if name not in stages and not any(matches(path, name) for path in touched):
            yield f"docs/design.md: the row of a {kind} names {name}, which is not touched"


def compile_unit(tree, unit, flags):
    source = tree.folder / unit if (tree.folder / unit).exists() else ROOT / unit
    result = tree.folder / (unit.replace("/", "_") + ".o")
    subprocess.run([os.environ.get("CC", "cc"), "-std=c17", "-Wall", "-Wextra", "-Werror",
                    "-Wno-format-truncation", "-Wno-unknown-pragmas", "-D_GNU_SOURCE",
                    "-c", str(source), "-o", str(result)]
                   + [f"-I{base / part}" for part in ("include", "src", "") for base in (tree.folder, ROOT)] + flags,
                   check=True)
    return result


def symbols(unit):
    lines = subprocess.run(["nm", str(unit)], check=True, capture_output=True, text=True).stdout.split("\n")
    words = [line.split() for line in lines if line]
    return {word[-1].lstrip("_"): word[-2] for word in words}


def check_kind(kind, add, flags):
    """Adds a dummy in a folder of its own and returns what is wrong."""
    with tempfile.TemporaryDirectory() as name:
        tree = Tree(pathlib.Path(name))
        (holder, user), wanted = add(tree)
        faults = list(faults_of_table(kind, tree.touched))
        made, used = (symbols(compile_unit(tree, unit, flags)) for unit in (holder, user))
        for symbol in wanted:
            if made.get(symbol) not in ("T", "R", "D") or used.get(symbol) != "U":
                faults.append(f"{user} does not know {symbol} of {holder}")
        if "schema/scene.schema.json" in tree.touched:
            json.loads((tree.folder / "schema/scene.schema.json").read_text(encoding="utf-8"))
        print(f"a {kind}: {len(tree.touched)} files ({', '.join(tree.touched)})")
        return faults


def check_built():
    """All additions at once in a copy of the repository: the program knows each of them."""
    with tempfile.TemporaryDirectory() as name:
        copy = pathlib.Path(name) / "throng"
        shutil.copytree(ROOT, copy, ignore=lambda folder, names: {
            name for name in names if name in (".git", "node_modules")
            or pathlib.Path(folder) == ROOT and name.startswith("build")}, symlinks=True)
        tree = Tree(copy)
        for add in KINDS.values():
            add(tree)

        def run(*words):
            done = subprocess.run(words, cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout[-4000:]}")
            return done.stdout

        run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DTH_TESTS=OFF", "-DTH_WERROR=ON")
        run("cmake", "--build", "build", "-j", os.environ.get("JOBS", "2"), "--target", "throng")
        program = "build/throng"
        scene = json.loads(re.sub(r"^\s*//.*$", "", (copy / "scenes/door.json").read_text(encoding="utf-8"), flags=re.M))
        scene.setdefault("run", {}).update({"dummy": 2, "duration": 1})
        scene["groups"][0]["filter"] = "dummy"
        scene["spots"] = [{"area": {"rect": [1, 1, 2, 2]}}]
        (copy / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
        listed = {m["name"]: m for m in json.loads(run(program, "list", "--json"))["models"] if m["stage"] == "filter"}
        if "spots" not in listed.get("dummy", {}).get("sections", {}):
            yield "`throng list` does not show the model and its section"
        if "dummy" not in [p["name"] for p in listed["keep_side"]["parameters"]]:
            yield "`throng list` does not show the parameter"
        run("python3", "tools/update-schema", program)
        if "spots" not in json.loads((copy / "schema/scene.schema.json").read_text(encoding="utf-8"))["properties"]:
            yield "tools/update-schema does not know the section"
        if "Dummy" not in run(program, "validate", "nist", "--only", "0.1", "--out", "none"):
            yield "the suite has no new test"
        run(program, "dummy")
        run(program, "check", "scene.json")
        run(program, "run", "scene.json", "--out", "out")
        if "figure-dummy" not in (copy / "out/report.html").read_text(encoding="utf-8"):
            yield "the report has no figure"


def main():
    if not shutil.which(os.environ.get("CC", "cc")) or not shutil.which("pkg-config"):
        return SKIPPED
    flags = []
    for package in PACKAGES:
        found = subprocess.run(["pkg-config", "--cflags", package], capture_output=True, text=True)
        flags += found.stdout.split()
    faults = [fault for kind, add in KINDS.items() for fault in check_kind(kind, add, flags)]
    if os.environ.get("THRONG_LONG"):
        faults += check_built()
    print("\n".join(faults) if faults else "the table of additions is true")
    return 1 if faults else 0


sys.exit(main())
