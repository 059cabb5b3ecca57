#!/usr/bin/env python3
"""studio/src/layout.ts and docs/data/studio_layout.csv are what src/studio/layout.h says.
`tests/check_studio_layout.py --fix` writes them.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def printed(kind):
    program = pathlib.Path(os.environ.get("TH_PROGRAM", ROOT / "build/throng")).parent / "tools/studio-layout"
    if not program.exists():
        print(f"{program} is not built")
        sys.exit(77)
    return subprocess.run([program, kind], capture_output=True, text=True, check=True).stdout


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
    return 1 if stale and "--fix" not in sys.argv else 0


sys.exit(main())
