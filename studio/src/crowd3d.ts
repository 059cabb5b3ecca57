// The people of the 3D view: what each does between two moments, which body each has at its distance, and soft shadows where
// they stand. SPDX-License-Identifier: Apache-2.0
import * as THREE from "three";
import { dark } from "./dom";
import { Gait, phaseOf, stepLength, turnBetween, ease } from "./gait";
import { farPose, impostors, softShadows, type Quads } from "./impostor";
import type { People } from "./types";
import {
    PARTS,
    PERSON,
    addInstances,
    lookOf,
    shareOf,
    walkerDepth,
    walkerGeometry,
    walkerMaterial,
    type Look,
    type WalkerShape,
} from "./walker";

const CAPACITY = 12000; // of people near enough for a body
const BUDGET = 1.2e6; // triangles of all bodies: an ordinary GPU draws them, and their shadows, sixty times a second
const NEAR = 12; // people nearer than this are drawn wherever one looks, for their shadows [m]

// Which body at which distance from the camera [m]; each simpler than the one before. People farther than the second walk by
// their phase alone.
const BODIES: { until: number; shape: WalkerShape; shadow: boolean }[] = [
    { until: 8, shape: "fine", shadow: true },
    { until: 30, shape: "plain", shadow: true },
    { until: 70, shape: "figure", shadow: true },
];
const PHASE = { standing: 0, walking: 1, waiting: 2, arrived: 3, fallen: 4 };

interface Track {
    seen: number;
    x: number;
    y: number;
    phase: number;
    heading: number;
    look: Look;
    gait: Gait | null;
    lie: number; // 0 stands .. 1 lies
    brace: number; // hands before the chest
}

export interface Viewer {
    camera: THREE.PerspectiveCamera;
    chosen: number; // id
    skipped: number; // id of the person whose eyes the camera is in, or 0
    slow: number; // how many times longer a frame takes than it should
    shows(level: number): boolean;
    heightAt(level: number, x: number, y: number): number;
    found(x: number, y: number, z: number, heading: number, size: number): void; // where the chosen person is
}

type Mesh = THREE.Mesh<THREE.InstancedBufferGeometry, THREE.Material>;
const arrayOf = (mesh: Mesh, name: string): Float32Array =>
    (mesh.geometry.getAttribute(name) as THREE.InstancedBufferAttribute).array as Float32Array;

export class Crowd3d {
    readonly group = new THREE.Group();
    people: People | null = null;
    crowding = 1; // bodies are so many times simpler than their distance asks for
    arrived = 0; // when the last moment came [ms]
    private meshes: Mesh[] = [];
    private far: Quads;
    private shadows = softShadows();
    private tracks = new Map<number, Track>();
    private before = { x: new Float32Array(0), y: new Float32Array(0), phase: new Float32Array(0), heading: new Float32Array(0), time: 0 }; // prettier-ignore
    private after = { step: new Float32Array(0), colour: new Float32Array(0), press: new Uint8Array(0) };
    private interval = 100;
    private clock = 0; // simulated time that is drawn [s]
    private frame = 0;
    private sight = new THREE.Frustum();
    private body = new THREE.Sphere(new THREE.Vector3(), 1.2);

    constructor(renderer: THREE.WebGLRenderer) {
        for (const body of BODIES) {
            const geometry = walkerGeometry(body.shape);
            addInstances(geometry, CAPACITY);
            const mesh: Mesh = new THREE.Mesh(geometry, walkerMaterial() as THREE.Material);
            mesh.customDepthMaterial = walkerDepth();
            mesh.castShadow = body.shadow;
            mesh.frustumCulled = false;
            this.meshes.push(mesh);
        }
        this.far = impostors(renderer);
        this.group.add(...this.meshes, this.far.mesh, this.shadows.mesh);
    }

