// The same crowd in three dimensions: walls, doors and stairs with height, walking people, shadows; orbit, walk and follow
// cameras; levels one, stacked or pulled apart. x is east, y north, z up [m]. SPDX-License-Identifier: Apache-2.0
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { cssColour, dark, h } from "./dom";
import { colourOf, isArea } from "./tools";
import {
    addInstances,
    phaseOf,
    stepLength,
    walkerDepth,
    walkerGeometry,
    walkerMaterial,
    type WalkerShape,
} from "./walker";
import type { Level, People, Raster, Ring, Scene } from "./types";
import { boxOf, distanceToLine, insideRings } from "./types";

export type LevelMode = "one" | "stacked" | "apart";
export type CameraMode = "orbit" | "walk" | "follow";

const EYE = 1.62; // height of the eyes [m]
const CUT = 1.15; // walls end here while one looks from above, so that they hide no person [m]
const TALL = 2.7; // and here when one walks among them [m]
const CAPACITY = 40000;
const BUDGET = 2e6; // triangles of all bodies: an ordinary GPU draws them, and their shadows, thirty times a second
const NEAR = 12; // people nearer than this are drawn wherever one looks, for their shadows [m]

// Bodies by distance from the camera [m], each simpler than the one before.
const BODIES: { until: number; shape: WalkerShape; shadow: boolean }[] = [
    { until: 16, shape: "fine", shadow: true },
    { until: 60, shape: "plain", shadow: true },
    { until: 160, shape: "figure", shadow: true },
    { until: Infinity, shape: "peg", shadow: false },
];

interface Track {
    seen: number;
    x: number;
    y: number;
    phase: number;
    heading: number;
}

export class View3d {
    readonly element: HTMLElement;
    chosen = 0;
    levelMode: LevelMode = "stacked";
    cameraMode: CameraMode = "orbit";
    level = 0;
    onPick: (index: number) => void = () => {};
    private renderer: THREE.WebGLRenderer;
    private space = new THREE.Scene();
    private camera = new THREE.PerspectiveCamera(50, 1, 0.1, 4000);
    private orbit: OrbitControls;
    private sun = new THREE.DirectionalLight(0xfff4e6, 2.4);
    private sky = new THREE.HemisphereLight(0xf2f6ff, 0xb8b2a6, 1.9);
    private built = new THREE.Group();
    private levelGroups: THREE.Group[] = [];
    private crowds: THREE.Mesh<THREE.InstancedBufferGeometry, THREE.Material>[] = [];
    private marker: THREE.Mesh;
    private doorMeshes: { leaf: THREE.Mesh; sill: THREE.Mesh }[] = [];
    private rasterMesh: THREE.Mesh | null = null;
    private scene: Scene | null = null;
    private people: People | null = null;
    private tracks = new Map<number, Track>();
    private before = emptyTracks();
    private after = { phase: new Float32Array(0), step: new Float32Array(0), colour: new Float32Array(0) };
    private frame = 0;
    private arrived = 0;
    private interval = 100;
    private active = false;
    private keys = new Set<string>();
    private look = { yaw: 0, pitch: -0.1 };
    private last = performance.now();
    private slow = 16;
    private crowding = 1; // bodies are so many times simpler than their distance asks for
    private seen = new THREE.Frustum();
    private body = new THREE.Sphere(new THREE.Vector3(), 1.2);
    private filming = false;

