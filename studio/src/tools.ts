// The tools in the order of the toolbar. SPDX-License-Identifier: Apache-2.0

export type ToolName =
    | "select"
    | "wall"
    | "obstacle"
    | "floor"
    | "zone"
    | "door"
    | "exit"
    | "group"
    | "source"
    | "line"
    | "area"
    | "people"
    | "clear"
    | "erase"
    | "measure";
export interface Tool {
    name: ToolName;
    label: string;
    key: string;
    title: string;
    stroke: "line" | "rect" | "brush" | "click";
    hint: string;
}

export const TOOLS: Tool[] = [
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
        name: "zone",
        label: "Zone",
        key: "z",
        title: "An area where people walk slower",
        stroke: "rect",
        hint: "Drag a rectangle: people walk slower there.",
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
        name: "erase",
        label: "Delete",
        key: "Delete",
        title: "Delete a wall or thing by a click",
        stroke: "click",
        hint: "Click what shall go.",
    },
];
