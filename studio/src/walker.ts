// People in 3D: one procedural mesh per distance whose bones the vertex shader poses, with what some of them wear and carry;
// docs/film.md says how to take another body. The steps are those of gait.ts. SPDX-License-Identifier: Apache-2.0
import * as THREE from "three";
import { ANKLE, HIP, KNEE, SIDE } from "./gait";
import type { Rgb } from "./colours";

// What some bodies have: bits of Look.parts.
export const PARTS = {
    long_hair: 1,
    skirt: 2,
    rucksack: 4,
    case: 8,
    chair: 16,
    hat: 32,
    short_sleeves: 64,
    bag: 128,
    woman: 256,
    old: 512,
};

// How a person looks, the same for all time: from its id, and from its radius, which tells children, people with
// luggage and wheelchairs apart (`throng list profiles`).
export interface Look {
    seed: number; // 0 .. 1: skin, hair, trousers
    size: number; // 1: 1.75 m tall
    girth: number;
    parts: number;
    top: Rgb; // natural colour of the clothes
}

// Pieces of cloth as they are sold most: much blue, black, grey, white; few strong colours.
export const CLOTHES = "2b3a55 39506e 6d8299 20242b 31353c 5b6067 8e9499 c9cac6 e6e3da d8cdb8 a58f6f 6f5640 57624a 7d8a6b 8c3b3b b0563f c48a3a 4f6f78 7a5a78 b7707f"
    .split(" ")
    .map((text) => [0, 2, 4].map((k) => parseInt(text.slice(k, k + 2), 16)) as Rgb); // prettier-ignore

// The k-th random number of a person, 0 .. 1.
export function shareOf(id: number, k: number): number {
    const n = Math.imul(id + 1, 0x9e3779b1) ^ Math.imul(k + 7, 0x85ebca6b),
        m = Math.imul(n ^ (n >>> 15), 0x2c1b3c6d);
    return ((m ^ (m >>> 13)) >>> 0) / 4294967296;
}

export function clothesOf(id: number): number {
    return Math.floor(shareOf(id, 13) * CLOTHES.length);
}

export function lookOf(id: number, radius: number): Look {
    const share = (k: number): number => shareOf(id, k);
    const woman = share(1) < 0.5,
        old = share(2) < 0.16,
        child = radius > 0 && radius < 0.17,
        chair = radius >= 0.34 && radius < 0.45,
        large = radius >= 0.28 && radius < 0.34;
    const has = (bit: keyof typeof PARTS, is: boolean): number => (is ? PARTS[bit] : 0);
    const parts =
        has("long_hair", woman && share(3) < 0.65) +
        has("skirt", woman && !chair && share(4) < 0.25) +
        has("rucksack", !chair && !old && share(5) < 0.18) +
        has("case", large || (!chair && !child && share(6) < 0.05)) +
        has("bag", woman && !chair && !child && share(5) > 0.7) +
        has("hat", share(7) < 0.08) +
        has("short_sleeves", share(8) < 0.45) +
        has("chair", chair) +
        has("woman", woman && !child) +
        has("old", old && !child);
    const tall = child ? 0.56 + 0.16 * share(9) : (woman ? 0.945 : 1.01) + 0.09 * (share(9) - 0.5) - (old ? 0.02 : 0);
    return {
        seed: share(10),
        size: tall,
        girth: child ? 0.8 : 0.88 + 0.3 * share(11) * share(12) + (old ? 0.05 : 0),
        parts,
        top: CLOTHES[clothesOf(id)],
    };
}

type Point = [number, number, number];
interface Tube {
    bone: number;
    from: Point;
    to: Point;
    r0: number;
    r1: number;
    skin: number;
    wide?: number; // sideways
    end?: number; // how round the ends are: 0 flat .. 1 a half ball
    only?: number; // of PARTS
    fine?: boolean; // only near
    square?: boolean;
}

// Bones: 0 trunk, 1 and 2 left thigh and shin, 3 and 4 right, 5 and 6 left upper arm and forearm, 7 and 8 right, 9 and 10
// feet, 11 head, 12 what rolls on the ground. Skins: 0 clothes, 1 trousers, 2 skin, 3 hair, 4 sleeve, 5 shoes, 6 bags,
// 7 metal and tyres. A person who looks along +x, y to the left, z up [m].
const SHOULDER = 1.41,
    ELBOW = 1.12,
    NECK = 1.5;
