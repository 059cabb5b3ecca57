// What a plan needs of an IFC file, as JSON: walls cut 1.1 m above each storey, openings, doors, columns and the triangles of
// stairs. throng runs this with Node: node -e SCRIPT FILE [FOLDER...], where the folders may hold the npm package web-ifc.
// Exit codes: 3 there is no web-ifc, 4 the file cannot be read; stderr says why. SPDX-License-Identifier: Apache-2.0
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const zlib = require("node:zlib");
const { createRequire } = require("node:module");

const CUT = 1.1; // [m] above the floor: over most sills and furniture, below the heads of doors
const CUT_RAILING = 0.5; // [m]
const NEAR_FLOOR = 0.7; // [m] a door or a flight this far from a storey's floor belongs to it
const LOOSE = 1e-4; // [m] closer points are one

function stop(code, why) {
    process.stderr.write(`${why}\n`);
    process.exit(code);
}

function packageFrom(folders) {
    const prefix = path.resolve(path.dirname(process.execPath), "..");
    const common = [process.cwd(), prefix + "/lib", "/usr/local/lib", "/usr/lib", "/usr/share/nodejs"];
    for (const folder of [...(process.env.NODE_PATH ?? "").split(path.delimiter), ...folders, ...common]) {
        if (!folder) continue;
        for (const at of [folder, path.join(folder, "node_modules")]) {
            const name = path.join(at, "web-ifc");
            if (fs.existsSync(path.join(name, "package.json"))) return createRequire(path.join(name, "x.js"))(name);
        }
    }
    return null;
}

let ifc, api, model;
const idsOf = (type) => {
    if (ifc[type] === undefined) return [];
    const list = api.GetLineIDsWithType(model, ifc[type]);
    return Array.from({ length: list.size() }, (_, k) => list.get(k));
};
const line = (id) => {
    try {
        return api.GetLine(model, id);
    } catch {
        return null;
    }
};
const refer = (value) => (value && value.value !== undefined ? line(value.value) : value);
const text = (value) => (typeof value?.value === "string" ? value.value : "");
const number = (value) => (Number.isFinite(Number(value?.value)) ? Number(value.value) : 0);

// The file's unit of length [m].
function lengthUnit() {
    const prefixes = { MILLI: 1e-3, CENTI: 1e-2, DECI: 0.1, KILO: 1e3 };
    const si = (unit) => prefixes[unit?.Prefix?.value] ?? 1;
    for (const id of idsOf("IFCUNITASSIGNMENT"))
        for (const handle of line(id)?.Units ?? []) {
            const unit = refer(handle);
            if (unit?.UnitType?.value !== "LENGTHUNIT") continue;
            const factor = refer(unit.ConversionFactor);
            return factor ? number(factor.ValueComponent) * si(refer(factor.UnitComponent)) : si(unit);
        }
    return 1;
}

// How high an object's placement lies, in the file's unit: storeys stand upright.
function heightOf(handle) {
    let height = 0;
    for (let placement = refer(handle), depth = 0; placement && depth < 20; ++depth) {
        const location = refer(refer(placement.RelativePlacement)?.Location);
        height += number(location?.Coordinates?.[2]);
        placement = refer(placement.PlacementRelTo);
    }
    return height;
}

// Triangles of an element: x east, y north, z up, nine numbers each.
function trianglesOf(id) {
    const out = [];
    api.StreamMeshes(model, [id], (mesh) => {
        for (let g = 0; g < mesh.geometries.size(); ++g) {
            const placed = mesh.geometries.get(g);
            const m = placed.flatTransformation;
            const geometry = api.GetGeometry(model, placed.geometryExpressID);
            const v = api.GetVertexArray(geometry.GetVertexData(), geometry.GetVertexDataSize());
            const index = api.GetIndexArray(geometry.GetIndexData(), geometry.GetIndexDataSize());
            for (const k of index) {
                const x = v[6 * k], y = v[6 * k + 1], z = v[6 * k + 2];
                out.push(m[0] * x + m[4] * y + m[8] * z + m[12]);
                out.push(-(m[2] * x + m[6] * y + m[10] * z + m[14]));
                out.push(m[1] * x + m[5] * y + m[9] * z + m[13]);
            }
            geometry.delete();
        }
    });
    return out.every(Number.isFinite) ? out : [];
}

