// The keys of the elements of a scene: from the schema of scene files (build.mjs), and of sections that models declare
// from the server's hello. SPDX-License-Identifier: Apache-2.0
import type { Json } from "./decode";
import { LISTS } from "./tools";

export type FieldKind =
    "number" | "integer" | "text" | "goal" | "goals" | "choice" | "flag" | "level" | "group" | "distribution";

export interface Field {
    name: string; // "source.rate": rate of the member source
    kind: FieldKind;
    doc: string;
    unit: string;
    usual: string; // the default, in words
    choices: string[];
    min: number | null;
    max: number | null;
}
export interface Fields {
    fields: Field[];
    rivals: string[]; // members of which an element has exactly one
    required: string[];
}
declare const SCENE_FIELDS: Record<string, Fields>;

export function fieldsOf(list: string): Fields {
    const known = SCENE_FIELDS[list];
    if (known) return known;
    const declared = LISTS.find((one) => one.list === list);
    if (!declared) return { fields: [], rivals: [], required: [] };
    return {
        fields: declared.options.map((option) => ({ min: null, ...option })),
        rivals: [],
        required: declared.required,
    };
}

export function valueOf(element: Json, name: string): unknown {
    return name.split(".").reduce<unknown>((at, part) => (at as Json | undefined)?.[part], element);
}

// The members that change when a field gets a value; undefined takes it away. A rival takes the others' place.
export function changeOf(list: string, element: Json, name: string, value: unknown): Json {
    const [member, part] = name.split("."),
        { rivals } = fieldsOf(list),
        out: Json = {};
    if (part === undefined) out[member] = value === undefined ? null : value;
    else {
        const rest: Json = { ...((element[member] as Json | undefined) ?? {}) };
        if (value === undefined) delete rest[part];
        else rest[part] = value;
        out[member] = rest;
    }
    if (rivals.includes(member) && value !== undefined)
        for (const other of rivals) if (other !== member && element[other] !== undefined) out[other] = null;
    const twin = { to: "route", route: "to" }[member]; // a short form of the other
    if (twin && value !== undefined && element[twin] !== undefined) out[twin] = null;
    return out;
}

// A number typed for a field: what is wrong with it, or "".
export function faultOf(field: Field, value: number): string {
    if (!Number.isFinite(value)) return "give a number";
    if (field.kind === "integer" && !Number.isInteger(value)) return "give a whole number";
    if (field.min !== null && value < field.min) return `give ${field.min} or more`;
    if (field.max !== null && value > field.max) return `give ${field.max} or less`;
    return "";
}

const KEYS: Record<string, string> = { to: "goal", route: "goal", level: "levels", leader: "groups" };

// JSON patch that gives an element another id wherever the document names it. `what` is its list.
export function renamed(document: Json, what: string, from: string, to: string): Json[] {
    const out: Json[] = [],
        isGoal = !["levels", "groups", "lines", "areas", "doors", "zones", "stairs"].includes(what);
    const meant = (key: string, path: string): boolean => {
        const kind = key === "to" && path.startsWith("/stairs/") ? "levels" : KEYS[key];
        return kind === what || (kind === "goal" && isGoal);
    };
    const walk = (value: unknown, path: string, key: string): void => {
        if (typeof value === "string" && value === from && meant(key, path))
            out.push({ op: "replace", path, value: to });
        else if (Array.isArray(value)) value.forEach((item, k) => walk(item, `${path}/${k}`, key));
        else if (value !== null && typeof value === "object")
            for (const [name, item] of Object.entries(value))
                walk(item, `${path}/${name.replace(/~/g, "~0").replace(/\//g, "~1")}`, name);
    };
    walk(document, "", "");
    return out;
}