    constructor() {
        this.renderer = new THREE.WebGLRenderer({ antialias: true, powerPreference: "high-performance" });
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = THREE.PCFShadowMap;
        this.element = h("div", { className: "space", hidden: true }, this.renderer.domElement);
        this.renderer.domElement.tabIndex = 0;
        this.camera.up.set(0, 0, 1);
        this.orbit = new OrbitControls(this.camera, this.renderer.domElement);
        this.orbit.maxPolarAngle = Math.PI / 2 - 0.03;
        this.orbit.zoomToCursor = true;
        this.orbit.enableDamping = false;
        this.space.add(this.built, this.sky, this.sun, this.sun.target);
        this.sun.castShadow = true;
        this.sun.shadow.mapSize.set(2048, 2048);
        this.sun.shadow.bias = -0.0006;
        for (const body of BODIES) {
            const geometry = walkerGeometry(body.shape);
            addInstances(geometry, CAPACITY);
            const mesh = new THREE.Mesh(geometry, walkerMaterial() as THREE.Material);
            mesh.customDepthMaterial = walkerDepth();
            mesh.castShadow = body.shadow;
            mesh.frustumCulled = false;
            this.crowds.push(mesh);
            this.space.add(mesh);
        }
        this.marker = new THREE.Mesh(
            new THREE.ConeGeometry(0.16, 0.34, 12).rotateX(-Math.PI / 2),
            new THREE.MeshBasicMaterial({ color: 0xd55e00 }),
        );
        this.marker.visible = false;
        this.space.add(this.marker);
        this.listen();
        new ResizeObserver(() => this.resize()).observe(this.element);
    }

