// How a person steps: a foot that stands stays where it was set down, the other swings to where the body will be, so feet do not
// slide forwards, sideways, backwards, on a turn or in a queue. Lengths are of a person 1.75 m tall, times `size`.
// SPDX-License-Identifier: Apache-2.0

export const HIP = 0.88,
    KNEE = 0.46,
    ANKLE = 0.07,
    SIDE = 0.085, // of a foot from the middle
    TOE = 0.15; // of the ball of the foot before the ankle
const REACH = 0.995 * (HIP - ANKLE), // of a leg: never quite straight
    ROLL = 1.05, // most that a heel leaves the ground [rad]
    HASTE = 1.05; // a lifted foot comes down again, standing or not: pairs of steps per second at least

// Length of one step [m] at a speed [m/s]: step length over cadence is the same at all speeds, 0.0065 m per step and minute
// (Sekiya, Nagasaki 1998, Gait and Posture 7, 225).
export function stepLength(speed: number): number {
    return Math.min(1.3, Math.max(0.16, Math.sqrt(60 * 0.0065 * speed)));
}

// The share of the phase (1 is two steps) that a walked distance covers.
export function phaseOf(distance: number, step: number): number {
    return distance / (2 * step);
}

// Where a foot far away is ahead of the hip [m] at `phase`: on the ground for the first half, then swung forward.
export function footAhead(phase: number, step: number): number {
    const p = phase - Math.floor(phase);
    if (p < 0.5) return step * (0.5 - 2 * p);
    const t = (p - 0.5) * 2;
    return step * (ease(t) - 0.5);
}

export function ease(t: number): number {
    const s = Math.min(1, Math.max(0, t));
    return s * s * (3 - 2 * s);
}

export function turnBetween(from: number, to: number): number {
    const turn = to - from;
    return turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI));
}

interface Foot {
    side: 1 | -1; // left, right
    x: number; // of the ankle while the foot is flat
    y: number;
    z: number;
    yaw: number;
    roll: number; // of the heel off the ground [rad]
    swings: boolean;
    duty: number; // share of the phase that it stood
    from: [number, number, number, number, number]; // x, y, z, yaw, roll when it left the ground
    ankle: [number, number, number]; // where it is
}

// One person's legs. After `step` the ankles, rolls and yaws of `feet` and `drop` are the pose.
export class Gait {
    vx = 0;
    vy = 0;
    drop = 0.02; // of the hips [m], of a person 1.75 m tall
    run = 0; // 0 walks .. 1 runs
    rest = 0; // how long the person has stood [s]
    feet: [Foot, Foot];
    private restless = false;

    constructor(
        public phase: number,
        public x: number,
        public y: number,
        public z: number,
        public heading: number,
        public size: number,
    ) {
        this.feet = [this.foot(1), this.foot(-1)];
    }

    private foot(side: 1 | -1): Foot {
        const [x, y] = this.home(side);
        return {
            side,
            x,
            y,
            z: this.z,
            yaw: this.heading,
            roll: 0,
            swings: false,
            duty: 0.6,
            from: [x, y, this.z, this.heading, 0],
            ankle: [x, y, this.z + ANKLE * this.size],
        };
    }

    // Where a foot is when both stand beside each other.
    private home(side: number): [number, number] {
        const wide = SIDE * this.size * side;
        return [this.x - Math.sin(this.heading) * wide, this.y + Math.cos(this.heading) * wide];
    }

    step(x: number, y: number, z: number, heading: number, seconds: number): void {
        const dx = x - this.x,
            dy = y - this.y,
            far = Math.hypot(dx, dy);
        Object.assign(this, { x, y, z, heading });
        if (far > 1.2 || seconds > 1 || seconds < 0) {
            this.vx = this.vy = this.rest = 0;
            this.feet = [this.foot(1), this.foot(-1)];
            return;
        }
        if (seconds > 0) {
            const keep = Math.exp(-seconds / 0.12);
            this.vx = keep * this.vx + (1 - keep) * (dx / seconds);
            this.vy = keep * this.vy + (1 - keep) * (dy / seconds);
            this.advance(far, seconds);
        }
        this.pose(seconds);
    }