function tubes(): Tube[] {
    const list: Tube[] = [
        { bone: 0, from: [0, 0, 0.86], to: [0, 0, 1.0], r0: 0.12, r1: 0.125, skin: 1, wide: 1.3 },
        { bone: 0, from: [0.01, 0, 1.0], to: [0.005, 0, 1.18], r0: 0.126, r1: 0.122, skin: 0, wide: 1.28, end: 0.5 },
        { bone: 0, from: [0.005, 0, 1.16], to: [-0.005, 0, 1.4], r0: 0.122, r1: 0.118, skin: 0, wide: 1.45 },
        { bone: 0, from: [-0.01, -0.13, 1.425], to: [-0.01, 0.13, 1.425], r0: 0.066, r1: 0.066, skin: 0, wide: 1 },
        { bone: 11, from: [-0.01, 0, 1.44], to: [0.005, 0, 1.54], r0: 0.056, r1: 0.052, skin: 2, end: 0 },
        { bone: 11, from: [0.02, 0, 1.575], to: [0.012, 0, 1.68], r0: 0.072, r1: 0.092, skin: 2, wide: 0.88 },
        { bone: 11, from: [0.1, 0, 1.615], to: [0.107, 0, 1.6], r0: 0.012, r1: 0.016, skin: 2, fine: true },
        { bone: 11, from: [-0.03, 0, 1.6], to: [-0.004, 0, 1.695], r0: 0.075, r1: 0.096, skin: 3, wide: 0.92 },
        { bone: 11, from: [0.03, 0, 1.725], to: [-0.02, 0, 1.735], r0: 0.052, r1: 0.06, skin: 3, wide: 1.2, fine: true },
        { bone: 11, from: [-0.06, 0, 1.42], to: [-0.05, 0, 1.66], r0: 0.05, r1: 0.075, skin: 3, wide: 1.45, only: PARTS.long_hair },
        { bone: 11, from: [0.0, 0, 1.72], to: [0.005, 0, 1.77], r0: 0.112, r1: 0.095, skin: 6, end: 0.3, only: PARTS.hat },
        { bone: 0, from: [0, 0, 0.62], to: [0, 0, 1.0], r0: 0.235, r1: 0.135, skin: 1, wide: 1.1, end: 0, only: PARTS.skirt },
        { bone: 0, from: [-0.2, 0, 1.08], to: [-0.19, 0, 1.36], r0: 0.1, r1: 0.09, skin: 6, wide: 1.5, end: 0.5, only: PARTS.rucksack },
        { bone: 0, from: [0.02, -0.25, 0.82], to: [0.02, -0.25, 0.97], r0: 0.1, r1: 0.075, skin: 6, wide: 0.5, end: 0.3, only: PARTS.bag },
        { bone: 12, from: [-0.55, -0.26, 0.1], to: [-0.5, -0.26, 0.62], r0: 0.17, r1: 0.17, skin: 6, wide: 1.2, end: 0.1, only: PARTS.case, square: true },
        { bone: 12, from: [-0.48, -0.26, 0.64], to: [-0.3, -0.26, 0.9], r0: 0.015, r1: 0.015, skin: 7, only: PARTS.case },
        { bone: 12, from: [-0.12, 0, 0.46], to: [0.3, 0, 0.46], r0: 0.035, r1: 0.035, skin: 7, wide: 6.2, end: 0.3, only: PARTS.chair },
        { bone: 12, from: [-0.18, 0, 0.5], to: [-0.24, 0, 0.92], r0: 0.03, r1: 0.03, skin: 7, wide: 6.6, end: 0.3, only: PARTS.chair },
        { bone: 12, from: [0.36, 0, 0.06], to: [0.42, 0, 0.1], r0: 0.02, r1: 0.02, skin: 7, wide: 7, only: PARTS.chair },
    ]; // prettier-ignore
    [1, -1].forEach((side, k) => {
        const leg = 1 + 2 * k,
            arm = 5 + 2 * k,
            foot = 9 + k,
            y = SIDE * side,
            a = 0.2 * side;
        list.push(
            { bone: leg, from: [0, y, HIP], to: [0, y, KNEE], r0: 0.088, r1: 0.06, skin: 1 },
            { bone: leg + 1, from: [0, y, KNEE], to: [0, y, ANKLE], r0: 0.06, r1: 0.042, skin: 1, end: 0.6 },
            { bone: foot, from: [-0.045, y, 0.042], to: [0.16, y, 0.032], r0: 0.042, r1: 0.03, skin: 5, wide: 1.1 },
            { bone: arm, from: [-0.01, a, SHOULDER], to: [0, a, ELBOW], r0: 0.056, r1: 0.043, skin: 0 },
            { bone: arm + 1, from: [0, a, ELBOW], to: [0.01, a, 0.88], r0: 0.041, r1: 0.032, skin: 4, end: 0.6 },
            { bone: arm + 1, from: [0.015, a, 0.85], to: [0.02, a, 0.79], r0: 0.036, r1: 0.03, skin: 2 },
            { bone: 12, from: [-0.05, 0.31 * side, 0.3], to: [-0.05, 0.34 * side, 0.3], r0: 0.3, r1: 0.3, skin: 7, end: 0.03, only: PARTS.chair },
            { bone: 12, from: [0.34, 0.24 * side, 0.08], to: [0.34, 0.27 * side, 0.08], r0: 0.08, r1: 0.08, skin: 7, end: 0.1, only: PARTS.chair },
        ); // prettier-ignore
    });
    return list;
}

