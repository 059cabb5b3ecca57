#!/usr/bin/env python3
"""Every fault in tests/mutants/ still has its place in the sources. SPDX-License-Identifier: Apache-2.0"""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.exit(subprocess.run([sys.executable, str(ROOT / "tools" / "mutants"), "--check"]).returncode)