    // A new moment. `shade` tells the colour of clothes; null: the natural one.
    show(people: People, shade: (k: number) => [number, number, number] | null): void {
        const n = people.count,
            passed = people.time - (this.people?.time ?? people.time);
        this.reserve(n);
        this.frame++;
        this.before.time = this.people?.time ?? people.time;
        for (let k = 0; k < n; k++) {
            const id = people.id[k],
                x = people.x[k],
                y = people.y[k];
            let track = this.tracks.get(id);
            if (!track || Math.abs(track.x - x) + Math.abs(track.y - y) > 3) {
                track = { seen: 0, x, y, phase: shareOf(id, 20), heading: people.heading[k], look: lookOf(id, people.radius[k]), gait: null, lie: 0, brace: 0 }; // prettier-ignore
                if (people.phase[k] === PHASE.fallen) track.lie = 1;
                this.tracks.set(id, track);
            }
            this.before.x[k] = track.x;
            this.before.y[k] = track.y;
            this.before.phase[k] = track.phase;
            this.before.heading[k] = track.heading;
            const step = stepLength(people.speed[k]);
            track.phase += phaseOf(Math.hypot(x - track.x, y - track.y), step);
            track.heading += turned(track.heading, people.heading[k], people.speed[k], passed);
            track.x = x;
            track.y = y;
            track.seen = this.frame;
            this.after.step[k] = people.speed[k] < 0.05 ? 0.02 : step;
            const [r, g, b] = shade(k) ?? (track.look.top.map((v) => v / 255) as [number, number, number]);
            this.after.colour[3 * k] = r;
            this.after.colour[3 * k + 1] = g;
            this.after.colour[3 * k + 2] = b;
        }
        this.press(people);
        if (this.frame % 200 === 0)
            for (const [id, track] of this.tracks) if (track.seen < this.frame - 100) this.tracks.delete(id);
        const now = performance.now();
        if (this.arrived > 0) this.interval = 0.8 * this.interval + 0.2 * Math.min(300, now - this.arrived);
        this.arrived = now;
        this.people = people;
    }

    private reserve(n: number): void {
        if (this.after.step.length >= n) return;
        const size = Math.ceil(n * 1.25);
        for (const key of ["x", "y", "phase", "heading"] as const) this.before[key] = new Float32Array(size);
        this.after = {
            step: new Float32Array(size),
            colour: new Float32Array(3 * size),
            press: new Uint8Array(size),
        };
    }

    // How many bodies touch a person that stands: such people hold their hands before the chest.
    private press(people: People): void {
        const n = people.count,
            mask = 16383,
            head = new Int32Array(mask + 1).fill(-1),
            next = new Int32Array(n),
            cell = (x: number, y: number): number => (Math.imul(x, 73856093) ^ Math.imul(y, 19349663)) & mask;
        this.after.press.fill(0, 0, n);
        for (let k = 0; k < n; k++) {
            const c = cell(Math.floor(people.x[k] / 0.6), Math.floor(people.y[k] / 0.6));
            next[k] = head[c];
            head[c] = k;
        }
        for (let k = 0; k < n; k++) {
            if (people.speed[k] > 0.3 || people.phase[k] !== PHASE.walking) continue;
            const cx = Math.floor(people.x[k] / 0.6),
                cy = Math.floor(people.y[k] / 0.6);
            for (let i = -1; i <= 1; i++)
                for (let j = -1; j <= 1; j++)
                    for (let other = head[cell(cx + i, cy + j)]; other >= 0; other = next[other]) {
                        const reach = people.radius[k] + people.radius[other] + 0.03;
                        if (other !== k && Math.hypot(people.x[k] - people.x[other], people.y[k] - people.y[other]) < reach) this.after.press[k]++; // prettier-ignore
                    }
        }
    }

    // The simulated time that is drawn [s]: at `fraction` between the last two moments, else as the clock says.
    time(fraction = this.mixed()): number {
        return this.before.time + ((this.people?.time ?? this.before.time) - this.before.time) * fraction;
    }

    private mixed(): number {
        return Math.min(1, (performance.now() - this.arrived) / Math.max(16, this.interval));
    }

