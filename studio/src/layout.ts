// Written by `build/tools/studio-layout ts` from src/studio/layout.h; do not edit.
// SPDX-License-Identifier: Apache-2.0

export const MAGIC = 0x31524854;
export const VERSION = 1;
export const NO_LEVEL = 65535;
export const NOTHING = 255;

// Kinds of binary messages
export const KIND_PEOPLE = 1; // a people head, then `count` person records
export const KIND_MAP = 2; // a map head, then `count` cells of one byte, rows from the south
export const KIND_VECTORS = 3; // a map head, then `count` cells of two signed bytes, x and y

// every binary message begins with it
export interface Head {
  magic: number; // 0x31524854, the bytes THR1
  version: number; // of these layouts: 1
  kind: number; // see the kinds
  world: number; // 0; 1 for the second world of a comparison
  flags: number; // bit 0: of the past, while scrubbing
  frame: number; // number of the moment; it grows, and frames are left out
  count: number; // records or cells that follow the second head
  time: number; // simulated [s]
  total: number; // people in the world, in view or not
  item: number; // people: index in scene.colours; map and vectors: index in scene.layers
  level: number; // of a map or vectors; 65535 for people, whose records have it
}
export const Head_SIZE = 32;
export const Head_OFFSETS = {
  magic: 0,
  version: 4,
  kind: 5,
  world: 6,
  flags: 7,
  frame: 8,
  count: 12,
  time: 16,
  total: 24,
  item: 28,
  level: 30,
} as const;
export function readHead(view: DataView, at: number): Head {
  return {
    magic: view.getUint32(at + 0, true),
    version: view.getUint8(at + 4),
    kind: view.getUint8(at + 5),
    world: view.getUint8(at + 6),
    flags: view.getUint8(at + 7),
    frame: view.getUint32(at + 8, true),
    count: view.getUint32(at + 12, true),
    time: view.getFloat64(at + 16, true),
    total: view.getUint32(at + 24, true),
    item: view.getUint16(at + 28, true),
    level: view.getUint16(at + 30, true),
  };
}

// follows the head of people
export interface PeopleHead {
  minX: number; // x of a person is min_x + step_x * record.x [m] from the scene's origin
  minY: number; // y of a person is min_y + step_y * record.y [m]
  stepX: number; // [m]
  stepY: number; // [m]
  valueMin: number; // number: value_min + record.value / 254 * (value_max - value_min)
  valueMax: number; // category: both are 0 and record.value is the index
  speedMax: number; // speed is record.speed / 255 * speed_max [m/s]
  kept: number; // share of the people in view that was sent, 1 unless thinned
}
export const PeopleHead_SIZE = 32;
export const PeopleHead_OFFSETS = {
  minX: 0,
  minY: 4,
  stepX: 8,
  stepY: 12,
  valueMin: 16,
  valueMax: 20,
  speedMax: 24,
  kept: 28,
} as const;
export function readPeopleHead(view: DataView, at: number): PeopleHead {
  return {
    minX: view.getFloat32(at + 0, true),
    minY: view.getFloat32(at + 4, true),
    stepX: view.getFloat32(at + 8, true),
    stepY: view.getFloat32(at + 12, true),
    valueMin: view.getFloat32(at + 16, true),
    valueMax: view.getFloat32(at + 20, true),
    speedMax: view.getFloat32(at + 24, true),
    kept: view.getFloat32(at + 28, true),
  };
}

// one person
export interface Person {
  id: number; // never given twice
  x: number;
  y: number;
  heading: number; // 256 steps around, counter-clockwise from east
  speed: number; // 255 steps up to speed_max
  value: number; // of the chosen colour; 255: none
  phase: number; // index in hello.phases: standing, walking, waiting, ...
  level: number; // index of the level
  group: number; // index in scene.groups, scripted people after them; 255: beyond
  radius: number; // [cm]
  mark: number; // bit 0: is the inspected person
}
export const Person_SIZE = 16;
export const Person_OFFSETS = {
  id: 0,
  x: 4,
  y: 6,
  heading: 8,
  speed: 9,
  value: 10,
  phase: 11,
  level: 12,
  group: 13,
  radius: 14,
  mark: 15,
} as const;
export function readPerson(view: DataView, at: number): Person {
  return {
    id: view.getUint32(at + 0, true),
    x: view.getUint16(at + 4, true),
    y: view.getUint16(at + 6, true),
    heading: view.getUint8(at + 8),
    speed: view.getUint8(at + 9),
    value: view.getUint8(at + 10),
    phase: view.getUint8(at + 11),
    level: view.getUint8(at + 12),
    group: view.getUint8(at + 13),
    radius: view.getUint8(at + 14),
    mark: view.getUint8(at + 15),
  };
}

// follows the head of a map or of vectors
export interface MapHead {
  minX: number; // west edge of the first cell [m] from the scene's origin
  minY: number; // south edge of the first cell [m]
  cell: number; // side of a cell [m]
  nx: number; // cells in a row
  ny: number; // rows
  valueMin: number; // map: value_min + byte / 254 * (value_max - value_min); 255: nothing
  valueMax: number; // vectors: component = signed byte / 127 * value_max
  top: number; // largest value of all cells
  spare: number; // 0
}
export const MapHead_SIZE = 32;
export const MapHead_OFFSETS = {
  minX: 0,
  minY: 4,
  cell: 8,
  nx: 12,
  ny: 14,
  valueMin: 16,
  valueMax: 20,
  top: 24,
  spare: 28,
} as const;
export function readMapHead(view: DataView, at: number): MapHead {
  return {
    minX: view.getFloat32(at + 0, true),
    minY: view.getFloat32(at + 4, true),
    cell: view.getFloat32(at + 8, true),
    nx: view.getUint16(at + 12, true),
    ny: view.getUint16(at + 14, true),
    valueMin: view.getFloat32(at + 16, true),
    valueMax: view.getFloat32(at + 20, true),
    top: view.getFloat32(at + 24, true),
    spare: view.getUint32(at + 28, true),
  };
}
