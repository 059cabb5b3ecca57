#!/usr/bin/env python3
"""Each public header compiles alone, in the languages of those who use it, and its functions are exported and called by tests.

C99, C11 and C++11 with all warnings, by every compiler that is there; and, where clang is one of them, for Windows as
a user of the DLLs, as the build of one, and as a user of the static libraries. SPDX-License-Identifier: Apache-2.0
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = sorted((ROOT / "include" / "throng").glob("*.h"))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wstrict-prototypes"]
LANGUAGES = {"C99": ("c", ["-std=c99"]), "C11": ("c", ["-std=c11"]), "C++11": ("c++", ["-std=c++11"])}
COMPILERS = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}
faults = []


def compiled(command, source, what):
    """Compiles the text; returns what the compiler printed on success."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unit.c"
        path.write_text(source)
        run = subprocess.run([*command, "-I", str(ROOT / "include"), str(path)], capture_output=True, text=True)
    if run.returncode:
        faults.append(f"{what}: {' '.join(command)}\n{run.stderr}")
    return run.stdout


def check_language(name, language, options):
    warnings = WARNINGS if language == "c" else WARNINGS[:-1]
    for compiler in filter(shutil.which, COMPILERS[language]):
        for header in HEADERS:
            # Twice, so that the guard is tested; with a use of what it declares, so that it is not empty.
            text = f"#include <throng/{header.name}>\n#include <throng/{header.name}>\nint unit;\n"
            compiled([compiler, "-x", language, *options, *warnings, "-fsyntax-only"], text, f"{header.name} as {name}")


def declared(header):
    """Functions of a header; every one carries the word that exports it."""
    text = re.sub(r"//[^\n]*|/\*[\s\S]*?\*/|^#(.*\\\n)*.*$", "", header.read_text(), flags=re.M)
    for line in re.findall(r"^(?!typedef|TH_\w*API )[a-z][\w \*]*\b(th_\w+)\(", text, flags=re.M):
        faults.append(f"{header.name}: {line} has no TH_API in front")
    return re.findall(r"^TH_\w*API\s[^;(]*?\b(th_\w+)\(", text, flags=re.M)


def check_plugin_layout():
    """A plugin brings the sizes of all structs that it sees; definitions are for programs, and have cookies."""
    text = {name: (ROOT / "include" / "throng" / f"{name}.h").read_text() for name in ("base", "scene", "scene_view", "world", "model")}
    structs = {name: re.findall(r"^typedef (?:struct|union) (th_\w+) \{", content, flags=re.M) for name, content in text.items()}
    seen = set(structs["base"] + structs["scene_view"] + structs["world"] + structs["model"]) - {"th_allocator", "th_host_threads"}
    seen |= {name for name in structs["scene"] if not name.endswith("_def") and re.search(rf"\b{name}\b", text["scene_view"])}
    listed = set(re.findall(r'X\("(th_\w+)", sizeof', text["model"]))
    for name in sorted(seen - listed):
        faults.append(f"model.h: {name} is not in TH_PLUGIN_LAYOUT")


VALUES = {"th_value_def", "th_item_def", "th_section_def", "th_model_def", "th_weight_def", "th_share_def", "th_recording_def"}  # zeros mean "not given"


def check_promises():
    """The promises of docs/library.md for every header: definitions with a cookie and their defaults, one verb for the end of an object
    and one for that of a file, thread rules."""
    text = {header.name: header.read_text() for header in HEADERS}
    together = "\n".join(text.values())
    for name, content in text.items():
        if name != "throng.h" and not re.search(r"^// .*\b(Threads:|no thread rules)", content, flags=re.M):
            faults.append(f"{name}: no word about threads")
    for name, members in re.findall(r"^typedef struct (th_\w+_def) \{(.*?)^\}", together, flags=re.M | re.S):
        if name in VALUES:
            continue
        if not re.match(r"\s*uint32_t cookie;", members):
            faults.append(f"{name} does not begin with a cookie")
        if f" {name}_default(" not in together:
            faults.append(f"{name} has no {name}_default")
    for function in functions:
        if re.search(r"\w_(release|finish|free|clear|end|delete|drop)$", function.removeprefix("th_")):
            faults.append(f"{function}: an object ends with _destroy, a file with _close, a text with th_free")


def check_tested():
    """Each function is called by a test in C, not only by a program that some test runs."""
    calls = "\n".join(re.sub(r"//[^\n]*", "", test.read_text()) for test in sorted((ROOT / "tests").glob("*.[ch]")))
    for function in functions:
        if not re.search(rf"\b{function}\b", calls):
            faults.append(f"{function}: no test in tests/*.c calls it")


def check_windows():
    if not shutil.which("clang"):
        return
    base = ["clang", "--target=x86_64-pc-windows-msvc", "-ffreestanding", "-x", "c", "-std=c11", "-S", "-emit-llvm", "-o", "-"]
    text = "#include <throng/throng.h>\nconst char *use(void) { return th_version(); }\n"
    made = "#include <throng/throng.h>\nconst char *th_version(void) { return TH_VERSION; }\n"
    for define, source, wanted in (("TH_SHARED", text, r"declare dllimport .*@th_version"),
                                   ("TH_BUILDING_ENGINE", made, r"define .*dllexport .*@th_version"),
                                   ("TH_STATIC", text, r"declare (?!dllimport).*@th_version")):
        if not re.search(wanted, compiled([*base, f"-D{define}"], source, f"Windows with {define}")):
            faults.append(f"Windows with {define}: th_version is not as {wanted}")


for name, (language, options) in LANGUAGES.items():
    check_language(name, language, options)
functions = [name for header in HEADERS for name in declared(header)]
if len(functions) < 100 or len(set(functions)) != len(functions):
    faults.append(f"{len(functions)} public functions, {len(set(functions))} different ones: the headers read wrongly")
check_plugin_layout()
check_promises()
check_tested()
check_windows()
print("\n".join(faults) or f"{len(HEADERS)} headers, {len(functions)} functions")
sys.exit(bool(faults))