    private advance(far: number, seconds: number): void {
        const speed = Math.hypot(this.vx, this.vy),
            along = speed > 0.05 ? (this.vx * Math.cos(this.heading) + this.vy * Math.sin(this.heading)) / speed : 1;
        // Aside and backwards steps are shorter.
        const manner = along > 0 ? 0.6 + 0.4 * along : 0.6 - 0.1 * along,
            step = stepLength(speed) * manner * this.size,
            rate = Math.max(speed / (2 * step), HASTE);
        this.run = ease((speed - 1.9) / 0.7);
        this.rest = speed < 0.08 ? this.rest + seconds : 0;
        const duty = 0.58 - 0.2 * this.run,
            busy = this.feet.some((foot) => foot.swings);
        if (!busy) this.restless = speed < 0.3 && this.feet.some((foot) => this.isAstray(foot));
        this.phase += Math.max(phaseOf(far, step), busy || this.restless ? HASTE * seconds : 0);
        this.hurry(step, duty);
        this.feet.forEach((foot, k) => {
            const p = this.phase + 0.5 * k - Math.floor(this.phase + 0.5 * k);
            if (!foot.swings && p >= duty) {
                foot.swings = true;
                foot.duty = duty;
                foot.from = [...foot.ankle, foot.yaw, foot.roll];
            }
            if (!foot.swings) return;
            const over = p < foot.duty,
                t = over ? 1 : (p - foot.duty) / (1 - foot.duty),
                wait = (over ? -p : 1 - p) / rate;
            this.swing(foot, t, wait, step, speed);
            foot.swings = !over;
        });
    }

    // A foot beside where it should be, when its person stands.
    private isAstray(foot: Foot): boolean {
        const [hx, hy] = this.home(foot.side),
            [far, turned] = this.restless ? [0.04, 0.15] : [0.13, 0.5];
        return (
            Math.hypot(foot.x - hx, foot.y - hy) > far * this.size ||
            Math.abs(turnBetween(foot.yaw, this.heading)) > turned
        );
    }

    // A foot too far behind is lifted before its time, once the other one stands.
    private hurry(step: number, duty: number): void {
        if (this.feet.some((foot) => foot.swings)) return;
        this.feet.forEach((foot, k) => {
            const [hx, hy] = this.home(foot.side),
                far = Math.hypot(foot.x - hx, foot.y - hy),
                p = this.phase + 0.5 * k - Math.floor(this.phase + 0.5 * k);
            const away = (foot.x - hx) * this.vx + (foot.y - hy) * this.vy < 0;
            if (away && p < duty && far > Math.min(0.56 * this.size, Math.max(0.8 * step, 0.3))) this.phase += duty - p;
        });
    }

    private swing(foot: Foot, t: number, wait: number, step: number, speed: number): void {
        const [hx, hy] = this.home(foot.side),
            ahead = speed > 0.05 ? (0.46 * step) / speed : 0;
        const tx = hx + this.vx * (wait + ahead),
            ty = hy + this.vy * (wait + ahead);
        const s = ease(t),
            [fx, fy, fz, yaw, roll] = foot.from,
            lift = (0.02 + 0.11 * step * (1 + this.run)) * Math.sin(Math.PI * t);
        foot.x = fx + (tx - fx) * s;
        foot.y = fy + (ty - fy) * s;
        foot.z = this.z;
        foot.yaw = yaw + turnBetween(yaw, this.heading) * s;
        foot.roll = t < 0.6 ? roll * (1 - t / 0.6) : -0.35 * Math.min(1, step) * Math.sin((Math.PI * (t - 0.6)) / 0.4);
        const flat = this.z + ANKLE * this.size;
        foot.ankle = [foot.x, foot.y, Math.max(flat, fz + (flat - fz) * s) + (t < 1 ? lift : 0)];
    }