function heights(triangles) {
    let low = Infinity, high = -Infinity;
    for (let k = 2; k < triangles.length; k += 3) {
        low = Math.min(low, triangles[k]);
        high = Math.max(high, triangles[k]);
    }
    return [low, high];
}

// Where the triangles meet the level z: pieces of two points.
function cut(triangles, z) {
    const pieces = [];
    for (let t = 0; t + 8 < triangles.length; t += 9) {
        const ends = [];
        for (let e = 0; e < 3; ++e) {
            const a = t + 3 * e, b = t + 3 * ((e + 1) % 3);
            if (triangles[a + 2] < z === triangles[b + 2] < z) continue;
            const s = (z - triangles[a + 2]) / (triangles[b + 2] - triangles[a + 2]);
            ends.push([0, 1].map((i) => triangles[a + i] + s * (triangles[b + i] - triangles[a + i])));
        }
        if (ends.length === 2 && Math.hypot(ends[0][0] - ends[1][0], ends[0][1] - ends[1][1]) > LOOSE) pieces.push(ends);
    }
    return pieces;
}

const straight = (a, b, c) => {
    const turn = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
    const on = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]);
    return on > 0 && Math.abs(turn) <= LOOSE * Math.hypot(c[0] - a[0], c[1] - a[1]);
};

// Pieces joined end to end: rings where they close, without points on straight lines.
function chains(pieces) {
    const key = (p) => `${Math.round(p[0] / LOOSE)} ${Math.round(p[1] / LOOSE)}`;
    const at = new Map();
    pieces.forEach((piece, k) =>
        piece.forEach((p) => {
            if (!at.has(key(p))) at.set(key(p), []);
            at.get(key(p)).push(k);
        }),
    );
    const used = new Set();
    const follow = (from) => {
        for (const k of at.get(key(from)) ?? []) {
            if (used.has(k)) continue;
            used.add(k);
            return key(pieces[k][0]) === key(from) ? pieces[k][1] : pieces[k][0];
        }
        return null;
    };
    const out = [];
    pieces.forEach((piece, k) => {
        if (used.has(k)) return;
        used.add(k);
        const list = [...piece];
        for (let next = follow(list.at(-1)); next; next = follow(list.at(-1))) list.push(next);
        for (let next = follow(list[0]); next; next = follow(list[0])) list.unshift(next);
        const closed = list.length > 3 && key(list[0]) === key(list.at(-1));
        if (closed) list.pop();
        const count = list.length;
        const kept = list.filter((p, i) => {
            if (!closed && (i === 0 || i === count - 1)) return true;
            return !straight(list[(i + count - 1) % count], p, list[(i + 1) % count]);
        });
        if (kept.length >= (closed ? 3 : 2)) out.push({ closed, points: kept });
    });
    return out;
}

// Thin posts of a railing as one line where they stand in a row.
function posts(list) {
    const middle = ({ points }) => [0, 1].map((i) => points.reduce((sum, p) => sum + p[i], 0) / points.length);
    const thin = ({ points }) => {
        const m = middle({ points });
        return points.every((p) => Math.hypot(p[0] - m[0], p[1] - m[1]) < 0.1);
    };
    const at = list.filter(thin).map(middle);
    const out = list.filter((chain) => !thin(chain));
    const r = at.length > 1 ? rectangle(at) : null;
    if (!r) return out;
    const u = r.long >= r.wide ? r.u : [-r.u[1], r.u[0]];
    at.sort((a, b) => (a[0] - b[0]) * u[0] + (a[1] - b[1]) * u[1]);
    let row = [];
    for (const p of [...at, null]) {
        if (p && (row.length === 0 || Math.hypot(p[0] - row.at(-1)[0], p[1] - row.at(-1)[1]) < 0.3)) {
            row.push(p);
            continue;
        }
        const kept = row.filter((q, i) => i === 0 || i === row.length - 1 || !straight(row[i - 1], q, row[i + 1]));
        if (kept.length > 1) out.push({ closed: false, points: kept });
        row = p ? [p] : [];
    }
    return out;
}