const FIGURE: Tube[] = [
    { bone: 0, from: [0, 0, 0.9], to: [0, 0, 1.42], r0: 0.13, r1: 0.14, skin: 0, wide: 1.4 },
    { bone: 11, from: [0.01, 0, 1.57], to: [0.01, 0, 1.7], r0: 0.08, r1: 0.09, skin: 2 },
    { bone: 11, from: [-0.02, 0, 1.62], to: [-0.01, 0, 1.71], r0: 0.08, r1: 0.09, skin: 3 },
    { bone: 1, from: [0, SIDE, HIP], to: [0, SIDE, KNEE], r0: 0.085, r1: 0.06, skin: 1, end: 0 },
    { bone: 2, from: [0, SIDE, KNEE], to: [0, SIDE, 0.02], r0: 0.06, r1: 0.045, skin: 1, end: 0 },
    { bone: 3, from: [0, -SIDE, HIP], to: [0, -SIDE, KNEE], r0: 0.085, r1: 0.06, skin: 1, end: 0 },
    { bone: 4, from: [0, -SIDE, KNEE], to: [0, -SIDE, 0.02], r0: 0.06, r1: 0.045, skin: 1, end: 0 },
    { bone: 5, from: [0, 0.2, SHOULDER], to: [0, 0.2, 0.82], r0: 0.05, r1: 0.035, skin: 0, end: 0 },
    { bone: 7, from: [0, -0.2, SHOULDER], to: [0, -0.2, 0.82], r0: 0.05, r1: 0.035, skin: 0, end: 0 },
];

// From near to far; beyond, impostors (impostor.ts).
export type WalkerShape = "fine" | "plain" | "figure";

export function walkerGeometry(shape: WalkerShape): THREE.InstancedBufferGeometry {
    const sides = { fine: 10, plain: 6, figure: 4 }[shape],
        rings = { fine: 2, plain: 1, figure: 1 }[shape],
        body = shape === "figure" ? FIGURE : tubes().filter((tube) => shape === "fine" || !tube.fine);
    const data = { position: [] as number[], normal: [] as number[], joint: [] as number[], index: [] as number[] };
    for (const tube of body) addTube(tube, tube.square ? 4 : sides, rings, data);
    const geometry = new THREE.InstancedBufferGeometry();
    for (const name of ["position", "normal", "joint"] as const)
        geometry.setAttribute(name, new THREE.Float32BufferAttribute(data[name], 3));
    geometry.setIndex(data.index);
    return geometry;
}