    // How far the hips must come down for a leg to reach the ankle [m]; of the hip as it is now.
    private needs(foot: Foot, ankle: [number, number, number]): number {
        const [hx, hy] = this.home(foot.side),
            reach = REACH * this.size,
            far = Math.min(Math.hypot(ankle[0] - hx, ankle[1] - hy), 0.999 * reach);
        return this.z + HIP * this.size - ankle[2] - Math.sqrt(reach * reach - far * far);
    }

    private pose(seconds: number): void {
        let drop = 0.012 * this.size;
        for (const foot of this.feet)
            if (!foot.swings && !this.isBehind(foot)) drop = Math.max(drop, this.needs(foot, this.stand(foot, 0)));
        drop = Math.min(drop, 0.2 * this.size);
        drop = Math.max(drop, this.size * this.drop * Math.exp(-seconds / 0.15));
        for (const foot of this.feet) {
            if (foot.swings) continue;
            // The heel leaves the ground as far as the leg asks for.
            let low = 0,
                high = this.isBehind(foot) ? ROLL : 0;
            if (this.needs(foot, this.stand(foot, 0)) <= drop) high = 0;
            for (let k = 0; k < 7 && high > 0; k++) {
                const roll = (low + high) / 2;
                if (this.needs(foot, this.stand(foot, roll)) > drop) low = roll;
                else high = roll;
            }
            foot.roll = high;
            foot.ankle = this.stand(foot, high);
            drop = Math.max(drop, Math.min(0.24 * this.size, this.needs(foot, foot.ankle)));
        }
        this.drop = drop / this.size;
        for (const foot of this.feet) this.hold(foot);
    }

    private isBehind(foot: Foot): boolean {
        return (foot.x - this.x) * Math.cos(foot.yaw) + (foot.y - this.y) * Math.sin(foot.yaw) < 0;
    }

    // The ankle of a foot on the ground that has rolled over its ball.
    private stand(foot: Foot, roll: number): [number, number, number] {
        const toe = TOE * this.size,
            high = ANKLE * this.size,
            on = toe - toe * Math.cos(roll) + high * Math.sin(roll);
        return [
            foot.x + Math.cos(foot.yaw) * on,
            foot.y + Math.sin(foot.yaw) * on,
            foot.z + high * Math.cos(roll) + toe * Math.sin(roll),
        ];
    }

    // No ankle is farther from its hip than a leg is long.
    private hold(foot: Foot): void {
        const [hx, hy] = this.home(foot.side),
            hz = this.z + (HIP - this.drop) * this.size,
            [x, y, z] = foot.ankle,
            share = (REACH * this.size * 1.0001) / Math.hypot(x - hx, y - hy, z - hz);
        if (share < 1) foot.ankle = [hx + (x - hx) * share, hy + (y - hy) * share, hz + (z - hz) * share];
    }

    // For the shader: metres of a person 1.75 m tall, seen from the person. `feet`: x and y of the left and the right ankle;
    // `lift`: their heights and rolls; `turn`: their yaws.
    write(feet: Float32Array, lift: Float32Array, at: number): [number, number] {
        const c = Math.cos(this.heading),
            s = Math.sin(this.heading);
        this.feet.forEach(({ ankle, roll }, k) => {
            const dx = (ankle[0] - this.x) / this.size,
                dy = (ankle[1] - this.y) / this.size;
            feet[at + 2 * k] = c * dx + s * dy;
            feet[at + 2 * k + 1] = c * dy - s * dx;
            lift[at + k] = (ankle[2] - this.z) / this.size;
            lift[at + 2 + k] = roll;
        });
        return [turnBetween(this.heading, this.feet[0].yaw), turnBetween(this.heading, this.feet[1].yaw)];
    }
}
