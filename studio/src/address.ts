// Keeps the view in the address after '#', so that a reload or a copied address shows the same.
// SPDX-License-Identifier: Apache-2.0
import { readPath, writePath, type Shot } from "./shots";

export interface Shown {
    view: "plan" | "3d";
    colour: string;
    layer: string;
    service: string;
    vectors: string;
    level: number;
    panel: string;
    theme: string;
    levels: string;
    camera: string;
    names: boolean;
    path: Shot[]; // of the camera in 3D
    at: [number, number, number] | null;
}

export const SHOWN: Shown = {
    view: "plan",
    colour: "",
    layer: "",
    service: "",
    vectors: "",
    level: 0,
    panel: "view",
    theme: "",
    levels: "stacked",
    camera: "orbit",
    names: true,
    path: [],
    at: null,
};

export function readAddress(hash: string): Shown {
    const values = new URLSearchParams(hash.replace(/^#/, ""));
    const shown: Shown = { ...SHOWN };
    for (const key of ["colour", "layer", "service", "vectors", "panel", "theme", "levels", "camera"] as const) {
        shown[key] = values.get(key) ?? SHOWN[key];
    }
    shown.view = values.get("view") === "3d" ? "3d" : "plan";
    shown.names = values.get("names") !== "no";
    shown.path = readPath(values.get("path") ?? "");
    const level = Number(values.get("level"));
    shown.level = Number.isInteger(level) && level >= 0 && level < 1000 ? level : 0;
    const at = (values.get("at") ?? "").split(",").map(Number);
    if (at.length === 3 && at.every(Number.isFinite) && at[2] > 0) shown.at = at as [number, number, number];
    return shown;
}

export function writeAddress(shown: Shown): string {
    const values = new URLSearchParams();
    for (const key of [
        "view",
        "colour",
        "layer",
        "service",
        "vectors",
        "panel",
        "theme",
        "levels",
        "camera",
    ] as const) {
        if (shown[key] !== SHOWN[key]) values.set(key, shown[key]);
    }
    if (!shown.names) values.set("names", "no");
    if (shown.path.length > 0) values.set("path", writePath(shown.path));
    if (shown.level > 0) values.set("level", String(shown.level));
    if (shown.at) values.set("at", shown.at.map((v) => Number(v.toPrecision(6))).join(","));
    return `#${values.toString()}`;
}
