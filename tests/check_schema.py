#!/usr/bin/env python3
"""Every shipped scene obeys the published JSON Schema and broken ones do not, judged by a validator that is
not ours. The schema names the models that the program has.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77  # what ctest takes for "not run"

# A string, or a comment: strings are kept so that "http://..." is not taken for one.
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(text):
    return STRING_OR_COMMENT.sub(lambda m: m[0] if m[0].startswith('"') else " ", text)


def faults_in(path, validator):
    scene = json.loads(without_comments(path.read_text(encoding="utf-8")))
    for error in validator.iter_errors(scene):
        yield f"{path.relative_to(ROOT)}: {error.json_path}: {error.message}"


def model_faults(schema, program):
    """The schema is what the models declare; and no parameter is called like a key beside it."""
    stale = subprocess.run([ROOT / "tools" / "update-schema", program, "--check"], capture_output=True, text=True)
    yield from (stale.stdout + stale.stderr).splitlines()
    listed = subprocess.run([program, "list", "--json"], check=True, capture_output=True, text=True)
    group = schema["properties"]["groups"]["items"]["properties"]
    for model in json.loads(listed.stdout)["models"]:
        keys = group[model["stage"]]["oneOf"][1]["properties"]
        for parameter in model["parameters"]:
            if parameter["name"] in keys:
                yield f"schema: {model['name']}: the parameter {parameter['name']} is a key of its own"
    for word in schema["properties"]["record"]["properties"]["format"]["enum"]:
        done = subprocess.run([program, "check", ROOT / "scenes" / "door.json", "--set", f"record.format={word}"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            yield f"schema: record.format {word}: {done.stderr.strip()}"


def main():
    schema = json.loads((ROOT / "schema" / "scene.schema.json").read_text(encoding="utf-8"))
    program = os.environ.get("TH_PROGRAM")
    if program:
        faults = list(model_faults(schema, program))
        if faults:
            print("\n".join(faults))
            return 1
    try:
        import jsonschema
    except ImportError:
        print("schema: skipped, the Python module jsonschema is not installed")
        return SKIPPED
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    scenes = sorted((ROOT / "scenes").rglob("*.json"))
    faults = [fault for scene in scenes for fault in faults_in(scene, kind(schema))]
    data = ROOT / "tests" / "data" / "scene"
    good = sorted((data / "good").glob("*.json"))
    broken = sorted((data / "bad").glob("*.json"))
    faults += [fault for scene in good for fault in faults_in(scene, kind(schema))]
    faults += [f"{scene.relative_to(ROOT)}: broken, but the schema does not mind"
               for scene in broken if not any(faults_in(scene, kind(schema)))]
    print("\n".join(faults) if faults
          else f"schema: {len(scenes) + len(good)} scenes obey it, {len(broken)} broken ones do not")
    return 1 if faults or not scenes or not good or not broken else 0


sys.exit(main())