    private listen(): void {
        const canvas = this.renderer.domElement;
        let down: { x: number; y: number } | null = null;
        canvas.addEventListener("pointerdown", (event) => {
            down = { x: event.clientX, y: event.clientY };
            canvas.focus();
        });
        canvas.addEventListener("pointermove", (event) => {
            if (this.cameraMode !== "walk" || event.buttons === 0) return;
            this.look.yaw -= event.movementX * 0.004;
            this.look.pitch = Math.min(1.2, Math.max(-1.2, this.look.pitch - event.movementY * 0.004));
        });
        canvas.addEventListener("pointerup", (event) => {
            if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4)
                this.pick(event.offsetX, event.offsetY);
            down = null;
        });
        canvas.addEventListener("keydown", (event) => {
            if (this.cameraMode === "walk" && /^(Key[WASD]|Arrow)/.test(event.code)) {
                this.keys.add(event.code);
                event.preventDefault();
                event.stopPropagation();
            }
        });
        canvas.addEventListener("keyup", (event) => this.keys.delete(event.code));
        canvas.addEventListener("blur", () => this.keys.clear());
    }

    setActive(active: boolean): void {
        if (this.active === active) return;
        this.active = active;
        this.element.hidden = !active;
        if (active) {
            this.resize();
            this.theme();
            requestAnimationFrame(() => this.render());
        }
    }

    theme(): void {
        const night = dark();
        this.space.background = new THREE.Color(night ? 0x14171c : 0xdfe6ec);
        this.space.fog = new THREE.Fog(this.space.background, 250, 1500);
        this.sky.intensity = night ? 0.8 : 1.9;
        this.sun.intensity = night ? 1.1 : 1.9;
        if (this.scene) this.setScene(this.scene, true);
    }

    private resize(): void {
        const { clientWidth, clientHeight } = this.element;
        if (clientWidth === 0 || clientHeight === 0 || this.filming) return;
        this.renderer.setPixelRatio(Math.min(2, devicePixelRatio || 1));
        this.renderer.setSize(clientWidth, clientHeight);
        this.camera.aspect = clientWidth / clientHeight;
        this.camera.updateProjectionMatrix();
    }

    // ---- what stands still
    private height(index: number): number {
        const scene = this.scene;
        if (!scene || this.levelMode === "one") return 0;
        const z = scene.levels.map((level) => level.z);
        const flat = z.every((value) => value === z[0]);
        if (this.levelMode === "apart" || flat) return index * (flat && this.levelMode === "stacked" ? 4 : 12);
        return z[index] ?? 0;
    }

    setScene(scene: Scene, keepView: boolean): void {
        this.scene = scene;
        this.built.clear();
        this.levelGroups = [];
        this.doorMeshes = [];
        this.rasterMesh = null;
        const tall = this.cameraMode === "walk" ? TALL : CUT;
        scene.levels.forEach((level, k) => {
            const group = new THREE.Group();
            group.position.z = this.height(k);
            group.visible = this.levelMode !== "one" || k === this.level;
            this.addGround(group, level, tall, k);
            this.levelGroups.push(group);
            this.built.add(group);
        });
        for (const zone of scene.zones)
            if (!zone.stairs) this.addFlat(zone.level, zone.rings, cssColour("--zone"), 0.01, 0.7);
        for (const goal of scene.goals) {
            if (goal.kind === "detour") continue; // an element of a section
            const colour = cssColour(`--${goal.kind}`);
            if (goal.line) this.addStrip(goal.level, goal.line, colour, 0.5, 0.02, 0.03);
            else this.addFlat(goal.level, goal.rings, colour, 0.015, 0.35);
        }
        for (const [list, items] of Object.entries(scene.sections))
            for (const item of isArea(list) ? items : [])
                this.addFlat(item.level, item.rings, cssColour(colourOf(list)), 0.015, 0.35);
        for (const link of scene.links) this.addStairs(scene, link.id);
        scene.doors.forEach((door) => {
            const leaf = this.addStrip(
                door.level,
                door.line,
                cssColour("--door-shut"),
                0.12,
                0,
                Math.min(2.1, tall + 0.1),
            );
            const sill = this.addStrip(door.level, door.line, cssColour("--door-open"), 0.3, 0.01, 0.02);
            this.doorMeshes.push({ leaf, sill });
        });
        this.setDoors(scene.doors.map((door) => door.open));
        this.light();
        if (!keepView) this.fit();
    }

    setDoors(open: boolean[]): void {
        this.doorMeshes.forEach((door, k) => {
            door.leaf.visible = open[k] === false;
            door.sill.visible = open[k] !== false;
        });
    }

    private light(): void {
        const box = boxOf(this.scene as Scene);
        const reach = Math.min(120, Math.hypot(box[2] - box[0], box[3] - box[1]) / 2 + 3);
        const x = (box[0] + box[2]) / 2,
            y = (box[1] + box[3]) / 2;
        this.sun.target.position.set(x, y, 0);
        this.sun.position.set(x - 0.5 * reach, y - 0.7 * reach, 1.6 * reach + 10);
        const shadow = this.sun.shadow.camera;
        shadow.left = shadow.bottom = -reach;
        shadow.right = shadow.top = reach;
        shadow.near = 1;
        shadow.far = 5 * reach + 60;
        shadow.updateProjectionMatrix();
    }

    private addGround(group: THREE.Group, level: Level, tall: number, index: number): void {
        const floor = new THREE.MeshLambertMaterial({ color: cssColour("--floor3d"), side: THREE.DoubleSide });
        const faint = this.levelMode !== "one" && (this.scene?.levels.length ?? 1) > 1 && index > 0;
        if (faint) Object.assign(floor, { transparent: true, opacity: 0.55, depthWrite: false });
        const shapes = shapesOf(level.rings);
        const ground =
            level.rings.length > 0
                ? new THREE.ShapeGeometry(shapes)
                : new THREE.PlaneGeometry(400, 400).translate(
                      (level.box[0] + level.box[2]) / 2,
                      (level.box[1] + level.box[3]) / 2,
                      0,
                  );
        const mesh = new THREE.Mesh(ground, floor);
        mesh.receiveShadow = true;
        group.add(mesh);
        const stone = new THREE.MeshLambertMaterial({ color: cssColour("--wall3d") });
        const walls = new THREE.Mesh(wallGeometry(level.walls, tall), stone);
        walls.castShadow = walls.receiveShadow = true;
        group.add(walls);
        // Columns and blocks are holes of the ground: closed on top.
        const holes = shapes.flatMap((shape) => shape.holes).map((path) => new THREE.Shape(path.getPoints()));
        if (holes.length > 0) {
            const top = new THREE.Mesh(new THREE.ShapeGeometry(holes).translate(0, 0, tall), stone);
            top.receiveShadow = true;
            group.add(top);
        }
    }

    private addFlat(level: number, rings: Ring[], colour: string, z: number, opacity: number): void {
        if (rings.length === 0) return;
        const mesh = new THREE.Mesh(
            new THREE.ShapeGeometry(shapesOf(rings)).translate(0, 0, z),
            new THREE.MeshLambertMaterial({
                color: colour,
                transparent: true,
                opacity,
                side: THREE.DoubleSide,
                depthWrite: false,
            }),
        );
        this.levelGroups[level]?.add(mesh);
    }

    private addStrip(
        level: number,
        line: ArrayLike<number>,
        colour: string,
        width: number,
        z: number,
        tall: number,
    ): THREE.Mesh {
        const dx = line[2] - line[0],
            dy = line[3] - line[1];
        const mesh = new THREE.Mesh(
            new THREE.BoxGeometry(Math.hypot(dx, dy), width, tall),
            new THREE.MeshLambertMaterial({ color: colour }),
        );
        mesh.position.set((line[0] + line[2]) / 2, (line[1] + line[3]) / 2, z + tall / 2);
        mesh.rotation.z = Math.atan2(dy, dx);
        mesh.castShadow = tall > 0.5;
        this.levelGroups[level]?.add(mesh);
        return mesh;
    }

    private addStairs(scene: Scene, id: string): void {
        const link = scene.links.find((l) => l.id === id),
            zone = scene.zones.find((z) => z.id === id && z.stairs);
        if (!link || !zone?.rings[0] || this.levelMode === "one") return;
        const rise = this.height(link.upper) - this.height(link.lower);
        const run = runOf(zone.rings[0], link.line, link.up);
        const count = Math.min(60, Math.max(3, Math.round(Math.abs(rise) / 0.18)));
        const material = new THREE.MeshLambertMaterial({ color: cssColour("--stairs3d") });
        for (let k = 0; k < count; k++) {
            const back = run * (1 - (k + 0.5) / count);
            const tread = this.addStrip(link.lower, link.line, "#999", run / count, (rise * k) / count, 0.12);
            tread.material = material;
            tread.position.x -= link.up[0] * back;
            tread.position.y -= link.up[1] * back;
            tread.receiveShadow = true;
        }
    }

    setRaster(raster: Raster | null, image: HTMLCanvasElement | null): void {
        if (this.rasterMesh) this.rasterMesh.removeFromParent();
        this.rasterMesh = null;
        if (!raster || !image) return;
        const texture = new THREE.CanvasTexture(image);
        texture.colorSpace = THREE.SRGBColorSpace;
        const wide = raster.nx * raster.cell,
            high = raster.ny * raster.cell;
        this.rasterMesh = new THREE.Mesh(
            new THREE.PlaneGeometry(wide, high),
            new THREE.MeshBasicMaterial({ map: texture, transparent: true, depthWrite: false }),
        );
        this.rasterMesh.position.set(raster.x + wide / 2, raster.y + high / 2, 0.02);
        this.levelGroups[raster.level]?.add(this.rasterMesh);
    }

    // ---- cameras
    fit(): void {
        if (!this.scene) return;
        const box = boxOf(this.scene),
            x = (box[0] + box[2]) / 2,
            y = (box[1] + box[3]) / 2,
            heights = this.scene.levels.map((_, k) => this.height(k)),
            low = Math.min(0, ...heights),
            high = Math.max(0, ...heights);
        // Looks from the south, far enough away that every corner of the scene is in the picture.
        const corner = new THREE.Vector3();
        const isSeen = (): boolean =>
            [box[0], box[2]].every((cx) =>
                [box[1], box[3]].every((cy) =>
                    [low, high + CUT].every((cz) => {
                        corner.set(cx, cy, cz).project(this.camera);
                        return Math.abs(corner.x) < 0.94 && Math.abs(corner.y) < 0.9 && corner.z < 1;
                    }),
                ),
            );
        const middle = (low + high) / 2;
        this.orbit.target.set(x, y, middle);
        for (let far = 8; far < 3500; far *= 1.05) {
            this.camera.position.set(x, y - 0.74 * far, middle + 0.67 * far);
            this.orbit.update();
            this.camera.updateMatrixWorld();
            if (isSeen()) break;
        }
    }

    setCamera(mode: CameraMode): void {
        this.cameraMode = mode;
        this.orbit.enabled = mode !== "walk";
        if (mode === "walk" && this.scene) {
            const target = this.orbit.target;
            const away = new THREE.Vector3().subVectors(target, this.camera.position),
                yaw = Math.atan2(away.y, away.x),
                place = standing(
                    this.scene.levels[this.level],
                    target.x - 6 * Math.cos(yaw),
                    target.y - 6 * Math.sin(yaw),
                ),
                [x, y] = this.crowdOf(this.level) ?? [target.x, target.y];
            this.look = { yaw: Math.atan2(y - place[1], x - place[0]), pitch: -0.08 };
            this.camera.position.set(place[0], place[1], EYE);
            this.renderer.domElement.focus();
        } else if (mode === "orbit") this.fit();
        if (this.scene) this.setScene(this.scene, true);
    }

    // The middle of the people of a level.
    private crowdOf(level: number): [number, number] | null {
        const people = this.people;
        let x = 0,
            y = 0,
            n = 0;
        for (let k = 0; people && k < people.count; k++) {
            if (people.level[k] !== level) continue;
            x += people.x[k];
            y += people.y[k];
            n++;
        }
        return n > 0 ? [x / n, y / n] : null;
    }

    private walk(seconds: number): void {
        const ahead =
            (this.keys.has("KeyW") || this.keys.has("ArrowUp") ? 1 : 0) -
            (this.keys.has("KeyS") || this.keys.has("ArrowDown") ? 1 : 0);
        const aside =
            (this.keys.has("KeyD") || this.keys.has("ArrowRight") ? 1 : 0) -
            (this.keys.has("KeyA") || this.keys.has("ArrowLeft") ? 1 : 0);
        const c = Math.cos(this.look.yaw),
            s = Math.sin(this.look.yaw),
            speed = 4 * seconds;
        this.camera.position.x += (c * ahead + s * aside) * speed;
        this.camera.position.y += (s * ahead - c * aside) * speed;
        this.camera.position.z = this.height(this.level) + EYE;
        this.camera.lookAt(
            this.camera.position.x + c * Math.cos(this.look.pitch),
            this.camera.position.y + s * Math.cos(this.look.pitch),
            this.camera.position.z + Math.sin(this.look.pitch),
        );
    }

    private follow(x: number, y: number, z: number, heading: number): void {
        const target = new THREE.Vector3(x, y, z + 1.3);
        const wish = new THREE.Vector3(x - 6 * Math.cos(heading), y - 6 * Math.sin(heading), z + 5.2);
        this.camera.position.lerp(wish, 0.04);
        this.orbit.target.lerp(target, 0.2);
        this.camera.lookAt(this.orbit.target);
    }

    // ---- people
    show(people: People, shade: (k: number) => [number, number, number]): void {
        const n = people.count;
        if (this.after.phase.length < n) {
            const size = Math.ceil(n * 1.25);
            for (const key of ["x", "y", "phase", "heading"] as const) this.before[key] = new Float32Array(size);
            this.after = {
                phase: new Float32Array(size),
                step: new Float32Array(size),
                colour: new Float32Array(3 * size),
            };
        }
        this.frame++;
        for (let k = 0; k < n; k++) {
            const id = people.id[k],
                x = people.x[k],
                y = people.y[k];
            const step = stepLength(people.speed[k]);
            let track = this.tracks.get(id);
            const jumped = track !== undefined && Math.abs(track.x - x) + Math.abs(track.y - y) > 3;
            if (!track || jumped) {
                track = { seen: 0, x, y, phase: (id * 0.618) % 1, heading: people.heading[k] };
                this.tracks.set(id, track);
            }
            this.before.x[k] = track.x;
            this.before.y[k] = track.y;
            this.before.phase[k] = track.phase;
            this.before.heading[k] = track.heading;
            // Feet advance by the distance walked, not by the clock.
            track.phase += phaseOf(Math.hypot(x - track.x, y - track.y), step);
            let turn = people.heading[k] - track.heading;
            turn -= 2 * Math.PI * Math.round(turn / (2 * Math.PI));
            track.heading += turn * (people.speed[k] > 0.15 ? 0.35 : 0.06);
            track.x = x;
            track.y = y;
            track.seen = this.frame;
            this.after.phase[k] = track.phase;
            this.after.step[k] = people.speed[k] < 0.05 ? 0.02 : step;
            const [r, g, b] = shade(k);
            this.after.colour[3 * k] = r;
            this.after.colour[3 * k + 1] = g;
            this.after.colour[3 * k + 2] = b;
        }
        if (this.frame % 200 === 0)
            for (const [id, track] of this.tracks) if (track.seen < this.frame - 100) this.tracks.delete(id);
        const now = performance.now();
        if (this.arrived > 0) this.interval = 0.8 * this.interval + 0.2 * Math.min(300, now - this.arrived);
        this.arrived = now;
        this.people = people;
    }

    private heightAt(level: number, x: number, y: number): number {
        const scene = this.scene as Scene;
        let z = this.height(level);
        if (this.levelMode === "one") return z;
        for (const link of scene.links) {
            if (link.lower !== level) continue;
            const zone = scene.zones.find((candidate) => candidate.id === link.id && candidate.stairs);
            // A person that has just come from above may still be a hand's breadth beyond the top.
            const onTop = distanceToLine(link.line, x, y) < 0.3;
            if (!zone?.rings[0] || (!onTop && !insideRings(zone.rings, x, y))) continue;
            const run = runOf(zone.rings[0], link.line, link.up);
            const back = (link.line[0] - x) * link.up[0] + (link.line[1] - y) * link.up[1];
            z += (this.height(link.upper) - this.height(link.lower)) * Math.min(1, Math.max(0, 1 - back / run));
        }
        return z;
    }

    private place(): void {
        const people = this.people,
            scene = this.scene;
        if (!people || !scene) return;
        const t = Math.min(1, (performance.now() - this.arrived) / Math.max(16, this.interval));
        const eye = this.camera.position;
        const counts = BODIES.map(() => 0);
        const arrays = this.crowds.map((mesh) =>
            ["place", "gait", "cloth"].map(
                (name) => (mesh.geometry.getAttribute(name) as THREE.InstancedBufferAttribute).array as Float32Array,
            ),
        );
        this.marker.visible = false;
        this.camera.updateMatrixWorld();
        this.seen.setFromProjectionMatrix(
            new THREE.Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse),
        );
        const simpler = (this.crowding * this.slow) / 16;
        const night = dark() ? 0.8 : 1;
        for (let k = 0; k < people.count; k++) {
            const level = people.level[k];
            if (this.levelMode === "one" && level !== this.level) continue;
            const x = this.before.x[k] + (people.x[k] - this.before.x[k]) * t;
            const y = this.before.y[k] + (people.y[k] - this.before.y[k]) * t;
            const z = this.heightAt(level, x, y);
            const track = this.tracks.get(people.id[k]);
            const heading = this.before.heading[k] + ((track?.heading ?? 0) - this.before.heading[k]) * t;
            const far = Math.hypot(x - eye.x, y - eye.y, z - eye.z);
            this.body.center.set(x, y, z + 0.9);
            if (far > NEAR && people.id[k] !== this.chosen && !this.seen.intersectsSphere(this.body)) continue;
            let body = 0;
            while (far * simpler > BODIES[body].until) body++;
            const at = counts[body];
            if (at >= CAPACITY) continue;
            counts[body]++;
            const [place, gait, cloth] = arrays[body];
            const id = people.id[k],
                tall = 0.92 + 0.16 * ((id * 0.754877) % 1),
                girth = (people.radius[k] / 0.2) * (0.94 + 0.12 * ((id * 0.56984) % 1));
            place[4 * at] = x;
            place[4 * at + 1] = y;
            place[4 * at + 2] = z;
            place[4 * at + 3] = heading;
            gait[4 * at] = this.before.phase[k] + (this.after.phase[k] - this.before.phase[k]) * t;
            gait[4 * at + 1] = this.after.step[k];
            gait[4 * at + 2] = tall;
            gait[4 * at + 3] = Math.min(1.6, Math.max(0.7, girth));
            cloth[4 * at] = this.after.colour[3 * k] * night;
            cloth[4 * at + 1] = this.after.colour[3 * k + 1] * night;
            cloth[4 * at + 2] = this.after.colour[3 * k + 2] * night;
            cloth[4 * at + 3] = people.phase[k] === 4 ? 1 : 0; // fallen
            if (id === this.chosen) {
                this.marker.visible = true;
                this.marker.position.set(x, y, z + 2.15 * tall);
                if (this.cameraMode === "follow") this.follow(x, y, z, heading);
            }
        }
        this.crowding = nextCrowding(
            this.crowding,
            this.crowds.reduce((sum, mesh, body) => sum + (counts[body] * (mesh.geometry.index?.count ?? 0)) / 3, 0),
        );
        this.crowds.forEach((mesh, body) => {
            mesh.geometry.instanceCount = counts[body];
            mesh.visible = counts[body] > 0;
            for (const name of ["place", "gait", "cloth"]) {
                const attribute = mesh.geometry.getAttribute(name) as THREE.InstancedBufferAttribute;
                attribute.clearUpdateRanges();
                attribute.addUpdateRange(0, 4 * counts[body]);
                attribute.needsUpdate = true;
            }
        });
    }

    private render(): void {
        if (!this.active || this.filming) return;
        const now = performance.now(),
            seconds = Math.min(0.1, (now - this.last) / 1000);
        // Slow machines take the simpler bodies earlier.
        this.slow = Math.min(48, Math.max(16, 0.95 * this.slow + 0.05 * (now - this.last)));
        this.last = now;
        if (this.cameraMode === "walk") this.walk(seconds);
        this.place();
        this.renderer.render(this.space, this.camera);
        requestAnimationFrame(() => this.render());
    }

    private pick(px: number, py: number): void {
        const people = this.people;
        if (!people) return;
        const { clientWidth, clientHeight } = this.element,
            point = new THREE.Vector3();
        let best = 26,
            found = -1;
        for (let k = 0; k < people.count; k++) {
            point
                .set(people.x[k], people.y[k], this.heightAt(people.level[k], people.x[k], people.y[k]) + 0.9)
                .project(this.camera);
            if (point.z > 1) continue;
            const d = Math.hypot(((point.x + 1) / 2) * clientWidth - px, ((1 - point.y) / 2) * clientHeight - py);
            if (d < best) {
                best = d;
                found = k;
            }
        }
        this.onPick(found);
    }

    triangles(): number {
        return this.renderer.info.render.triangles;
    }
    // Draws the last shown moment once more, for a film: no time passes, each person has the best body for the distance.
    still(width: number, height: number): HTMLCanvasElement {
        if (!this.filming) {
            this.filming = true;
            this.renderer.setPixelRatio(1);
            this.renderer.setSize(width, height);
            this.camera.aspect = width / height;
            this.camera.updateProjectionMatrix();
            this.fit();
        }
        this.arrived = performance.now() - 1e6;
        this.slow = 16;
        this.place();
        this.renderer.render(this.space, this.camera);
        return this.renderer.domElement;
    }
}

