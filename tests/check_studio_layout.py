#!/usr/bin/env python3
"""studio/src/layout.ts and docs/data/studio_layout.csv are what src/studio/layout.h says
(`tests/check_studio_layout.py --fix` writes them), and docs/data/studio_messages.csv lists the server's requests and edits.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def printed(kind):
    program = pathlib.Path(os.environ.get("TH_PROGRAM", ROOT / "build/throng")).parent / "tools/studio-layout"
    if not program.exists():
        print(f"{program} is not built")
        sys.exit(77)
    return subprocess.run([program, kind], capture_output=True, text=True, check=True).stdout


def unlisted():
    """Requests and edits that differ between the sources and the list, with whether recordings have them."""
    with open(ROOT / "docs/data/studio_messages.csv", encoding="utf-8") as file:
        listed = {(row["kind"], row["name"], row["recordings"]) for row in csv.DictReader(file)}
    requests = (ROOT / "src/studio/requests.c").read_text(encoding="utf-8")
    there = {("request", name, "yes" if also == "true" else "no")
             for name, also in re.findall(r'\{"([a-z]\w*)", (?:th_)?do_\w+, (true|false), (?:true|false)\}', requests)}
    there |= {("request", name, "yes") for name in ("view", "colour", "layer")}
    edits = (ROOT / "src/studio/edits.c").read_text(encoding="utf-8")
    kinds = re.search(r"kinds\[\] = \{([^}]*)\}", edits).group(1)
    there |= {("edit", name, "no") for name in re.findall(r'"(\w+)"', kinds)}
    return sorted(there ^ {row for row in listed if row[0] in ("request", "edit")})


def main():
    wanted = {ROOT / "studio/src/layout.ts": printed("ts"), ROOT / "docs/data/studio_layout.csv": printed("csv")}
    stale = [path for path, content in wanted.items() if path.read_text(encoding="utf-8") != content]
    for path in stale:
        if "--fix" in sys.argv:
            path.write_text(wanted[path], encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: written")
        else:
            print(f"{path.relative_to(ROOT)} does not agree with src/studio/layout.h; "
                  "tests/check_studio_layout.py --fix writes it")
    wrong = unlisted()
    for kind, name, recordings in wrong:
        print(f"docs/data/studio_messages.csv and src/studio differ: {kind} {name} (recordings: {recordings})")
    return 1 if wrong or stale and "--fix" not in sys.argv else 0


sys.exit(main())
