// Pure parts of the page: frames, colours, tools, recordings, steps of walkers. SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { readAddress, writeAddress, SHOWN } from "../src/address";
import { thin } from "../src/charts";
import { CATEGORIES, MAPS, roundUp, sample, table, ticks, type Rgb } from "../src/colours";
import { decodeHello, decodePeople, decodeRaster, decodeScene, decodeVectors, frameFault } from "../src/decode";
import { clock, grouped, short, unitText } from "../src/dom";

import { keyName } from "../src/keys";
import * as wire from "../src/layout";
import { LiveLink, type Listener } from "../src/link";
import { frameAt, mapAt, parseMessages, unpack } from "../src/offline";
import { bitsOf, sliderRange } from "../src/panels";
import { pointsNow, roleColours } from "../src/plan";
import { changeOf, faultOf, fieldsOf, renamed, type Field } from "../src/fields";
import { mapShape, moveShape, reshape, shapeHandles, shapePoints, shapeRings, thinned, turned } from "../src/shapes";
import { colourOf, declareSections, LISTS, TOOLS } from "../src/tools";
import { handlesOf, sameThing, snap, snapTo, thingAt } from "../src/things";
import { ANKLE, Gait, TOE } from "../src/gait";
import { turned as turnedBody } from "../src/crowd3d";
import { atTime, readPath, writePath } from "../src/shots";
import { PARTS, lookOf } from "../src/walker";
import { GERMAN } from "../src/german";
import { translator } from "../src/say";
import { webm } from "../src/webm";
import { insideRings } from "../src/types";

function frame(kind: number, count: number, each: number): { data: ArrayBuffer; view: DataView } {
    const data = new ArrayBuffer(wire.Head_SIZE + 32 + each * count),
        view = new DataView(data);
    view.setUint32(wire.Head_OFFSETS.magic, wire.MAGIC, true);
    view.setUint8(wire.Head_OFFSETS.version, wire.VERSION);
    view.setUint8(wire.Head_OFFSETS.kind, kind);
    view.setUint32(wire.Head_OFFSETS.count, count, true);
    view.setFloat64(wire.Head_OFFSETS.time, 12.5, true);
    return { data, view };
}

function onePerson(value: number, valueMax: number): ArrayBuffer {
    const { data, view } = frame(wire.KIND_PEOPLE, 1, wire.Person_SIZE);
    const h = wire.Head_SIZE,
        p = h + wire.PeopleHead_SIZE,
        o = wire.Person_OFFSETS,
        q = wire.PeopleHead_OFFSETS;
    view.setFloat32(h + q.minX, -10, true);
    view.setFloat32(h + q.minY, 5, true);
    view.setFloat32(h + q.stepX, 0.01, true);
    view.setFloat32(h + q.stepY, 0.02, true);
    view.setFloat32(h + q.valueMax, valueMax, true);
    view.setFloat32(h + q.speedMax, 2.55, true);
    view.setUint32(p + o.id, 4000000000, true);
    view.setUint16(p + o.x, 1500, true);
    view.setUint16(p + o.y, 65535, true);
    view.setUint8(p + o.heading, 64);
    view.setUint8(p + o.speed, 100);
    view.setUint8(p + o.value, value);
    view.setUint8(p + o.phase, 4);
    view.setUint8(p + o.level, 2);
    view.setUint8(p + o.radius, 23);
    return data;
}
const near = (a: number, b: number, e = 1e-4): void => assert.ok(Math.abs(a - b) < e, `${a} is not ${b}`);

test("a person is read where the layout has it", () => {
    const data = onePerson(127, 2);
    assert.equal(frameFault(data), null);
    const people = decodePeople(data);
    assert.equal(people.count, 1);
    assert.equal(people.id[0], 4000000000);
    near(people.x[0], 5);
    near(people.y[0], 5 + 0.02 * 65535, 1e-2);
    near(people.heading[0], Math.PI / 2);
    near(people.speed[0], 1);
    near(people.value[0], 0.5);
    near(people.radius[0], 0.23);
    assert.deepEqual([people.phase[0], people.level[0], people.time], [4, 2, 12.5]);
});

test("a category is an index and 255 is no value", () => {
    assert.equal(decodePeople(onePerson(7, 0)).value[0], 7);
    assert.ok(Number.isNaN(decodePeople(onePerson(255, 2)).value[0]));
});

test("frames that cannot be read are named, not read", () => {
    const data = onePerson(1, 1);
    assert.match(frameFault(data.slice(0, 40)) ?? "", /too short/);
    assert.match(frameFault(data.slice(0, data.byteLength - 1)) ?? "", /ends before/);
    new DataView(data).setUint8(wire.Head_OFFSETS.version, 9);
    assert.match(frameFault(data) ?? "", /version 9/);
    new DataView(data).setUint8(0, 0);
    assert.match(frameFault(data) ?? "", /not a frame/);
});