// Follows the number of triangles: a tenth more at a time, so that bodies do not flicker between two shapes.
export function nextCrowding(now: number, triangles: number): number {
    if (triangles > BUDGET) return Math.min(50, now * 1.1);
    return triangles < 0.7 * BUDGET ? Math.max(1, now / 1.02) : now;
}

function emptyTracks(): Record<"x" | "y" | "phase" | "heading", Float32Array> {
    return { x: new Float32Array(0), y: new Float32Array(0), phase: new Float32Array(0), heading: new Float32Array(0) };
}

// The place nearest to (x, y) where a camera can stand half a metre from every wall.
function standing(level: Level | undefined, x: number, y: number): [number, number] {
    if (!level || level.rings.length === 0) return [x, y];
    let best: [number, number] = [x, y],
        nearest = Infinity;
    const step = Math.max(0.5, Math.hypot(level.box[2] - level.box[0], level.box[3] - level.box[1]) / 100);
    for (let px = level.box[0] + step / 2; px < level.box[2]; px += step)
        for (let py = level.box[1] + step / 2; py < level.box[3]; py += step) {
            const far = Math.hypot(px - x, py - y);
            if (far >= nearest || !insideRings(level.rings, px, py)) continue;
            let clear = true;
            for (let k = 0; clear && k + 3 < level.walls.length; k += 4)
                clear = distanceToLine(level.walls.slice(k, k + 4), px, py) > 0.5;
            if (!clear) continue;
            nearest = far;
            best = [px, py];
        }
    return best;
}