// The smallest rectangle around points: middle, direction of the first side, both extents.
function rectangle(points) {
    let best = null;
    for (let k = 0; k + 1 < points.length && k < 300; ++k) {
        const dx = points[k + 1][0] - points[k][0], dy = points[k + 1][1] - points[k][1];
        const length = Math.hypot(dx, dy);
        if (length < 0.02) continue;
        const u = [dx / length, dy / length];
        const along = points.map((p) => p[0] * u[0] + p[1] * u[1]);
        const across = points.map((p) => p[1] * u[0] - p[0] * u[1]);
        const range = (list) => [Math.min(...list), Math.max(...list)];
        const [a0, a1] = range(along), [c0, c1] = range(across);
        const area = (a1 - a0) * (c1 - c0);
        if (best && best.area <= area) continue;
        const a = (a0 + a1) / 2, c = (c0 + c1) / 2;
        best = { area, u, long: a1 - a0, wide: c1 - c0, middle: [a * u[0] - c * u[1], a * u[1] + c * u[0]] };
    }
    return best;
}

function pointsOf(triangles) {
    const out = [];
    for (let k = 0; k + 2 < triangles.length; k += 3) out.push([triangles[k], triangles[k + 1]]);
    return out.slice(0, 3000);
}

const corners = (r) =>
    [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, c]) => [
        r.middle[0] + (a * r.long * r.u[0] - c * r.wide * r.u[1]) / 2,
        r.middle[1] + (a * r.long * r.u[1] + c * r.wide * r.u[0]) / 2,
    ]);

// A door's line, along the wall through the middle of its opening.
function doorLine(r, width) {
    const first = width > 0 ? Math.abs(r.long - width) <= Math.abs(r.wide - width) : r.long >= r.wide;
    const half = (first ? r.long : r.wide) / 2;
    const u = first ? r.u : [-r.u[1], r.u[0]];
    return [-1, 1].map((side) => [r.middle[0] + side * half * u[0], r.middle[1] + side * half * u[1]]);
}

function storeys(unit) {
    const list = idsOf("IFCBUILDINGSTOREY").map((id) => {
        const storey = line(id);
        const z = storey?.ObjectPlacement ? heightOf(storey.ObjectPlacement) : number(storey?.Elevation);
        return { name: text(storey?.Name) || text(storey?.LongName) || "storey", z: z * unit };
    });
    list.sort((a, b) => a.z - b.z);
    const seen = new Set();
    for (const storey of list) {
        const stem = storey.name.replace(/[@\p{C}]/gu, " ").trim().slice(0, 40) || "storey";
        storey.name = stem;
        for (let k = 2; seen.has(storey.name); ++k) storey.name = `${stem} ${k}`;
        seen.add(storey.name);
        storey.used = false;
    }
    return list;
}

const nearest = (list, z) => {
    let best = null;
    for (const storey of list) if (!best || Math.abs(storey.z - z) < Math.abs(best.z - z)) best = storey;
    return best && Math.abs(best.z - z) <= NEAR_FLOOR ? best : null;
};

