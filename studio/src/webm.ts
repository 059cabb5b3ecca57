// Encoded pictures as a WebM file (Matroska with one track): what WebCodecs leaves to the page. SPDX-License-Identifier: Apache-2.0

export interface Packet {
    time: number; // [ms]
    key: boolean;
    data: Uint8Array;
}

type Part = number[] | Uint8Array;

function join(parts: Part[]): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        out.set(part, at);
        at += part.length;
    }
    return out;
}

const big = (value: number, bytes: number): number[] =>
    Array.from({ length: bytes }, (_, k) => Math.floor(value / 256 ** (bytes - 1 - k)) % 256);
const text = (value: string): number[] => [...value].map((letter) => letter.charCodeAt(0));

// An element: its id, its length in eight bytes, its content.
function element(id: number, ...content: Part[]): Uint8Array<ArrayBuffer> {
    const body = join(content);
    let bytes = 1;
    while (id >= 256 ** bytes) bytes++;
    return join([big(id, bytes), [1, ...big(body.length, 7)], body]);
}

function float(value: number): Uint8Array {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value);
    return bytes;
}

export function webm(
    packets: Packet[],
    codec: "V_VP8" | "V_VP9",
    width: number,
    height: number,
    fps: number,
): Uint8Array<ArrayBuffer> {
    const head = element(
        0x1a45dfa3,
        element(0x4286, [1]),
        element(0x42f7, [1]),
        element(0x42f2, [4]),
        element(0x42f3, [8]),
        element(0x4282, text("webm")),
        element(0x4287, [2]),
        element(0x4285, [2]),
    );
    const info = element(
        0x1549a966,
        element(0x2ad7b1, big(1000000, 3)), // times are in milliseconds
        element(0x4489, float((1000 * packets.length) / fps)),
        element(0x4d80, text("throng")),
        element(0x5741, text("throng")),
    );
    const track = element(
        0x1654ae6b,
        element(
            0xae,
            element(0xd7, [1]),
            element(0x73c5, [1]),
            element(0x83, [1]), // pictures
            element(0x86, text(codec)),
            element(0x23e383, big(Math.round(1e9 / fps), 4)),
            element(0xe0, element(0xb0, big(width, 2)), element(0xba, big(height, 2))),
        ),
    );
    // A cluster begins with each picture that stands alone.
    const clusters: Uint8Array[] = [];
    for (let k = 0; k < packets.length;) {
        const begin = packets[k].time,
            blocks: Uint8Array[] = [element(0xe7, big(begin, 4))];
        do {
            const { time, key, data } = packets[k];
            blocks.push(element(0xa3, [0x81, ...big(time - begin, 2), key ? 0x80 : 0], data));
            k++;
        } while (k < packets.length && !packets[k].key && packets[k].time - begin < 32000);
        clusters.push(element(0x1f43b675, ...blocks));
    }
    return join([head, element(0x18538067, info, track, ...clusters)]);
}
