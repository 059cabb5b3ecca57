// The tools in the order of the toolbar. SPDX-License-Identifier: Apache-2.0

// A list of the scene file whose elements have a place. Those of the engine are made from the schema by build.mjs, those that
// models declare come with the server's hello.
export interface SceneList {
    list: string;
    item: string; // what one element is called
    doc: string;
    place: "area" | "line" | "path";
    key: string; // of an element, that holds its place
    model: string; // that declares it; "": none
    stage: string; // of the model
    colour: string; // "#rrggbb"; "": the page's own
    leads: boolean; // from its first point to its last
    required: string[];
    // With its unit and its default.
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
export const LISTS: SceneList[] = [...SCENE_LISTS];

export function colourOf(list: string): string {
    return LISTS.find((one) => one.list === list)?.colour || "--waypoint";
}

export function isArea(list: string): boolean {
    return LISTS.some((one) => one.list === list && one.place === "area");
}

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
        name: "stairs",
        label: "Stairs",
        key: "j",
        title: "Draw stairs to another level",
        stroke: "rect",
        hint: "Drag a rectangle upwards: the far edge of its longer side is the top.",
    },
    {
        name: "group",
        label: "Group",
        key: "g",
        title: "People at the start",
        stroke: "rect",
        hint: "Drag a rectangle: people start there.",
    },
    {
        name: "source",
        label: "Source",
        key: "u",
        title: "People that come in over time",
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
        title: "Count people that cross a line",
        stroke: "line",
        hint: "Drag a line: people that cross it are counted.",
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
        hint: "Click what to delete.",
    },
];

// Lists that have a tool of their own above, or that no single stroke can draw.
const KNOWN = ["levels", "stairs", "zones", "doors", "exits", "groups", "scripted"];
const HOW = { area: "Drag a rectangle.", line: "Drag a line.", path: "Drag along the way." };

// Every other list of the scene gets a tool of its own, the first nine with a number as key.
function toolOf(list: SceneList, k: number): Tool {
    const word = list.item.replace(/_/g, " "),
        label = word.charAt(0).toUpperCase() + word.slice(1);
    return {
        name: list.list,
        label,
        key: k < 9 ? String(k + 1) : "",
        title: `${label}: ${list.doc.charAt(0).toLowerCase()}${list.doc.slice(1).replace(/\.$/, "")}`,
        stroke: list.place === "area" ? "rect" : list.place,
        hint: `${list.doc} ${HOW[list.place]}`,
        list,
    };
}

export const TOOLS: Tool[] = [];

// Takes the sections that the models of the server declare; both lists stay the same arrays.
export function declareSections(sections: SceneList[]): void {
    LISTS.splice(SCENE_LISTS.length, LISTS.length, ...sections);
    const others = LISTS.filter(({ list }) => !KNOWN.includes(list)).map(toolOf);
    const at = OWN.findIndex((tool) => tool.name === "zone") + 1;
    TOOLS.splice(0, TOOLS.length, ...OWN.slice(0, at), ...others, ...OWN.slice(at));
}
declareSections([]);