// The flights and landings of each stair, of those that are in no stair a stair each.
function flights() {
    const parts = new Map();
    const inStair = new Set();
    const of = ["IFCSTAIR", "IFCRAMP"].flatMap(idsOf);
    for (const id of of) parts.set(id, [id]);
    for (const id of idsOf("IFCRELAGGREGATES")) {
        const relation = line(id);
        const whole = relation?.RelatingObject?.value;
        if (!parts.has(whole)) continue;
        for (const part of relation.RelatedObjects ?? []) {
            const type = line(part.value)?.type;
            if (![ifc.IFCSTAIRFLIGHT, ifc.IFCRAMPFLIGHT, ifc.IFCSLAB].includes(type)) continue;
            parts.get(whole).push(part.value);
            inStair.add(part.value);
        }
    }
    for (const id of ["IFCSTAIRFLIGHT", "IFCRAMPFLIGHT"].flatMap(idsOf)) if (!inStair.has(id)) parts.set(id, [id]);
    return [...parts.values()].map((ids) => ids.map(trianglesOf).filter((list) => list.length)).filter((list) => list.length);
}

const between = (triangles, low, high) => {
    const out = [];
    for (let t = 0; t + 8 < triangles.length; t += 9) {
        const z = (triangles[t + 2] + triangles[t + 5] + triangles[t + 8]) / 3;
        if (z > low - 0.05 && z < high + 0.05) for (let k = 0; k < 9; ++k) out.push(Math.round(triangles[t + k] * 1e5) / 1e5);
    }
    return out;
};

function takeStairs(levels) {
    const out = [];
    let odd = 0;
    for (const parts of flights()) {
        const [low, high] = heights(parts.flat());
        const from = nearest(levels, low), to = nearest(levels, high);
        if (!from || !to || from === to) {
            ++odd;
            continue;
        }
        for (let k = levels.indexOf(from); k < levels.indexOf(to); ++k) {
            const list = parts.map((part) => between(part, levels[k].z, levels[k + 1].z)).filter((part) => part.length);
            if (list.length) out.push({ from: levels[k].name, to: levels[k + 1].name, flights: list });
            levels[k].used = levels[k + 1].used = true;
        }
    }
    return { stairs: out, odd };
}