// A tube with round ends, ring by ring. `joint`: bone, skin, and the part that it belongs to.
function addTube(
    tube: Tube,
    sides: number,
    rings: number,
    data: { position: number[]; normal: number[]; joint: number[]; index: number[] },
): void {
    const a = new THREE.Vector3(...tube.from),
        along = new THREE.Vector3(...tube.to).sub(a),
        length = along.length(),
        wide = tube.wide ?? 1,
        end = Math.max(0.01, tube.end ?? 0.85);
    along.normalize();
    const v = new THREE.Vector3(0, 1, 0); // sideways, but of what lies sideways itself
    if (Math.abs(along.y) > 0.7) v.set(1, 0, 0);
    v.addScaledVector(along, -v.dot(along)).normalize();
    const u = v.clone().cross(along),
        start = data.position.length / 3,
        count = 2 * rings + 2;
    for (let i = 0; i < count; i++) {
        const top = i > rings,
            angle = (top ? (i - rings - 1) / rings : (i - rings) / rings) * (Math.PI / 2),
            r = (top ? tube.r1 : tube.r0) * Math.cos(angle),
            t = (top ? length : 0) + (top ? tube.r1 : tube.r0) * end * Math.sin(angle);
        for (let k = 0; k < sides; k++) {
            const turn = (2 * Math.PI * (k + (sides === 4 ? 0.5 : 0))) / sides,
                c = Math.cos(turn),
                s = Math.sin(turn);
            const p = a.clone().addScaledVector(along, t).addScaledVector(u, r * c).addScaledVector(v, r * s * wide); // prettier-ignore
            const n = u
                .clone()
                .multiplyScalar(c * Math.cos(angle))
                .addScaledVector(v, (s * Math.cos(angle)) / wide)
                .addScaledVector(along, Math.sin(angle) / end)
                .normalize();
            data.position.push(p.x, p.y, p.z);
            data.normal.push(n.x, n.y, n.z);
            data.joint.push(tube.bone, tube.skin, tube.only ?? 0);
            if (i === 0) continue;
            const p0 = start + (i - 1) * sides + k,
                p1 = start + (i - 1) * sides + ((k + 1) % sides);
            data.index.push(p0, p1, p0 + sides, p1, p1 + sides, p0 + sides);
        }
    }
}

// Per person. place: x, y, z, heading. feet, lift: Gait.write. pose: drop of the hips, yaws of the feet, sway. look: seed,
// size, girth, parts. act: run, head turned, gesture of an arm (in a chair: phase of
// the arms), hands before the chest. cloth: colour, and 0 stands .. 1 lies.
export const PERSON = ["place", "feet", "lift", "pose", "look", "act", "cloth"] as const;

export function addInstances(geometry: THREE.InstancedBufferGeometry, capacity: number): void {
    for (const name of PERSON) {
        const attribute = new THREE.InstancedBufferAttribute(new Float32Array(4 * capacity), 4);
        attribute.setUsage(THREE.DynamicDrawUsage);
        geometry.setAttribute(name, attribute);
    }
    geometry.instanceCount = 0;
}

