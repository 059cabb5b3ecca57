// The tools in the order of the toolbar. SPDX-License-Identifier: Apache-2.0

// A list of the scene file whose elements have a place; made from the schema by build.mjs.
export interface SceneList {
    list: string;
    doc: string;
    place: "area" | "line" | "path";
    required: string[];
    // With its unit and what it is when nothing is given.
    options: {
        name: string;
        kind: "number" | "text" | "goal" | "choice";
        doc: string;
        unit: string;
        usual: string;
        choices: string[]; // of a choice
        max: number | null;
    }[];
}
declare const SCENE_LISTS: SceneList[];
export const LISTS: SceneList[] = SCENE_LISTS;

export interface Tool {
    name: string;
    label: string;
    key: string;
    title: string;
    stroke: "line" | "rect" | "path" | "brush" | "click";
    hint: string;
    list?: SceneList; // what it adds to, with the options of the schema
}

const OWN: Tool[] = [
    {
        name: "select",
        label: "Select",
        key: "s",
        title: "Look around, open doors, inspect people, move things",
        stroke: "click",
        hint: "Drag to look around. Click a door to open or shut it, a person to see what drives it.",
    },
    {
        name: "wall",
        label: "Wall",
        key: "w",
        title: "Draw a wall",
        stroke: "line",
        hint: "Drag to draw a wall. It stands at the next step.",
    },
    {
        name: "obstacle",
        label: "Obstacle",
        key: "o",
        title: "Draw a solid block",
        stroke: "rect",
        hint: "Drag a rectangle: a solid block.",
    },
    {
        name: "floor",
        label: "Floor",
        key: "a",
        title: "Add ground to walk on",
        stroke: "rect",
        hint: "Drag a rectangle: more ground to walk on.",
    },
    {
        name: "door",
        label: "Door",
        key: "d",
        title: "Place a door",
        stroke: "line",
        hint: "Drag along a wall: a door that a click opens and shuts.",
    },
    {
        name: "exit",
        label: "Exit",
        key: "e",
        title: "Place an exit",
        stroke: "line",
        hint: "Drag along a wall: a gap where people leave.",
    },
    {
        name: "group",
        label: "Group",
        key: "g",
        title: "People who stand here at the start",
        stroke: "rect",
        hint: "Drag a rectangle: people start there.",
    },
    {
        name: "source",
        label: "Source",
        key: "u",
        title: "People who come in over time",
        stroke: "rect",
        hint: "Drag a rectangle: people keep coming in there.",
    },
    {
        name: "people",
        label: "Add",
        key: "b",
        title: "Brush: add people",
        stroke: "brush",
        hint: "Paint people into the crowd.",
    },
    {
        name: "clear",
        label: "Remove",
        key: "x",
        title: "Brush: remove people",
        stroke: "brush",
        hint: "Paint people away.",
    },
    {
        name: "zone",
        label: "Zone",
        key: "z",
        title: "An area where people walk slower or would rather not be",
        stroke: "rect",
        hint: "Drag a rectangle: people walk slower there, or would rather not be there.",
        list: LISTS.find(({ list }) => list === "zones"),
    },
    {
        name: "line",
        label: "Line",
        key: "l",
        title: "Count who crosses a line",
        stroke: "line",
        hint: "Drag a line: who crosses it is counted.",
    },
    {
        name: "area",
        label: "Area",
        key: "m",
        title: "Measure density and speed",
        stroke: "rect",
        hint: "Drag a rectangle: density and speed are measured in it.",
    },
    {
        name: "erase",
        label: "Delete",
        key: "Delete",
        title: "Delete a wall or thing by a click",
        stroke: "click",
        hint: "Click what shall go.",
    },
];

// Lists that have a tool of their own above, or that no single stroke can draw.
const KNOWN = ["levels", "stairs", "zones", "doors", "exits", "groups", "scripted"];
const HOW = { area: "Drag a rectangle.", line: "Drag a line.", path: "Drag along the way." };

// Everything else that a scene can hold gets a tool by itself, with a number as its key.
const OTHERS = LISTS.filter(({ list }) => !KNOWN.includes(list)).map((list, k): Tool => {
    const word = list.list.replace(/(_area)?s$/, "").replace(/_/g, " "),
        label = word.charAt(0).toUpperCase() + word.slice(1);
    return {
        name: list.list,
        label,
        key: String(k + 1),
        title: `${label}: ${list.doc.charAt(0).toLowerCase()}${list.doc.slice(1).replace(/\.$/, "")}`,
        stroke: list.place === "area" ? "rect" : list.place,
        hint: `${list.doc} ${HOW[list.place]}`,
        list,
    };
});

const at = OWN.findIndex((tool) => tool.name === "zone") + 1;
export const TOOLS: Tool[] = [...OWN.slice(0, at), ...OTHERS, ...OWN.slice(at)];