test("maps and vectors keep rows, signs and holes", () => {
    const map = frame(wire.KIND_MAP, 6, 1),
        o = wire.MapHead_OFFSETS,
        h = wire.Head_SIZE;
    map.view.setUint16(h + o.nx, 3, true);
    map.view.setUint16(h + o.ny, 2, true);
    map.view.setFloat32(h + o.valueMin, 1, true);
    map.view.setFloat32(h + o.valueMax, 3, true);
    map.view.setUint8(h + 32 + 4, 127);
    map.view.setUint8(h + 32 + 5, 255);
    const raster = decodeRaster(map.data);
    near(raster.values[0], 1);
    near(raster.values[4], 2);
    assert.ok(Number.isNaN(raster.values[5]));
    const field = frame(wire.KIND_VECTORS, 1, 2);
    field.view.setFloat32(h + o.valueMax, 2, true);
    field.view.setInt8(h + 32, -127);
    const vectors = decodeVectors(field.data);
    near(vectors.dx[0], -2);
    near(vectors.dy[0], 0);
});

test("events with missing members do not break the page", () => {
    assert.deepEqual(decodeHello({}).models, []);
    const scene = decodeScene({
        levels: [
            {
                id: "a",
                rings: [
                    [
                        [0, 0],
                        [1, 0],
                        [1, 1],
                    ],
                ],
                walls: [[0, 0, 1, 0]],
                box: [0, 0, 1, 1],
            },
        ],
        doors: [{}],
    });
    assert.deepEqual(scene.levels[0].rings[0], [0, 0, 1, 0, 1, 1]);
    assert.deepEqual(scene.levels[0].walls, [0, 0, 1, 0]);
    assert.equal(scene.doors[0].open, true);
});

// Colours as eyes without one kind of cones see them (Machado, Oliveira, Fernandes 2009, severity 1, linear RGB), as CIE L*a*b*:
// 2.3 is a difference that can just be noticed.
const EYES: Record<string, number[]> = {
    all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
    protanope: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
    deuteranope: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
    tritanope: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};