const f = (value: number): string => value.toFixed(4);
const POSE = `
attribute vec3 joint;
${PERSON.map((name) => `attribute vec4 ${name};`).join("\n")}
varying vec3 vCloth;
vec3 pitch(vec3 p, vec3 pivot, float angle) {
    float c = cos(angle), s = sin(angle);
    vec3 d = p - pivot;
    return pivot + vec3(c * d.x - s * d.z, d.y, s * d.x + c * d.z);
}
vec3 yawed(vec3 p, float angle) {
    float c = cos(angle), s = sin(angle);
    return vec3(c * p.x - s * p.y, s * p.x + c * p.y, p.z);
}
// A bone from a to b: what was around the straight one from (0, y, top) down to (0, y, low).
void along(inout vec3 p, inout vec3 n, vec3 a, vec3 b, float y, float top, float low) {
    vec3 down = normalize(b - a);
    vec3 front = normalize(vec3(1.0, 0.0, 0.0001) - down * down.x);
    vec3 left = cross(front, down);
    float w = (top - p.z) / (top - low);
    p = a + (b - a) * w + front * p.x * look.z + left * (p.y - y) * look.z;
    n = front * n.x + left * n.y - down * n.z;
}
// The knee: in front of the straight line, two bones, law of cosines.
vec3 knee_of(vec3 hip, vec3 ankle) {
    float thigh = ${f(HIP - KNEE)}, shin = ${f(KNEE - ANKLE)};
    vec3 d = ankle - hip;
    float r = clamp(length(d), 0.05, thigh + shin - 0.0005);
    vec3 down = normalize(d);
    float on = (thigh * thigh - shin * shin + r * r) / (2.0 * r);
    float off = sqrt(max(0.0, thigh * thigh - on * on));
    vec3 front = normalize(vec3(1.0, 0.0, 0.0001) - down * down.x);
    return hip + down * on + front * off;
}
void pose_of(inout vec3 p, inout vec3 n) {
    float bone = joint.x, drop = pose.x, sway = pose.w, lie = cloth.w;
    int parts = int(look.w + 0.5), only = int(joint.z + 0.5);
    if (only > 0 && (parts & only) == 0) { p = vec3(0.0); return; }
    bool woman = (parts & ${PARTS.woman}) != 0, seated = (parts & ${PARTS.chair}) != 0;
    float run = act.x;
    float lean = 0.02 + 0.16 * run + ((parts & ${PARTS.old}) != 0 ? 0.14 : 0.0) + 0.1 * act.w;
    vec3 origin = vec3(0.0, 0.0, ${f(HIP)});
    if (bone > 0.5 && bone < 4.5 || bone > 8.5 && bone < 10.5) {
        bool left = bone < 2.5 || bone > 8.5 && bone < 9.5;
        float y = left ? ${f(SIDE)} : ${f(-SIDE)};
        vec3 hip = vec3(0.0, y + sway, ${f(HIP)} - drop);
        vec3 ankle = left ? vec3(feet.xy, lift.x) : vec3(feet.zw, lift.y);
        if (bone > 8.5) {
            p.y = y + (p.y - y) * look.z;
            vec3 pivot = vec3(0.0, y, ${f(ANKLE)});
            float roll = left ? lift.z : lift.w;
            p = pitch(p, pivot, -roll) - pivot;
            n = pitch(n, vec3(0.0), -roll);
            float turn = left ? pose.y : pose.z;
            p = yawed(p, turn) + ankle;
            n = yawed(n, turn);
        } else {
            vec3 knee = knee_of(hip, ankle);
            if (bone < 1.5 || bone > 2.5 && bone < 3.5) along(p, n, hip, knee, y, ${f(HIP)}, ${f(KNEE)});
            else along(p, n, knee, ankle, y, ${f(KNEE)}, ${f(ANKLE)});
        }
    } else if (bone < 11.5) {
        float stride = feet.x - feet.z; // the left foot ahead of the right one
        if (bone > 10.5) {
            float head = pow(look.y, -0.55);
            p = vec3(0.0, 0.0, ${f(NECK)}) + (p - vec3(0.0, 0.0, ${f(NECK)})) * (p.z > ${f(NECK)} ? head : 1.0);
            p = yawed(p, act.y); n = yawed(n, act.y);
            p = pitch(p, vec3(0.0, 0.0, ${f(NECK)}), lean * 0.7); n = pitch(n, vec3(0.0), lean * 0.7);
        } else if (bone > 4.5) {
            bool left = bone < 6.5;
            float y = left ? 0.2 : -0.2;
            bool fore = left ? bone > 5.5 : bone > 7.5;
            float narrow = woman ? 0.9 : 1.0;
            float swing = clamp((left ? -stride : stride) * 0.62, -0.75, 0.75) * (1.0 + 0.5 * run);
            float bent = 0.22 + 0.25 * clamp(abs(stride), 0.0, 1.0) + 1.1 * run;
            if (seated) { swing = 0.3 + 0.35 * sin(6.2832 * act.z); bent = 0.75; } // by the rims
            else {
                swing = mix(swing, 0.75, act.w); bent = mix(bent, 1.75, act.w);
                if (!left) { swing = mix(swing, 0.5, act.z); bent = mix(bent, 1.7, act.z); }
                if (!left && (parts & ${PARTS.case}) != 0) { swing = -0.45; bent = 0.1; }
            }
            p.y = y + (p.y - y) * look.z;
            n.y /= look.z;
            if (fore) { p = pitch(p, vec3(0.0, y, ${f(ELBOW)}), bent); n = pitch(n, vec3(0.0), bent); }
            p = pitch(p, vec3(0.0, y, ${f(SHOULDER)}), swing); n = pitch(n, vec3(0.0), swing);
            p.y += y * (narrow * (0.5 + 0.5 * look.z) - 1.0);
        } else if (joint.y < 5.5) {
            float hips = 1.0 - smoothstep(0.95, 1.15, p.z), chest = smoothstep(1.2, 1.35, p.z);
            float wide = woman ? 1.0 + 0.06 * hips - 0.1 * chest : 1.0;
            if (woman) p.x += 0.022 * smoothstep(1.15, 1.25, p.z) * (1.0 - smoothstep(1.3, 1.36, p.z)) * step(0.0, p.x);
            p.xy *= look.z * vec2(1.0, wide);
        }
        // The trunk turns against the legs and leans into its way.
        p = yawed(p, -0.16 * stride * smoothstep(0.95, 1.4, p.z));
        p = pitch(p, origin, -lean); n = pitch(n, vec3(0.0), -lean);
        p.y += sway * (1.0 - 0.6 * smoothstep(1.0, 1.6, p.z));
        p.z -= drop;
    } else if ((parts & ${PARTS.case}) != 0) p.z /= look.y;
    p *= look.y;
    if (lie > 0.0) {
        float angle = -1.5708 * lie;
        p = pitch(p, vec3(0.0), angle);
        n = pitch(n, vec3(0.0), angle);
        p += vec3(-0.85 * look.y * lie, 0.0, 0.13 * lie);
    }
    p = yawed(p, place.w) + place.xyz;
    n = normalize(yawed(n, place.w));
}
`;
// Colours are those of screens, as legends have them; light is counted in linear ones. What bends away from the light of the
// sky, low on the body, is a little darker.
const TINT = `
    float seed = look.x;
    int worn_parts = int(look.w + 0.5);
    vec3 skins = mix(vec3(0.33, 0.2, 0.14), vec3(0.92, 0.74, 0.62), fract(seed * 57.3));
    float tone = fract(seed * 91.7);
    vec3 hairs = tone < 0.45 ? vec3(0.08, 0.065, 0.06) : tone < 0.8 ? vec3(0.27, 0.17, 0.1) : vec3(0.58, 0.44, 0.25);
    if ((worn_parts & ${PARTS.old}) != 0) hairs = vec3(0.66, 0.65, 0.63);
    float legs = fract(seed * 33.1);
    vec3 trousers = legs < 0.4 ? vec3(0.16, 0.21, 0.32) : legs < 0.7 ? vec3(0.13, 0.13, 0.15) : legs < 0.85 ? vec3(0.45, 0.4, 0.33) : vec3(0.36, 0.37, 0.4);
    vec3 bags = mix(vec3(0.14, 0.15, 0.18), vec3(0.5, 0.22, 0.18), step(0.7, fract(seed * 17.9)));
    vec3 worn = joint.y < 0.5 ? cloth.xyz : joint.y < 1.5 ? trousers : joint.y < 2.5 ? skins : joint.y < 3.5 ? hairs
        : joint.y < 4.5 ? ((worn_parts & ${PARTS.short_sleeves}) != 0 ? skins : cloth.xyz)
        : joint.y < 5.5 ? vec3(0.13, 0.12, 0.12) : joint.y < 6.5 ? bags : vec3(0.2, 0.21, 0.23);
    vCloth = mix(worn / 12.92, pow((worn + 0.055) / 1.055, vec3(2.4)), step(0.04045, worn));
    vCloth *= mix(0.72, 1.0, smoothstep(0.0, 1.3, position.z));
`;

