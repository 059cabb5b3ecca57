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


def names_in(schema):
    """Every list of names in the forms of a model: the name alone, an object with parameters, and lists of these."""
    name, object_form, *lists = schema["oneOf"]
    names = [name["enum"], object_form["properties"]["model"]["enum"]]
    return names + [more for one in lists for more in names_in(one["items"])]


def model_faults(schema, program):
    listed = subprocess.run([program, "list", "--json"], check=True, capture_output=True, text=True)
    models = json.loads(listed.stdout)["models"]
    for model in models:
        for name, section in model["sections"].items():
            if schema["properties"].get(name) != section:
                yield f"schema: {name} is not what {model['name']} declares; write {json.dumps(section)}"
    group = schema["properties"]["groups"]["items"]["properties"]
    for stage in ("behave", "plan", "filter", "move"):
        wanted = [model["name"] for model in models if model["stage"] == stage]
        for names in names_in(group[stage]):
            if sorted(names) != sorted(wanted):
                yield f"schema: groups[].{stage} allows {names}; the program has {wanted}"
        # Parameters are numbers beside the name, so none may be called like a key of the schema.
        for model in models:
            for parameter in model["parameters"]:
                if model["stage"] == stage and parameter["name"] in group[stage]["oneOf"][1]["properties"]:
                    yield f"schema: {stage} {model['name']}: the parameter {parameter['name']} is a key of its own"


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
