// A walking person as one procedural mesh with bones, animated in the vertex shader; and how far a step takes it. The
// stance foot moves back exactly as fast as the body moves on, so feet do not skate at any speed.
// SPDX-License-Identifier: Apache-2.0
import * as THREE from "three";

// Length of one step [m] at a speed [m/s]: Jelic et al., Phys. Rev. E 86, 046111 (2012), measured in a ring corridor.
export function stepLength(speed: number): number {
    return Math.min(0.95, Math.max(0.16, 0.065 + 0.724 * speed));
}

// Where the foot is ahead of the hip [m] at `phase` (1 is two steps): on the ground for the first half, when it goes back
// as far as the body goes on; then swung forward.
export function footAhead(phase: number, step: number): number {
    const p = phase - Math.floor(phase);
    if (p < 0.5) return step * (0.5 - 2 * p);
    const t = (p - 0.5) * 2;
    return step * (t * t * (3 - 2 * t) - 0.5);
}

// The share of the phase that a walked distance covers.
export function phaseOf(distance: number, step: number): number {
    return distance / (2 * step);
}

interface Part {
    bone: number;
    from: [number, number, number];
    to: [number, number, number];
    r0: number;
    r1: number;
    skin: number;
}

// Metres of a person 1.75 m tall who looks along +x; y is to the left, z up. Bones: 0 trunk, 1 and 2 left thigh and shin,
// 3 and 4 right, 5 and 6 left upper arm and forearm, 7 and 8 right. Skin: 0 clothes, 1 trousers, 2 skin, 3 hair.
const HIP = 0.88,
    KNEE = 0.46,
    SHOULDER = 1.42,
    ELBOW = 1.12;
function parts(): Part[] {
    const list: Part[] = [
        { bone: 0, from: [0, 0, 0.84], to: [0, 0, 1.16], r0: 0.155, r1: 0.15, skin: 0 },
        { bone: 0, from: [0, 0, 1.14], to: [0, 0, 1.46], r0: 0.15, r1: 0.17, skin: 0 },
        { bone: 0, from: [0, 0, 1.44], to: [0.01, 0, 1.54], r0: 0.06, r1: 0.055, skin: 2 },
        { bone: 0, from: [0.015, 0, 1.54], to: [0.02, 0, 1.74], r0: 0.085, r1: 0.09, skin: 2 },
        { bone: 0, from: [-0.015, 0, 1.63], to: [-0.01, 0, 1.765], r0: 0.1, r1: 0.085, skin: 3 },
    ];
    [1, -1].forEach((side, k) => {
        const leg = 1 + 2 * k,
            arm = 5 + 2 * k,
            y = 0.085 * side,
            a = 0.21 * side;
        list.push({ bone: leg, from: [0, y, HIP], to: [0, y, KNEE], r0: 0.095, r1: 0.065, skin: 1 });
        list.push({ bone: leg + 1, from: [0, y, KNEE], to: [0, y, 0.06], r0: 0.065, r1: 0.045, skin: 1 });
        list.push({ bone: leg + 1, from: [-0.05, y, 0.035], to: [0.15, y, 0.03], r0: 0.045, r1: 0.035, skin: 3 });
        list.push({ bone: arm, from: [0, a, SHOULDER], to: [0, a, ELBOW], r0: 0.055, r1: 0.045, skin: 0 });
        list.push({ bone: arm + 1, from: [0, a, ELBOW], to: [0, a, 0.84], r0: 0.042, r1: 0.036, skin: 2 });
    });
    return list;
}

// From near to far: 2100, 750, 100 and 50 triangles.
export type WalkerShape = "fine" | "plain" | "figure" | "peg";
const FIGURE: Part[] = [
    { bone: 0, from: [0, 0, 0.86], to: [0, 0, 1.44], r0: 0.15, r1: 0.17, skin: 0 },
    { bone: 0, from: [0.01, 0, 1.55], to: [0.01, 0, 1.72], r0: 0.09, r1: 0.09, skin: 2 },
    { bone: 1, from: [0, 0.08, HIP], to: [0, 0.08, 0.05], r0: 0.09, r1: 0.06, skin: 1 },
    { bone: 3, from: [0, -0.08, HIP], to: [0, -0.08, 0.05], r0: 0.09, r1: 0.06, skin: 1 },
];
const PEG: Part[] = [
    { bone: 0, from: [0, 0, 0.05], to: [0, 0, 1.44], r0: 0.1, r1: 0.18, skin: 0 },
    { bone: 0, from: [0, 0, 1.55], to: [0, 0, 1.72], r0: 0.09, r1: 0.09, skin: 2 },
];