    // Bodies for the moment at `fraction`.
    place(view: Viewer, fraction = this.mixed()): void {
        const people = this.people;
        if (!people) return;
        const t = fraction,
            clock = this.time(t),
            seconds = clock - this.clock,
            eye = view.camera.position,
            counts = this.meshes.map(() => 0),
            arrays = this.meshes.map((mesh) => PERSON.map((name) => arrayOf(mesh, name))),
            simpler = this.crowding * view.slow,
            night = dark() ? 0.8 : 1;
        let shadows = 0,
            away = 0;
        this.far.reserve(people.count);
        this.shadows.reserve(people.count);
        this.clock = clock;
        view.camera.updateMatrixWorld();
        this.sight.setFromProjectionMatrix(
            new THREE.Matrix4().multiplyMatrices(view.camera.projectionMatrix, view.camera.matrixWorldInverse),
        );
        for (let k = 0; k < people.count; k++) {
            const level = people.level[k],
                id = people.id[k],
                track = this.tracks.get(id);
            if (!view.shows(level) || !track) continue;
            const x = this.before.x[k] + (people.x[k] - this.before.x[k]) * t,
                y = this.before.y[k] + (people.y[k] - this.before.y[k]) * t,
                z = view.heightAt(level, x, y),
                heading = this.before.heading[k] + (track.heading - this.before.heading[k]) * t,
                far = Math.hypot(x - eye.x, y - eye.y, z - eye.z);
            if (id === view.chosen) view.found(x, y, z, heading, track.look.size);
            this.body.center.set(x, y, z + 0.9);
            if (far > NEAR && !this.sight.intersectsSphere(this.body)) continue;
            if (id === view.skipped) continue;
            let body = 0;
            while (body < BODIES.length && far * simpler > BODIES[body].until) body++;
            const phase = this.before.phase[k] + (track.phase - this.before.phase[k]) * t,
                { seed, size, girth, parts } = track.look,
                colour = [0, 1, 2].map((c) => this.after.colour[3 * k + c] * night);
            this.lie(track, people.phase[k] === PHASE.fallen, seconds);
            const lies = ease(track.lie);
            if (far < 90)
                this.shadows.data.set([x, y, z + 0.024, 0.52 * Math.max(size, 0.75) * (1 + lies)], 4 * shadows++);
            if (body > 1) track.gait = null;
            if (body === BODIES.length) {
                const walks = this.after.step[k] < 0.05 ? 0.1 : phase;
                this.far.data.set(
                    [x, y, z, heading, size * (1 - 0.6 * lies), girth, walks, seed, ...colour, 0],
                    12 * away++,
                );
                continue;
            }
            const at = counts[body];
            if (at >= CAPACITY) continue;
            counts[body]++;
            const [place, feet, lift, pose, look, act, cloth] = arrays[body],
                a = 4 * at;
            place.set([x, y, z, heading], a);
            look.set([seed, size, girth, parts], a);
            cloth.set([...colour, lies], a);
            if (body === 2) {
                farPose(phase, this.after.step[k] / size, feet, lift, a);
                pose.set([0.01 + 0.06 * this.after.step[k], 0, 0, 0], a);
                act.fill(0, a, a + 4);
            } else this.act(track, k, [x, y, z, heading], seconds, [feet, lift, pose, act], a);
            if ((parts & PARTS.chair) !== 0) sit(feet, lift, pose, act, a, phase);
        }
        this.crowding = nextCrowding(
            this.crowding,
            this.meshes.reduce(
                (sum, mesh, body) => sum + (counts[body] * (mesh.geometry.index?.count ?? 0)) / 3,
                2 * away,
            ),
        );
        this.meshes.forEach((mesh, body) => upload(mesh, counts[body]));
        this.far.show(away);
        this.shadows.show(shadows);
        ((this.far.mesh.material as THREE.ShaderMaterial).uniforms.light as { value: number }).value = dark()
            ? 0.55
            : 1;
    }

    // To the ground in 0.7 s, up again in 1.8 s.
    private lie(track: Track, fallen: boolean, seconds: number): void {
        const by = Math.max(0, Math.min(0.2, seconds));
        track.lie = fallen ? Math.min(1, track.lie + by / 0.7) : Math.max(0, track.lie - by / 1.8);
    }

