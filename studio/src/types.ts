// Types of registry, scene and crowd, from the live server or a recording in the page.
// SPDX-License-Identifier: Apache-2.0
import type { SceneList } from "./tools";

export const STAGES = ["behave", "plan", "filter", "move"] as const;
export type Stage = (typeof STAGES)[number];

export interface Param {
    name: string;
    unit: string;
    min: number;
    max: number;
    value: number;
    source: string;
    doc: string;
}
export interface Preset {
    name: string;
    doc: string;
    values: Record<string, number>;
}
export interface Model {
    stage: Stage;
    name: string;
    doc: string;
    source: string;
    isDefault: boolean;
    params: Param[];
    presets: Preset[];
}
// One value per person that colours can show.
export interface ColourValue {
    name: string;
    label: string;
    unit: string;
    kind: "number" | "category";
    min: number;
    max: number;
    names: string[];
    doc: string;
}
// Levels of service: where a next one begins.
export interface Service {
    name: string;
    source: string;
    bounds: number[];
}
export interface Layer {
    name: string;
    label: string;
    unit: string;
    kind: "map" | "vectors";
    min: number;
    max: number;
    ofTarget: boolean;
    services: Service[];
    doc: string;
}
export interface Template {
    name: string;
    title: string;
    description: string;
}
export interface Registry {
    version: string;
    build: string;
    replay: boolean;
    models: Model[];
    phases: string[];
    templates: Template[];
    sections: SceneList[]; // that models declare
    references: References;
}

// References of the charts: speed [m/s] by density [1/m2], and the density of congestion [1/m2].
export interface References {
    weidmann: [number, number][];
    congestion: number;
}

export type Box = [number, number, number, number];
export type Line = [number, number, number, number];
export type Ring = number[]; // x0, y0, x1, y1, ...
export interface Level {
    id: string;
    z: number;
    rings: Ring[];
    walls: number[];
    box: Box;
}
export interface Door {
    id: string;
    level: number;
    line: Line;
    open: boolean;
    exit: boolean; // of an exit that shuts: no element of the scene's doors
}
export interface Goal {
    id: string;
    level: number;
    kind: "exit" | "waypoint" | "waiting" | "detour";
    line: Line | null;
    rings: Ring[];
}
// An element of a section that a model declares.
export interface SectionItem {
    id: string;
    level: number;
    width: number; // of the ground that belongs to a line [m]
    rings: Ring[]; // of a line its points
}
export interface Zone {
    id: string;
    level: number;
    rings: Ring[];
    stairs: boolean;
    up: number;
    down: number;
    discomfort: number;
}
export interface Link {
    id: string;
    lower: number;
    upper: number;
    line: Line;
    up: [number, number];
}
export interface Choice {
    model: string;
    params: Record<string, number>;
}
export interface Group {
    id: string;
    level: number;
    rings: Ring[];
    count: number;
    rate: number;
    route: number[];
    models: Record<Stage, Choice[]>; // one of a stage, of behave one or more
}
export interface MeasureLine {
    id: string;
    level: number;
    line: Line;
}
export interface MeasureArea {
    id: string;
    level: number;
    rings: Ring[];
}
export interface Target {
    name: string;
    goals: number[];
}
// A picture under the plan, as the scene names it.
export interface UnderlayItem {
    id: string;
    level: number;
    file: string;
    at: [number, number];
    scale: number;
    turn: number;
}
export interface Scene {
    world: number;
    name: string;
    description: string;
    file: string;
    origin: [number, number];
    seed: number;
    step: number;
    box: Box;
    levels: Level[];
    doors: Door[];
    goals: Goal[];
    sections: Record<string, SectionItem[]>; // by list
    targets: Target[];
    zones: Zone[];
    links: Link[];
    groups: Group[];
    underlays: UnderlayItem[];
    lines: MeasureLine[];
    areas: MeasureArea[];
    colours: ColourValue[];
    layers: Layer[];
    document: Record<string, unknown> | null;
}