// Tubes with round ends; the trunk is wider than deep.
export function walkerGeometry(shape: WalkerShape): THREE.InstancedBufferGeometry {
    const sides = { fine: 10, plain: 5, figure: 4, peg: 4 }[shape],
        rings = { fine: 3, plain: 2, figure: 1, peg: 1 }[shape];
    const body = shape === "figure" ? FIGURE : shape === "peg" ? PEG : parts();
    const position: number[] = [],
        normal: number[] = [],
        bone: number[] = [],
        skin: number[] = [],
        index: number[] = [];
    for (const part of body) {
        const a = new THREE.Vector3(...part.from),
            b = new THREE.Vector3(...part.to);
        const along = b.clone().sub(a);
        const length = along.length();
        along.normalize();
        const u = Math.abs(along.z) > 0.7 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 0, 1);
        u.addScaledVector(along, -u.dot(along)).normalize();
        const v = along.clone().cross(u);
        const wide = part.bone === 0 && part.skin === 0 ? 1.28 : 1;
        const start = position.length / 3;
        // Two half balls and the tube between them, ring by ring.
        const count = 2 * rings + 2;
        for (let i = 0; i < count; i++) {
            const end = i > rings;
            const angle = (end ? (i - rings - 1) / rings : (i - rings) / rings) * (Math.PI / 2);
            const r = (end ? part.r1 : part.r0) * Math.cos(angle),
                t = (end ? length : 0) + (end ? part.r1 : part.r0) * 0.8 * Math.sin(angle);
            for (let k = 0; k < sides; k++) {
                const turn = (2 * Math.PI * k) / sides;
                const c = Math.cos(turn),
                    s = Math.sin(turn);
                const p = a
                    .clone()
                    .addScaledVector(along, t)
                    .addScaledVector(u, r * c)
                    .addScaledVector(v, r * s * wide);
                const n = u
                    .clone()
                    .multiplyScalar(c * Math.cos(angle))
                    .addScaledVector(v, (s * Math.cos(angle)) / wide)
                    .addScaledVector(along, Math.sin(angle))
                    .normalize();
                position.push(p.x, p.y, p.z);
                normal.push(n.x, n.y, n.z);
                bone.push(part.bone);
                skin.push(part.skin);
                if (i > 0) {
                    const p0 = start + (i - 1) * sides + k,
                        p1 = start + (i - 1) * sides + ((k + 1) % sides);
                    index.push(p0, p1, p0 + sides, p1, p1 + sides, p0 + sides);
                }
            }
        }
    }
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
    geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normal, 3));
    geometry.setAttribute("bone", new THREE.Float32BufferAttribute(bone, 1));
    geometry.setAttribute("skin", new THREE.Float32BufferAttribute(skin, 1));
    geometry.setIndex(index);
    return geometry;
}

// Per person: where (x, y, z) and heading; phase, length of a step, height factor, girth; colour of the clothes; state.
export function addInstances(geometry: THREE.InstancedBufferGeometry, capacity: number): void {
    for (const [name, size] of [
        ["place", 4],
        ["gait", 4],
        ["cloth", 4],
    ] as const) {
        const attribute = new THREE.InstancedBufferAttribute(new Float32Array(size * capacity), size);
        attribute.setUsage(THREE.DynamicDrawUsage);
        geometry.setAttribute(name, attribute);
    }
    geometry.instanceCount = 0;
}