function seenBy(m: number[], colour: Rgb): number[] {
    const linear = colour.map((c) => (c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    const [r, g, b] = [0, 3, 6].map((k) =>
        Math.min(1, Math.max(0, m[k] * linear[0] + m[k + 1] * linear[1] + m[k + 2] * linear[2])),
    );
    const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116),
        x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505),
        y = f(0.2126 * r + 0.7152 * g + 0.0722 * b),
        z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const apart = (m: number[], a: Rgb, b: Rgb): number => {
    const [p, q] = [seenBy(m, a), seenBy(m, b)];
    return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
};

test("colours tell values and categories apart for colour-blind eyes", () => {
    for (const [eyes, m] of Object.entries(EYES)) {
        // Lightness alone says which of two values is larger.
        for (const name of ["viridis", "inferno", "heat"]) {
            const colours = Array.from({ length: 21 }, (_, k) => sample(MAPS[name], k / 20)),
                light = colours.map((colour) => seenBy(m, colour)[0]),
                way = Math.sign(light[20] - light[0]);
            for (let k = 1; k <= 20; k++) {
                assert.ok(way * (light[k] - light[k - 1]) > 0, `${name} at ${k}, ${eyes}`);
                assert.ok(apart(m, colours[k], colours[k - 1]) > 2.3, `${name} at ${k}, ${eyes}`);
            }
        }
        // Two hues, lightest in the middle: no value on one side looks like one on the other.
        for (let i = 0; i < 10; i++)
            for (let j = 11; j <= 20; j++) {
                const [a, b] = [sample(MAPS.contrast, i / 20), sample(MAPS.contrast, j / 20)];
                assert.ok(apart(m, a, b) > 12, `contrast ${i} and ${j}, ${eyes}: ${apart(m, a, b)}`);
            }
        for (const [i, a] of CATEGORIES.entries()) {
            for (const floor of ["fbfbf8", "262b31"].map((text) => parseInt(text, 16)))
                assert.ok(
                    apart(m, a, [floor >> 16, (floor >> 8) & 255, floor & 255]) > 25,
                    `${i} on the floor, ${eyes}`,
                );
            for (let j = 0; j < i; j++)
                assert.ok(apart(m, a, CATEGORIES[j]) > 13, `${i} and ${j}, ${eyes}: ${apart(m, a, CATEGORIES[j])}`);
        }
    }
    assert.equal(table(MAPS.viridis).length, 1024);
    assert.deepEqual(sample(MAPS.viridis, NaN), MAPS.viridis[0]);
});

test("a scale without an end ends above what is there", () => {
    assert.deepEqual([0.7, 1, 13, 21, 180, 0, NaN].map(roundUp), [1, 1, 20, 50, 200, 1, 1]);
});

test("ticks are round and inside", () => {
    assert.deepEqual(ticks(0, 2, 5), [0, 0.5, 1, 1.5, 2]);
    assert.deepEqual(ticks(0, 0), [0]);
    for (const t of ticks(-3.7, 812.3)) assert.ok(t >= -3.7 && t <= 812.3);
});

test("numbers read well", () => {
    assert.equal(grouped(1234567), "1\u202f234\u202f567");
    assert.equal(clock(75.25), "1:15.3");
    assert.equal(short(0.12345), "0.123");
    assert.equal(short(NaN), "–");
    assert.equal(unitText("1/m2"), "1/m²");
    assert.equal(unitText("-"), "");
});

test("the address keeps what is shown", () => {
    const shown = {
        ...SHOWN,
        view: "3d" as const,
        colour: "density",
        level: 2,
        names: false,
        at: [1.5, -2, 12] as [number, number, number],
    };
    assert.deepEqual(readAddress(writeAddress(shown)), shown);
    assert.deepEqual(readAddress("#level=-4&at=1,2,x&view=maybe"), SHOWN);
});

test("keys are named by their character", () => {
    assert.equal(keyName({ key: "Z", ctrlKey: true, metaKey: false }), "ctrl+z");
    assert.equal(keyName({ key: "?", ctrlKey: false, metaKey: false }), "?");
    assert.equal(keyName({ key: "PageUp", ctrlKey: false, metaKey: false }), "PageUp");
});

test("the charts' references come from the program", () => {
    const given = decodeHello({
        references: {
            weidmann: [
                [0, 1.34],
                [5.4, 0],
            ],
            congestion: 4.5,
        },
    }).references;
    assert.deepEqual(given, {
        weidmann: [
            [0, 1.34],
            [5.4, 0],
        ],
        congestion: 4.5,
    });
    assert.deepEqual(decodeHello({}).references.weidmann, []);
});

test("long series are thinned and keep their last point", () => {
    const series = { x: Array.from({ length: 1301 }, (_, k) => k), y: Array.from({ length: 1301 }, (_, k) => 2 * k) };
    thin(series);
    assert.ok(series.x.length <= 700);
    assert.equal(series.x[series.x.length - 1], 1300);
    assert.equal(series.y.length, series.x.length);
});

test("sliders have a useful range inside the parameter's", () => {
    const param = { name: "a", unit: "s", min: 0, max: Infinity, value: 2, source: "", doc: "" };
    assert.deepEqual(sliderRange(param), [0, 8]);
    assert.deepEqual(sliderRange({ ...param, max: 10 }), [0, 10]);
    assert.deepEqual(sliderRange({ ...param, max: 1e6 }), [0, 8]);
});

// Where the ball of each foot is in the world, by what the shader is given; null: the foot swings. A person of size 1.
function ballsOf(gait: Gait): ([number, number, number] | null)[] {
    const feet = new Float32Array(4),
        lift = new Float32Array(4),
        yaws = gait.write(feet, lift, 0),
        [c, s] = [Math.cos(gait.heading), Math.sin(gait.heading)];
    return gait.feet.map(({ swings }, k) => {
        if (swings) return null;
        const [x, y, roll, yaw] = [feet[2 * k], feet[2 * k + 1], lift[2 + k], gait.heading + yaws[k]],
            ahead = gait.size * (TOE * Math.cos(roll) - ANKLE * Math.sin(roll)),
            high = gait.size * (lift[k] - ANKLE * Math.cos(roll) - TOE * Math.sin(roll));
        return [
            gait.x + gait.size * (c * x - s * y) + ahead * Math.cos(yaw),
            gait.y + gait.size * (s * x + c * y) + ahead * Math.sin(yaw),
            high,
        ];
    });
}

// The farthest that a foot slides [m] in any step of a way, and the number of steps.
function slideOf(
    way: (t: number) => [number, number, number],
    seconds: number,
    size = 1,
): { worst: number; steps: number } {
    const [x, y, heading] = way(0),
        gait = new Gait(0.3, x, y, 0, heading, size),
        from: ([number, number, number] | null)[] = [null, null];
    let worst = 0,
        steps = 0;
    for (let k = 1; k < 60 * seconds; k++) {
        const [px, py, turn] = way(k / 60);
        gait.step(px, py, 0, turn, 1 / 60);
        ballsOf(gait).forEach((ball, side) => {
            const set = from[side];
            if (ball && set) worst = Math.max(worst, Math.hypot(ball[0] - set[0], ball[1] - set[1]), Math.abs(ball[2]));
            else if (ball) steps++;
            from[side] = ball ? (set ?? ball) : null;
        });
    }
    return { worst, steps };
}

test("no foot on the ground slides by 2 cm in a step, whatever its person does", () => {
    const ways: Record<string, (t: number) => [number, number, number]> = {
        "turns on the spot": (t) => [0, 0, 1.5 * t],
        "walks in a circle": (t) => [Math.cos(1.3 * t), Math.sin(1.3 * t), 1.3 * t + Math.PI / 2],
        "stops and goes": (t) => [1.3 * (2 * Math.floor(t / 4) + Math.min(2, t % 4)), 0, 0],
    };
    for (const v of [0.1, 0.5, 1, 1.34, 1.8, 2.5, 3.5]) ways[`walks or runs at ${v}`] = (t) => [v * t, 0, 0];
    for (const v of [0.2, 0.5, 0.8]) {
        ways[`sidesteps at ${v}`] = (t) => [0, v * t, 0];
        ways[`goes back at ${v}`] = (t) => [-v * t, 0, 0];
    }
    // In a jam: a speed that changes by chance, a body that follows it slowly.
    let seed = 5;
    const chance = (): number => ((seed = (seed * 16807) % 2147483647) / 2147483647 - 0.5) * 2;
    for (const mean of [0, 0.3, 1.2]) {
        const places: [number, number, number][] = [[0, 0, 0]];
        let [vx, vy] = [mean, 0];
        for (let k = 1; k < 3600; k++) {
            vx += (mean - vx) * 0.04 + 0.1 * chance();
            vy += -vy * 0.04 + 0.1 * chance();
            const [x, y, heading] = places[k - 1];
            places.push([x + vx / 60, y + vy / 60, heading + turnedBody(heading, Math.atan2(vy, vx), Math.hypot(vx, vy), 1 / 60)]); // prettier-ignore
        }
        ways[`is pushed about at ${mean}`] = (t) => places[Math.min(3599, Math.round(60 * t))];
    }
    for (const [what, way] of Object.entries(ways))
        for (const size of [1, 0.62]) {
            const { worst, steps } = slideOf(way, 40, size);
            assert.ok(worst < 0.02, `${what}, size ${size}: ${(100 * worst).toFixed(2)} cm`);
            assert.ok(steps > 20, `${what}: ${steps} steps`);
        }
});

test("people look the same for all time, differ from each other, and have the size of their radius", () => {
    const looks = Array.from({ length: 2000 }, (_, id) => lookOf(id, 0.2));
    assert.deepEqual(lookOf(77, 0.2), looks[77]);
    const share = (part: number): number => looks.filter(({ parts }) => (parts & part) !== 0).length / looks.length;
    for (const part of [PARTS.long_hair, PARTS.skirt, PARTS.rucksack, PARTS.case, PARTS.hat, PARTS.old, PARTS.woman])
        assert.ok(share(part) > 0.02 && share(part) < 0.6, `part ${part}: ${share(part)}`);
    assert.ok(new Set(looks.map(({ top }) => top.join())).size >= 20);
    assert.equal(share(PARTS.chair), 0);
    assert.ok((lookOf(5, 0.35).parts & PARTS.chair) !== 0, "the radius of `throng list profiles`");
    assert.ok((lookOf(5, 0.3).parts & PARTS.case) !== 0);
    assert.ok(lookOf(5, 0.14).size < 0.75);
    assert.ok(looks.every(({ size }) => size > 0.85 && size < 1.1));
});

test("a path of the camera goes through its key frames", () => {
    const path = readPath("10,0,0,5,0,9,0;0,1,2,3,4,5,6;20,9,9,9,0,0,0;1,2,3");
    assert.equal(path.length, 3);
    assert.deepEqual(readPath(writePath(path)), path);
    assert.deepEqual(atTime(path, -5), path[0]);
    assert.deepEqual(atTime(path, 99), path[2]);
    near((atTime(path, 10) as number[])[3], 5, 1e-9);
    assert.ok((atTime(path, 5) as number[])[3] > 3 && (atTime(path, 5) as number[])[3] < 5);
    assert.equal(atTime([], 3), null);
    assert.deepEqual(readAddress(writeAddress({ ...SHOWN, path })).path, path);
});

test("a clip is a Matroska file whose elements fill it", () => {
    const data = new Uint8Array([1, 2, 3]),
        file = webm([{ time: 0, key: true, data }, { time: 33, key: false, data }, { time: 67, key: true, data }], "V_VP9", 640, 360, 30); // prettier-ignore
    // id and content of each element; ids of their first byte's length, all lengths in eight bytes.
    const read = (at: number, end: number): [number, Uint8Array][] => {
        const out: [number, Uint8Array][] = [];
        while (at < end) {
            const width = Math.clz32(file[at]) - 23;
            let id = 0,
                size = 0;
            for (let k = 0; k < width; k++) id = id * 256 + file[at++];
            assert.equal(file[at++], 1);
            for (let k = 0; k < 7; k++) size = size * 256 + file[at++];
            out.push([id, file.subarray(at, at + size)]);
            at += size;
        }
        assert.equal(at, end);
        return out;
    };
    const inside = (part: Uint8Array): [number, Uint8Array][] => read(part.byteOffset, part.byteOffset + part.length);
    const [[head], [segment, body]] = read(0, file.length);
    assert.deepEqual([head, segment], [0x1a45dfa3, 0x18538067]);
    const parts = inside(body);
    assert.deepEqual(parts.map(([id]) => id), [0x1549a966, 0x1654ae6b, 0x1f43b675, 0x1f43b675]); // prettier-ignore
    const blocks = parts.slice(2).flatMap(([, cluster]) => inside(cluster).filter(([id]) => id === 0xa3));
    assert.deepEqual(blocks.map(([, block]) => [...block]), [[129, 0, 0, 128, 1, 2, 3], [129, 0, 33, 0, 1, 2, 3], [129, 0, 0, 128, 1, 2, 3]]); // prettier-ignore
});

const SCENE = decodeScene({
    origin: [100, 50],
    levels: [
        {
            id: "g",
            bounded: true,
            rings: [
                [
                    [0, 0],
                    [10, 0],
                    [10, 10],
                    [0, 10],
                ],
            ],
            walls: [
                [0, 0, 10, 0],
                [10, 0, 10, 10],
            ],
            box: [0, 0, 10, 10],
        },
    ],
    doors: [
        {
            id: "d",
            level: 0,
            line: [
                [4, 0],
                [6, 0],
            ],
            open: true,
            exit: false,
        },
    ],
    goals: [
        {
            id: "out",
            kind: "exit",
            level: 0,
            rings: [
                [
                    [8, 8],
                    [10, 8],
                    [10, 10],
                    [8, 10],
                ],
            ],
        },
    ],
    document: {
        levels: [
            {
                walls: [
                    [
                        [100, 55],
                        [105, 55],
                    ],
                ],
                obstacles: { circle: [107, 53, 1] },
            },
        ],
    },
});

test("clicks find things, the document's walls and obstacles", () => {
    assert.equal(thingAt(SCENE, 0, 5, 0.1, 0.5)?.id, "d");
    assert.equal(thingAt(SCENE, 0, 9, 9, 0.5)?.id, "out");
    assert.equal(thingAt(SCENE, 0, 1, 9, 0.5), null);
    const wall = thingAt(SCENE, 0, 2, 5.1, 0.3);
    assert.deepEqual([wall?.what, wall?.key], ["walls", 0]);
    assert.deepEqual(wall && handlesOf(wall, SCENE.origin), [0, 5, 5, 5]);
    assert.equal(wall && sameThing(SCENE, wall)?.what, "walls");
    assert.equal(thingAt(SCENE, 0, 7.2, 3, 0.3)?.what, "obstacles");
    assert.equal(thingAt(SCENE, 0, 1, 1, 0.3), null);
});

test("handles change a shape where they are and nowhere else", () => {
    const rect = { rect: [0, 0, 4, 2] };
    const at = shapeHandles(rect);
    assert.equal(at.length, 8);
    // Every handle taken outwards by 1 m moves its sides and leaves the others.
    at.forEach(([x, y], k) => {
        const dx = x === 0 ? -1 : x === 4 ? 1 : 0,
            dy = y === 0 ? -1 : y === 2 ? 1 : 0;
        assert.deepEqual(reshape(rect, k, x + dx, y + dy), {
            rect: [Math.min(0, dx), Math.min(0, dy), Math.max(4, 4 + dx), Math.max(2, 2 + dy)],
        });
    });
    assert.deepEqual(reshape(rect, 0, 5, 1), { rect: [4, 1, 5, 2] }, "pulled through, it turns over");
    assert.deepEqual(reshape({ circle: [1, 1, 1] }, 0, 4, 1), { circle: [1, 1, 3] });
    assert.deepEqual(
        reshape(
            [
                [0, 0],
                [1, 1],
            ],
            1,
            2,
            3,
        ),
        [
            [0, 0],
            [2, 3],
        ],
    );
    assert.equal(reshape({ file: "hall.wkt" }, 0, 1, 1), null);
});

test("a stroke keeps its corners and loses what lies between", () => {
    assert.deepEqual(
        thinned(
            [
                [0, 0],
                [1, 0.02],
                [2, -0.02],
                [3, 0],
                [3, 1],
                [3.03, 2],
            ],
            0.1,
        ),
        [
            [0, 0],
            [3, 0],
            [3.03, 2],
        ],
    );
});

test("every list of the schema whose elements have a place has a tool, and no two tools share a key", () => {
    assert.ok(["zones", "waypoints", "waiting_areas"].every((l) => LISTS.some(({ list }) => list === l)));
    for (const { list } of LISTS.filter((l) => !["stairs", "doors", "exits", "groups"].includes(l.list)))
        assert.ok(
            TOOLS.some((tool) => tool.list?.list === list),
            list,
        );
    const options = LISTS.find(({ list }) => list === "zones")?.options ?? [];
    assert.deepEqual(
        options.slice(0, 2).map(({ name, kind }) => [name, kind]),
        [
            ["speed", "number"],
            ["discomfort", "number"],
        ],
    );
    assert.equal(new Set(TOOLS.map((tool) => tool.key)).size, TOOLS.length);
});

test("sections that models declare get a tool, a colour and a place on the plan", () => {
    const { sections } = decodeHello({
        sections: [
            {
                list: "walkways",
                item: "walkway",
                model: "walkway",
                doc: "Moving walkways.",
                place: "path",
                key: "line",
                colour: "#123456",
                leads: true,
                required: ["line"],
                options: [{ name: "speed", kind: "number", doc: "Of the belt.", unit: "m/s", usual: "0.65", max: 3 }],
            },
            { list: "rules", item: "rule", model: "rules", doc: "Without a place.", place: "", options: [] },
        ],
    });
    const before = TOOLS.length;
    declareSections(sections);
    const tool = TOOLS.find(({ name }) => name === "walkways");
    assert.equal(TOOLS.length, before + 1);
    assert.deepEqual([tool?.label, tool?.stroke, tool?.list?.options[0].usual], ["Walkway", "path", "0.65"]);
    assert.equal(new Set(TOOLS.map(({ key }) => key)).size, TOOLS.length);
    assert.equal(colourOf("walkways"), "#123456");
    const scene = { ...SCENE, sections: { walkways: [{ id: "belt", level: 0, width: 3, rings: [[5, 3, 8, 3]] }] } };
    const belt = thingAt(scene, 0, 6, 3.05, 0.2);
    assert.deepEqual(
        [belt?.kind, belt?.id, belt?.member, belt?.leads, belt?.width],
        ["walkways", "belt", "line", true, 3],
    );
    declareSections([]);
    assert.equal(TOOLS.length, before);
});

test("a turned rectangle stays one by quarters and becomes a polygon between", () => {
    assert.deepEqual(mapShape({ rect: [0, 0, 4, 2] }, turned([2, 1], 90)), { rect: [1, -1, 3, 3] });
    assert.deepEqual(mapShape({ circle: [3, 1, 0.5] }, turned([2, 1], 180)), { circle: [1, 1, 0.5] });
    const points = shapePoints(mapShape({ rect: [0, 0, 4, 2] }, turned([2, 1], 30))) ?? [];
    assert.equal(points.length, 4);
    near(Math.hypot(points[1][0] - points[0][0], points[1][1] - points[0][1]), 4, 2e-3);
    assert.equal(shapeRings("POLYGON ((0 0, 9 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1))").length, 2);
});

test("the fields of every element come from the schema, with unit, range and default", () => {
    const field = (list: string, name: string): Field | undefined =>
        fieldsOf(list).fields.find((one) => one.name === name);
    const rate = field("groups", "source.rate");
    assert.deepEqual([rate?.kind, rate?.unit, rate?.min], ["number", "1/s", 0]);
    assert.deepEqual([field("zones", "speed")?.max, field("zones", "speed")?.usual], [2, "1"]);
    assert.equal(field("groups", "speed")?.kind, "distribution");
    assert.equal(field("groups", "to")?.kind, "goal");
    assert.equal(field("stairs", "to")?.kind, "level");
    assert.equal(field("run", "step")?.unit, "s");
    assert.deepEqual(fieldsOf("groups").rivals, [
        "count",
        "density",
        "positions",
        "positions_file",
        "source",
        "recording",
    ]);
    for (const list of ["levels", "doors", "exits", "waypoints", "waiting_areas", "lines", "areas"])
        assert.ok(field(list, "id"), list);
    const option = { name: "wait", kind: "number" as const, doc: "", unit: "s", usual: "", choices: [] };
    assert.equal(faultOf({ ...option, min: 0, max: 9 }, 3), "");
    assert.match(faultOf({ ...option, min: 0, max: 9 }, 10), /9 or less/);
});

test("a count takes the place of a source, and a new name goes wherever the old one was", () => {
    const group = { id: "a", source: { rate: 2, until: 9 }, route: ["gate"] };
    assert.deepEqual(changeOf("groups", group, "source.rate", 3), { source: { rate: 3, until: 9 } });
    assert.deepEqual(changeOf("groups", group, "count", 40), { count: 40, source: null });
    assert.deepEqual(changeOf("groups", group, "to", "gate"), { to: "gate", route: null });
    assert.deepEqual(changeOf("zones", { speed: 2 }, "speed", undefined), { speed: null });
    const document = {
        groups: [{ id: "a", to: "gate", level: "gate" }, { route: ["x", ["gate", "y"]] }],
        stairs: [{ to: "gate" }],
        name: "gate",
    };
    assert.deepEqual(
        renamed(document, "exits", "gate", "out").map(({ path }) => path),
        ["/groups/0/to", "/groups/1/route/1/0"],
    );
    assert.deepEqual(
        renamed(document, "levels", "gate", "up").map(({ path }) => path),
        ["/groups/0/level", "/stairs/0/to"],
    );
});

test("a line snaps to angles, a corner to the line of another", () => {
    const on = { walls: false, angles: true, guides: true, grid: 0.1 };
    const turnedTo = snapTo(SCENE, 0, [3.02, 3.0], 0.2, { ...on, guides: false }, [1, 1]).at;
    near(turnedTo[0] - 1, turnedTo[1] - 1, 1e-6);
    const inLine = snapTo(SCENE, 0, [8.04, 4], 0.2, on);
    assert.deepEqual([inLine.at, inLine.guides.length], [[8, 4], 1]);
    assert.deepEqual(snapTo(SCENE, 0, [8.04, 4], 0.2, { ...on, guides: false, grid: 0.5 }).at, [8, 4]);
});

test("strokes snap to wall ends, to walls, to the raster", () => {
    assert.deepEqual(snap(SCENE, 0, 9.9, 0.1, 0.3), [10, 0]);
    assert.deepEqual(snap(SCENE, 0, 4.32, 0.1, 0.3), [4.3, 0]);
    assert.deepEqual(snap(SCENE, 0, 4.32, 4.18, 0.3), [4.3, 4.2]);
});

test("shapes of a scene file move as a whole", () => {
    assert.deepEqual(moveShape({ rect: [0, 0, 2, 1] }, 1, 2), { rect: [1, 2, 3, 3] });
    assert.deepEqual(
        moveShape(
            [
                [0, 0],
                [1, 1],
                [2, 0],
            ],
            1,
            0,
        ),
        [
            [1, 0],
            [2, 1],
            [3, 0],
        ],
    );
    assert.equal(moveShape("POLYGON ((0 0, 1 0, 1 1, 0 0))", 1, 0), "POLYGON ((1 0, 2 0, 2 1, 1 0))");
    assert.equal(moveShape({ file: "hall.wkt" }, 1, 0), null);
    assert.deepEqual(shapePoints({ rect: [1, 1, 2, 2] }), [
        [1, 1],
        [2, 1],
        [2, 2],
        [1, 2],
    ]);
    assert.ok(
        insideRings(
            [
                [0, 0, 4, 0, 4, 4, 0, 4],
                [1, 1, 3, 1, 3, 3, 1, 3],
            ],
            0.5,
            2,
        ),
    );
    assert.ok(
        !insideRings(
            [
                [0, 0, 4, 0, 4, 4, 0, 4],
                [1, 1, 3, 1, 3, 3, 1, 3],
            ],
            2,
            2,
        ),
    );
});

function message(type: number, body: Uint8Array): Uint8Array {
    const out = new Uint8Array(8 + body.length);
    new DataView(out.buffer).setUint32(0, body.length, true);
    out[4] = type;
    out.set(body, 8);
    return out;
}

test("a recording in a file is unpacked, also when it is cut short", async () => {
    const text = (value: unknown): Uint8Array => message(1, new TextEncoder().encode(JSON.stringify(value)));
    const all = [
        text({ event: "hello" }),
        text({ event: "scene", name: "x" }),
        text({ id: 0, ok: true, worlds: [{ rows: [] }] }),
        message(2, new Uint8Array(onePerson(1, 1))),
        message(2, new Uint8Array(onePerson(2, 1))),
    ];
    const joined = new Uint8Array(all.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of all) {
        joined.set(part, at);
        at += part.length;
    }
    const recorded = parseMessages(await unpack(gzipSync(joined).toString("base64")));
    assert.equal(recorded.frames.length, 2);
    assert.equal(recorded.scene.name, "x");
    assert.equal(parseMessages(joined.slice(0, joined.length - 3)).frames.length, 1);
    assert.deepEqual(
        [0, 1, 1.5, 9].map((time) => frameAt([0, 1, 2], time)),
        [0, 1, 1, 2],
    );
});

test("an exported page shows the latest density map of the level", () => {
    const maps = [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
    ].map(([time, level]) => ({ time, level, top: 0, data: new ArrayBuffer(0) }));
    assert.equal(mapAt(maps, 1, 0.9), maps[1]);
    assert.equal(mapAt(maps, 0, 1), maps[2]);
    assert.equal(mapAt(maps, 2, 1), null);
    assert.equal(mapAt(maps, 0, -1), null);
});

test("requests are answered by number, and all of them when the connection is lost", async () => {
    const sent: string[] = [],
        seen: string[] = [];
    const socket = {
        readyState: 1,
        binaryType: "blob" as BinaryType,
        send: (data: unknown) => {
            sent.push(String(data));
        },
        close: () => {},
        onopen: null as (() => void) | null,
        onclose: null as (() => void) | null,
        onmessage: null as ((m: { data: unknown }) => void) | null,
    };
    const listener: Listener = {
        event: (event) => seen.push(String(event.event)),
        people: (people) => seen.push(`${people.count} people`),
        raster: () => {},
        vectors: () => {},
        status: (status) => seen.push(status),
    };
    const link = new LiveLink(listener, () => socket as never);
    const first = link.request("play"),
        second = link.request("hash", { world: 1 });
    assert.deepEqual(JSON.parse(sent[1]), { id: 2, do: "hash", world: 1 });
    socket.onmessage?.({ data: JSON.stringify({ id: 2, ok: true, hash: "ab" }) });
    socket.onmessage?.({ data: JSON.stringify({ event: "state" }) });
    socket.onmessage?.({ data: onePerson(1, 1) });
    assert.equal((await second).hash, "ab");
    const close = setTimeout;
    globalThis.setTimeout = (() => 0) as never; // no reconnect after the test
    socket.onclose?.();
    globalThis.setTimeout = close;
    assert.equal((await first).ok, false);
    assert.deepEqual(seen, ["state", "1 people", "lost"]);
});

test("bits of a field have words", () => {
    assert.deepEqual(bitsOf("bits: 1 knows all, 16 anxious, 512 was told the way"), [
        [1, "knows all"],
        [16, "anxious"],
        [512, "was told the way"],
    ]);
    assert.deepEqual(bitsOf("level, 0 to 1"), []);
    assert.deepEqual(bitsOf(undefined), []);
});

test("marks go with their people, and every role has a colour of its own", () => {
    const drawing = ["way", "drive", "after constraints", "contact with a person", "cohesion and limit"].map((role) => ({
        what: "arrow",
        points: [[1, 2], [3, 4]] as [number, number][],
        role,
        of: 7,
    })); // prettier-ignore
    const inspection = { world: 0, person: 7, gone: false, level: 0, place: [1, 1] as [number, number], facts: [], drawing }; // prettier-ignore
    assert.deepEqual(pointsNow(drawing[0], inspection, [1.5, 1]), [1.5, 2, 3.5, 4]);
    assert.deepEqual(pointsNow(drawing[0], inspection, undefined), [1, 2, 3, 4], "no person to go with");
    const other = { what: "ring", points: [[5, 5]] as [number, number][], of: 8 };
    assert.deepEqual(pointsNow(other, inspection, [6, 5]), [6, 5], "a ring is around the other, wherever it is");
    const plane = { ...drawing[0], what: "half_plane" };
    assert.deepEqual(pointsNow(plane, inspection, [2, 1]).slice(2), [3, 4], "a direction stays");
    assert.equal(new Set([...roleColours(drawing).values()].map(String)).size, drawing.length);
});

// Texts of the sources, as far as they look like sentences or labels; holes as {}.
function textsOf(source: string): string[] {
    const code = source.replace(/^\s*\/\/.*$/gm, "").replace(/\s\/\/ .*$/gm, "").replace(/" \+\s*"/g, ""); // prettier-ignore
    const hole = /\$\{(?:[^{}`]|`[^`]*`|\{[^}]*\})*\}/g,
        literal = /"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.|\$\{(?:[^{}`]|`[^`]*`|\{[^}]*\})*\})*)`/g;
    return [...code.matchAll(literal)]
        .map(([, plain, template]) => (plain ?? template.replace(hole, "{}")).replaceAll("\\`", "`"))
        .filter((text) => {
            const bare = text.replace(/\{\}/g, "").trim(),
                label = /^[A-Z][a-z]{2}/.test(bare) && !/^[A-Z][a-z]+[A-Z]|^(Arrow|Page|Key|Control)/.test(bare);
            return label || (/[a-z]{2,} [A-Za-z(]/.test(bare) && !/[;{}<>=#[\]]|--|px|var\(/.test(bare));
        });
}

test("every text of the page has a German one", () => {
    const german = translator(GERMAN),
        // Class names, names of keys, titles of papers, and halves of texts that are whole in the table.
        excused =
            /^(floating|Esc$|walls and |multiples of |lines with |toast bad|layer top|field place|row array|Home$|Escape$|Enter$|Ctrl |one world$|give |Weidmann 1993|English|Deutsch|Drag (a|along)|\{\} · throng|\{\}: no person follows \{\}|(Narain|Best|Weiss|Pelechano|Cheng)\b)/,
        files = ["app", "controls", "drawing", "editor", "files", "keep", "link", "looks", "main", "offers", "offline", "panels", "plan", "properties", "shots", "toolbar", "tools"]; // prettier-ignore
    const texts = files.flatMap((name) => textsOf(readFileSync(`src/${name}.ts`, "utf8")));
    assert.ok(texts.length > 300, `${texts.length} texts were found`);
    const missing = texts.filter(
        (text) => !excused.test(text) && !Object.hasOwn(GERMAN, text) && german(text) === text,
    );
    assert.deepEqual([...new Set(missing)], []);
    const holes = (text: string): number => text.split("{}").length;
    for (const [from, to] of Object.entries(GERMAN)) assert.equal(holes(from), holes(to), from);
    assert.equal(german("stairs to roof placed"), "Treppe nach roof gesetzt");
    assert.equal(german("Rate: give 0 or more"), "Rate: 0 oder mehr angeben");
    assert.equal(german("People: speed [m/s]"), "Menschen: Tempo [m/s]");
    assert.equal(german("nothing known"), "nothing known");
});