// As the server says it, about five times a second.
export interface WorldState {
    time: number;
    step: number;
    spawned: number;
    inside: number;
    left: number;
    removed: number;
    waiting_to_enter: number;
    fallen: number;
    unreachable: number;
    done: boolean;
    exits: number[];
    doors: [number, number][];
    doors_open: boolean[];
    lines: [number, number][];
    areas: [number, number][];
    density: number;
    hash?: string;
}
export interface State {
    playing: boolean;
    speed: number;
    steps_per_second: number;
    real_time: number;
    clients: number;
    undo: number;
    redo: number;
    undo_bytes: number;
    rebuild: { text: string; stage: string; seconds: number } | null; // a world that is made beside the crowd
    compare: boolean;
    history: [number, number];
    scrub: number | null;
    duration?: number;
    worlds: WorldState[];
}

export interface People {
    world: number;
    time: number;
    past: boolean;
    count: number;
    total: number;
    kept: number;
    colour: number;
    low: number; // that value 0 and 1 stand for
    high: number;
    x: Float32Array;
    y: Float32Array;
    heading: Float32Array;
    speed: Float32Array;
    value: Float32Array; // number: 0..1 of the colour's range, category: index; NaN: none
    radius: Float32Array;
    level: Uint8Array;
    group: Uint8Array;
    phase: Uint8Array;
    id: Uint32Array;
}
export interface Raster {
    world: number;
    layer: number;
    level: number;
    nx: number;
    ny: number;
    x: number;
    y: number;
    cell: number;
    top: number;
    values: Float32Array; // NaN: nothing
}
export interface Vectors {
    world: number;
    layer: number;
    level: number;
    nx: number;
    ny: number;
    x: number;
    y: number;
    cell: number;
    dx: Float32Array;
    dy: Float32Array;
}
// A mark that a model draws of one person.
export interface Mark {
    what: string;
    points: [number, number][];
    radius?: number;
    label?: string;
    role?: string;
    scale?: string;
    of?: number; // the person it goes with
}
export interface Fact {
    name: string;
    value: number | string;
    unit?: string;
    doc?: string;
    field?: string; // for the edit `person`
}
export interface Inspection {
    world: number;
    person: number;
    gone: boolean;
    level: number;
    place: [number, number];
    facts: Fact[];
    drawing: Mark[];
}
export interface Finding {
    kind: string;
    severity: "note" | "caution" | "danger";
    count: number;
    level: number; // -1: of no place
    place: [number, number] | null; // in the scene's coordinates
    from: number | null;
    to: number | null;
    text: string;
    cure: string;
}
// Time, inside, left, mean speed, jammed, flows of exits, doors and lines, areas, points of density and speed.
export type ChartRow = [
    number,
    number,
    number,
    number,
    number,
    number[],
    number[],
    number[],
    [number, number][],
    [number, number][],
];

export function boxOf(scene: Scene): Box {
    if (scene.box[2] > scene.box[0] && scene.box[3] > scene.box[1]) return scene.box;
    const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const level of scene.levels) {
        if (level.box[2] < level.box[0]) continue;
        box[0] = Math.min(box[0], level.box[0]);
        box[1] = Math.min(box[1], level.box[1]);
        box[2] = Math.max(box[2], level.box[2]);
        box[3] = Math.max(box[3], level.box[3]);
    }
    return box[2] > box[0] ? box : [-10, -10, 10, 10];
}

export function boxOfRings(rings: Ring[]): Box {
    const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const ring of rings)
        for (let k = 0; k + 1 < ring.length; k += 2) {
            box[0] = Math.min(box[0], ring[k]);
            box[1] = Math.min(box[1], ring[k + 1]);
            box[2] = Math.max(box[2], ring[k]);
            box[3] = Math.max(box[3], ring[k + 1]);
        }
    return box;
}

export function insideRings(rings: Ring[], x: number, y: number): boolean {
    let inside = false;
    for (const ring of rings) {
        for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2) {
            if (
                ring[i + 1] > y !== ring[j + 1] > y &&
                x < ((ring[j] - ring[i]) * (y - ring[i + 1])) / (ring[j + 1] - ring[i + 1]) + ring[i]
            )
                inside = !inside;
        }
    }
    return inside;
}

export function distanceToLine(line: ArrayLike<number>, x: number, y: number): number {
    const dx = line[2] - line[0],
        dy = line[3] - line[1];
    const length = dx * dx + dy * dy;
    const t = length > 0 ? Math.min(1, Math.max(0, ((x - line[0]) * dx + (y - line[1]) * dy) / length)) : 0;
    return Math.hypot(x - line[0] - t * dx, y - line[1] - t * dy);
}