const POSE = `
attribute float bone;
attribute float skin;
attribute vec4 place;
attribute vec4 gait;
attribute vec4 cloth;
varying vec3 vCloth;
const float HIP = ${HIP.toFixed(3)}, KNEE = ${KNEE.toFixed(3)}, SHOULDER = ${SHOULDER.toFixed(3)}, ELBOW = ${ELBOW.toFixed(3)};
float foot_ahead(float phase, float step_length) {
    float p = fract(phase);
    float t = clamp((p - 0.5) * 2.0, 0.0, 1.0);
    return p < 0.5 ? step_length * (0.5 - 2.0 * p) : step_length * (t * t * (3.0 - 2.0 * t) - 0.5);
}
float foot_lift(float phase, float step_length) {
    float t = clamp((fract(phase) - 0.5) * 2.0, 0.0, 1.0);
    return 0.16 * step_length * sin(3.14159 * t);
}
vec3 bend(vec3 p, float pivot, float angle) {
    float c = cos(angle), s = sin(angle), z = p.z - pivot;
    return vec3(c * p.x - s * z, p.y, pivot + s * p.x + c * z);
}
vec3 turn_only(vec3 n, float angle) {
    float c = cos(angle), s = sin(angle);
    return vec3(c * n.x - s * n.z, n.y, s * n.x + c * n.z);
}
// Angles of thigh and shin that put the foot where it has to be: two bones, law of cosines.
vec2 leg_angles(float phase, float step_length) {
    float ahead = foot_ahead(phase, step_length), thigh = HIP - KNEE, shin = KNEE - 0.05;
    float down = HIP - 0.05 - foot_lift(phase, step_length) - 0.03 * step_length;
    float reach = min(length(vec2(ahead, down)), thigh + shin - 0.002);
    float at = atan(ahead, down);
    float hip = acos(clamp((thigh * thigh + reach * reach - shin * shin) / (2.0 * thigh * reach), -1.0, 1.0));
    float knee = acos(clamp((thigh * thigh + shin * shin - reach * reach) / (2.0 * thigh * shin), -1.0, 1.0));
    return vec2(at + hip, knee - 3.14159);
}
void pose(inout vec3 p, inout vec3 n) {
    float phase = gait.x, step_length = gait.y / gait.z;
    float swing = clamp(step_length / 0.8, 0.0, 1.0);
    if (bone > 4.5) {
        bool left = bone < 6.5;
        float arm = (left ? -1.0 : 1.0) * 0.55 * swing * cos(6.28318 * phase);
        float fore = (left ? bone > 5.5 : bone > 7.5) ? 0.25 + 0.3 * swing : 0.0;
        p = bend(p, ELBOW, fore); n = turn_only(n, fore);
        p = bend(p, SHOULDER, arm); n = turn_only(n, arm);
    } else if (bone > 0.5) {
        bool left = bone < 2.5;
        vec2 angles = leg_angles(phase + (left ? 0.0 : 0.5), step_length);
        bool shin = left ? bone > 1.5 : bone > 3.5;
        if (shin) { p = bend(p, KNEE, angles.y); n = turn_only(n, angles.y); }
        p = bend(p, HIP, angles.x); n = turn_only(n, angles.x);
    }
    p.z -= 0.03 * step_length;
    p.z += 0.012 * swing * cos(12.56637 * phase);
    p *= gait.z;
    p.xy *= gait.w;
    n = normalize(vec3(n.xy / gait.w, n.z));
    if (cloth.w > 0.5) { p = vec3(p.z - 0.9, p.y, 0.14 - p.x * 0.8); n = vec3(n.z, n.y, -n.x); } // lies on the ground
    float c = cos(place.w), s = sin(place.w);
    p = vec3(c * p.x - s * p.y, s * p.x + c * p.y, p.z) + place.xyz;
    n = vec3(c * n.x - s * n.y, s * n.x + c * n.y, n.z);
}
`;
// Colours are those of screens, as legends have them; light is counted in linear ones. The tints are of the person, by what
// its id gives it (height and girth), so that they stay while the colour of the clothes changes.
const TINT = `
    float tint = fract(sin(gait.z * 91.7 + 12.9) * 43758.5);
    vec3 skins = mix(vec3(0.36, 0.22, 0.15), vec3(0.93, 0.75, 0.62), fract(gait.z * 157.3));
    vec3 hairs = mix(vec3(0.06, 0.05, 0.05), vec3(0.45, 0.32, 0.18), tint * tint);
    vec3 trousers = mix(vec3(0.13, 0.15, 0.2), vec3(0.42, 0.4, 0.38), tint);
    vec3 worn = skin < 0.5 ? cloth.xyz : skin < 1.5 ? trousers : skin < 2.5 ? skins : hairs;
    vCloth = mix(worn / 12.92, pow((worn + 0.055) / 1.055, vec3(2.4)), step(0.04045, worn));
`;

// Lambert light with the pose in front, and the same pose for the shadow.
export function walkerMaterial(): THREE.MeshLambertMaterial {
    const material = new THREE.MeshLambertMaterial();
    material.onBeforeCompile = (shader) => {
        shader.vertexShader = shader.vertexShader
            .replace("#include <common>", `#include <common>\n${POSE}`)
            .replace(
                "#include <beginnormal_vertex>",
                `vec3 objectNormal = normal; vec3 posed = position; pose(posed, objectNormal);${TINT}`,
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
                "vec3 transformed = position; vec3 bent = normal; pose(transformed, bent);",
            );
    };
    return material;
}