// Lambert light with the pose in front, and the same pose for the shadow.
export function walkerMaterial(): THREE.MeshLambertMaterial {
    const material = new THREE.MeshLambertMaterial();
    material.onBeforeCompile = (shader) => {
        shader.vertexShader = shader.vertexShader
            .replace("#include <common>", `#include <common>\n${POSE}`)
            .replace(
                "#include <beginnormal_vertex>",
                `vec3 objectNormal = normal; vec3 posed = position; pose_of(posed, objectNormal);${TINT}`,
            )
            .replace("#include <begin_vertex>", "vec3 transformed = posed;");
        shader.fragmentShader = shader.fragmentShader
            .replace("#include <common>", "#include <common>\nvarying vec3 vCloth;")
            .replace("#include <color_fragment>", "diffuseColor.rgb *= vCloth;");
    };
    return material;
}

export function walkerDepth(): THREE.MeshDepthMaterial {
    const material = new THREE.MeshDepthMaterial({ depthPacking: THREE.RGBADepthPacking });
    material.onBeforeCompile = (shader) => {
        shader.vertexShader = shader.vertexShader
            .replace("#include <common>", `#include <common>\n${POSE}`)
            .replace(
                "#include <begin_vertex>",
                "vec3 transformed = position; vec3 bent = normal; pose_of(transformed, bent);",
            );
    };
    return material;
}