function takePlan() {
    const unit = lengthUnit();
    const paths = [];
    const leftOut = {};
    const add = (layer, level, closed, points, name = "") =>
        paths.push([`${layer}@${level.name}`, closed, points.flat().map((x) => Math.round(x * 1e5) / 1e5), name]);

    let levels = storeys(unit);
    if (!levels.length) stop(4, "the file has no storeys (IfcBuildingStorey)");
    const doors = [];
    const openingOf = new Map();
    for (const id of idsOf("IFCRELFILLSELEMENT")) {
        const relation = line(id);
        openingOf.set(relation?.RelatedBuildingElement?.value, relation?.RelatingOpeningElement?.value);
    }
    const footprint = (id) => {
        const opening = openingOf.get(id);
        const triangles = opening === undefined ? [] : trianglesOf(opening);
        const all = triangles.length ? triangles : trianglesOf(id);
        return all.length ? { r: rectangle(pointsOf(all)), heights: heights(all) } : null;
    };
    for (const id of ["IFCDOOR", "IFCDOORSTANDARDCASE"].flatMap(idsOf)) {
        const found = footprint(id);
        const storey = found && nearest(levels, found.heights[0]);
        if (!storey || !found.r) {
            leftOut["doors between storeys"] = (leftOut["doors between storeys"] ?? 0) + 1;
            continue;
        }
        storey.used = true;
        doors.push([storey, doorLine(found.r, number(line(id)?.OverallWidth) * unit)]);
    }
    const { stairs, odd } = takeStairs(levels);
    if (odd) leftOut["stairs that join no two storeys"] = odd;
    for (const storey of levels) if (!storey.used) leftOut[`storey ${storey.name}: no doors or stairs`] = 1;
    levels = levels.filter((storey) => storey.used);
    if (!levels.length) stop(4, "no storey has a door or stairs; there is no way to go");

    for (const [storey, ends] of doors) add("doors", storey, false, ends);
    const slice = (types, layer, height) => {
        for (const id of types.flatMap(idsOf)) {
            const triangles = trianglesOf(id);
            const [low, high] = heights(triangles);
            for (const storey of levels)
                if (low < storey.z + height && high > storey.z + height)
                    for (const chain of chains(cut(triangles, storey.z + height))) add(layer, storey, chain.closed, chain.points);
        }
    };
    slice(["IFCWALL", "IFCWALLSTANDARDCASE", "IFCWALLELEMENTEDCASE", "IFCCURTAINWALL", "IFCPLATE", "IFCMEMBER"], "walls", CUT);
    slice(["IFCCOLUMN", "IFCCOLUMNSTANDARDCASE"], "columns", CUT);
    // Rooms, as large as they are where the walls are cut.
    for (const id of idsOf("IFCSPACE")) {
        const space = line(id), triangles = trianglesOf(id);
        const name = [text(space?.Name), text(space?.LongName)].filter(Boolean).join(" ").replace(/\p{C}/gu, " ").slice(0, 60);
        const storey = triangles.length ? nearest(levels, heights(triangles)[0]) : null;
        const rings = storey ? chains(cut(triangles, storey.z + CUT)).filter(({ closed }) => closed) : [];
        if (!rings.length) leftOut["spaces off the storeys, or too low"] = (leftOut["spaces off the storeys, or too low"] ?? 0) + 1;
        for (const ring of rings) add("IfcSpace", storey, true, ring.points, name);
    }
    for (const id of idsOf("IFCRAILING")) {
        const triangles = trianglesOf(id);
        for (const storey of levels)
            for (const chain of posts(chains(cut(triangles, storey.z + CUT_RAILING)))) add("railings", storey, chain.closed, chain.points);
    }
    for (const id of ["IFCWINDOW", "IFCWINDOWSTANDARDCASE"].flatMap(idsOf)) {
        const found = footprint(id);
        for (const storey of levels)
            if (found?.r && found.heights[0] < storey.z + CUT && found.heights[1] > storey.z + CUT)
                add("windows in walls", storey, true, corners(found.r));
    }
    for (const id of ["IFCFURNISHINGELEMENT", "IFCFURNITURE"].flatMap(idsOf)) {
        const triangles = trianglesOf(id);
        const storey = triangles.length ? nearest(levels, heights(triangles)[0]) : null;
        const r = storey && rectangle(pointsOf(triangles));
        if (r) add("furniture", storey, true, corners(r));
    }
    return { schema: api.GetModelSchema(model), levels: levels.map(({ name, z }) => ({ name, z })), paths, stairs, left_out: leftOut };
}

async function main() {
    const [file, ...folders] = process.argv.slice(1);
    ifc = packageFrom(folders);
    if (!ifc) stop(3, "no web-ifc");
    console.log = console.warn = console.error = () => {};
    api = new ifc.IfcAPI();
    await api.Init();
    api.SetLogLevel(ifc.LogLevel?.LOG_LEVEL_OFF ?? 6);
    try {
        let bytes = fs.readFileSync(file);
        if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = zlib.gunzipSync(bytes, { maxOutputLength: 2 ** 30 });
        if (!bytes.subarray(0, 2000).includes("ISO-10303-21")) stop(4, "it does not begin with ISO-10303-21; is it an IFC file?");
        model = api.OpenModel(new Uint8Array(bytes), { COORDINATE_TO_ORIGIN: false });
        if (model < 0) stop(4, "web-ifc cannot open it: neither IFC 2x3 nor IFC 4");
        const plan = JSON.stringify(takePlan());
        for (let at = 0, out = Buffer.from(plan); at < out.length; ) at += fs.writeSync(1, out, at);
    } catch (error) {
        stop(4, `web-ifc failed: ${String(error?.message ?? error).split("\n")[0].slice(0, 200)}`);
    }
    process.exit(0);
}
main();