// Rings of which inside is where an odd number surrounds: outer ones with their holes.
function shapesOf(rings: Ring[]): THREE.Shape[] {
    const depth = rings.map(
        (ring, k) => rings.filter((other, j) => j !== k && insideRings([other], ring[0], ring[1])).length,
    );
    const points = (ring: Ring): THREE.Vector2[] => {
        const out: THREE.Vector2[] = [];
        for (let k = 0; k < ring.length; k += 2) out.push(new THREE.Vector2(ring[k], ring[k + 1]));
        return out;
    };
    return rings.flatMap((ring, k) => {
        if (depth[k] % 2 === 1 || ring.length < 6) return [];
        const shape = new THREE.Shape(points(ring));
        rings.forEach((hole, j) => {
            if (depth[j] === depth[k] + 1 && insideRings([ring], hole[0], hole[1]))
                shape.holes.push(new THREE.Path(points(hole)));
        });
        return [shape];
    });
}

// Thin blocks along the segments, one mesh.
function wallGeometry(walls: number[], tall: number): THREE.BufferGeometry {
    const position: number[] = [],
        normal: number[] = [],
        index: number[] = [],
        half = 0.05;
    const face = (corners: number[][], n: number[]): void => {
        const start = position.length / 3;
        for (const corner of corners) {
            position.push(...corner);
            normal.push(...n);
        }
        index.push(start, start + 1, start + 2, start, start + 2, start + 3);
    };
    for (let k = 0; k + 3 < walls.length; k += 4) {
        const [x0, y0, x1, y1] = walls.slice(k, k + 4),
            length = Math.hypot(x1 - x0, y1 - y0);
        if (!(length > 0)) continue;
        const ux = ((x1 - x0) / length) * half,
            uy = ((y1 - y0) / length) * half,
            nx = -uy,
            ny = ux;
        const a = [x0 - ux + nx, y0 - uy + ny],
            b = [x1 + ux + nx, y1 + uy + ny];
        const c = [x1 + ux - nx, y1 + uy - ny],
            d = [x0 - ux - nx, y0 - uy - ny];
        const ring = [a, d, c, b];
        const out = [
            [-ux, -uy],
            [-nx, -ny],
            [ux, uy],
            [nx, ny],
        ];
        ring.forEach((p, i) => {
            const q = ring[(i + 1) % 4],
                n = [out[i][0] / half, out[i][1] / half, 0];
            face(
                [
                    [p[0], p[1], 0],
                    [q[0], q[1], 0],
                    [q[0], q[1], tall],
                    [p[0], p[1], tall],
                ],
                n,
            );
        });
        face(
            [
                [a[0], a[1], tall],
                [d[0], d[1], tall],
                [c[0], c[1], tall],
                [b[0], b[1], tall],
            ],
            [0, 0, 1],
        );
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
    geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normal, 3));
    geometry.setIndex(index);
    return geometry;
}

// The depth of a flight of stairs behind its top line [m].
function runOf(ring: Ring, top: ArrayLike<number>, up: [number, number]): number {
    let run = 0.5;
    for (let k = 0; k < ring.length; k += 2)
        run = Math.max(run, (top[0] - ring[k]) * up[0] + (top[1] - ring[k + 1]) * up[1]);
    return run;
}