    // A person near enough that one sees what it does.
    private act(
        track: Track,
        k: number,
        [x, y, z, heading]: [number, number, number, number],
        seconds: number,
        [feet, lift, pose, act]: Float32Array[],
        a: number,
    ): void {
        const people = this.people as People,
            id = people.id[k],
            size = track.look.size;
        track.gait ??= new Gait(track.phase, x, y, z, heading, size);
        // In short steps, however seldom pictures are drawn.
        const count = Math.min(12, Math.max(1, Math.ceil(seconds / 0.034))),
            { x: x0, y: y0, z: z0, heading: h0 } = track.gait;
        for (let i = 1; i <= count; i++) {
            const u = i / count;
            track.gait.step(
                x0 + (x - x0) * u,
                y0 + (y - y0) * u,
                z0 + (z - z0) * u,
                h0 + turnBetween(h0, heading) * u,
                seconds / count,
            );
        }
        const { gait } = track,
            [left, right] = gait.write(feet, lift, a),
            stands = ease((gait.rest - 0.5) / 1.5),
            free = people.phase[k] !== PHASE.walking && people.phase[k] !== PHASE.fallen,
            own = shareOf(id, 21),
            wave = (period: number, shift: number): number =>
                Math.sin(2 * Math.PI * (this.clock / (period * (0.7 + 0.6 * own)) + own * 17 + shift));
        // Standing people shift their weight, look around, and some of those that wait talk.
        const shift = Math.tanh(2.5 * wave(9, 0)) * stands,
            talks = free && stands > 0 && shareOf(id, 22) < 0.3 ? stands * (0.45 + 0.3 * wave(1.7, 0.3)) : 0;
        pose[a] = gait.drop + 0.01 * stands * Math.abs(shift) + 0.42 * Math.sin(Math.PI * track.lie);
        pose[a + 1] = left;
        pose[a + 2] = right;
        pose[a + 3] = 0.03 * shift;
        const wanted = this.after.press[k] >= 2 && shareOf(id, 23) < 0.6 ? 1 : 0;
        track.brace += (wanted - track.brace) * Math.min(1, Math.max(0, 2 * seconds));
        act[a] = gait.run;
        act[a + 1] = 0.5 * Math.tanh(1.6 * wave(6, 0.5)) * (0.25 + 0.75 * stands);
        act[a + 2] = Math.max(0, talks);
        act[a + 3] = track.brace;
    }
}

function upload(mesh: Mesh, count: number): void {
    mesh.geometry.instanceCount = count;
    mesh.visible = count > 0;
    for (const name of PERSON) {
        const attribute = mesh.geometry.getAttribute(name) as THREE.InstancedBufferAttribute;
        attribute.clearUpdateRanges();
        attribute.addUpdateRange(0, 4 * count);
        attribute.needsUpdate = true;
    }
}

// In a wheelchair: knees bent, feet on the rest, arms at the rims.
function sit(
    feet: Float32Array,
    lift: Float32Array,
    pose: Float32Array,
    act: Float32Array,
    a: number,
    phase: number,
): void {
    feet.set([0.43, 0.09, 0.43, -0.09], a);
    lift.set([0.17, 0.17, 0, 0], a);
    pose.set([0.36, 0, 0, 0], a);
    act.set([0, act[a + 1], phase, 0], a);
}

// How far a body turns towards where its person goes: quickly at speed, hardly in a jam, where people step aside and back
// instead; never faster than half a turn per second.
export function turned(heading: number, wanted: number, speed: number, seconds: number): number {
    const lag = speed < 0.06 ? 0.5 : 0.22 + 0.5 / (0.2 + speed * speed * 3),
        turn = turnBetween(heading, wanted) * (1 - Math.exp(-Math.max(0, seconds) / lag)),
        most = Math.PI * Math.max(0, seconds);
    return Math.min(most, Math.max(-most, turn));
}

// Follows the number of triangles: a tenth more at a time, so that bodies do not flicker between two shapes.
export function nextCrowding(now: number, triangles: number): number {
    if (triangles > BUDGET) return Math.min(50, now * 1.1);
    return triangles < 0.7 * BUDGET ? Math.max(1, now / 1.02) : now;
}
