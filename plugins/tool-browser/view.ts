import { type AriaNode, parseAria } from "./aria-tree.ts";

/** A page as the policy reads it. */
export interface View {
  lines: string[];
  /** Playwright's references for actionable elements, by the numbers in the lines. */
  refs: Map<number, string>;
}

/** Roles that accept a click, a text or a choice. */
const actionable = new Set([
  "button",
  "checkbox",
  "combobox",
  "link",
  "listbox",
  "menuitem",
  "menuitemcheckbox",
  "menuitemradio",
  "radio",
  "searchbox",
  "slider",
  "spinbutton",
  "switch",
  "tab",
  "textbox",
  "treeitem",
]);

/** Roles whose text is their value. */
const fields = new Set(["searchbox", "spinbutton", "textbox"]);

/** States that the view shows. */
const states = ["checked", "disabled", "expanded", "selected", "pressed"];

/** Roles that the view omits, because only their content matters. */
const plain = new Set([
  "generic",
  "text",
  "paragraph",
  "rowgroup",
  "listitem",
  "cell",
  "columnheader",
  "rowheader",
  "gridcell",
  "strong",
  "emphasis",
  "code",
]);

/** Shortens the output of Playwright's `ariaSnapshot`: `[3] link "News" → /news`. */
export function viewOf(snapshot: string): View {
  const refs = new Map<number, string>();

  function told(node: AriaNode): string[] {
    const { role, attributes, properties } = node;
    const canAct = isActionable(node);
    const fieldValue = node.children.filter((child) => child.role === "text");
    const isField = fields.has(role) && fieldValue.length > 0;
    const text = isField ? fieldValue.map((child) => child.text).join("") : node.text;
    const children = isField ? [] : node.children.filter((child) => !isLabel(child, node.children));
    const own = words({ ...node, text }, canAct);
    if (canAct && attributes.ref !== undefined) {
      refs.set(refs.size + 1, attributes.ref);
      own.unshift(`[${refs.size}]`);
    }
    if (properties.url !== undefined) own.push(`→ ${properties.url}`);
    if (role === "combobox" || role === "listbox") return [`${own.join(" ")}${options(children)}`];
    const inner = children.flatMap(told);
    const line = own.join(" ");
    if (role === "row" && inner.length > 0) return [inner.join(" | ")];
    if (line === "") return inner;
    if (role === "listitem") return [`- ${line}`, ...inner.map(indented)];
    const isSaid = node.name !== "" && inner.every((one) => node.name.includes(one));
    return isSaid ? [line] : [line, ...inner.map(indented)];
  }

  return { lines: parseAria(snapshot).flatMap(told), refs };
}

function isActionable({ role, attributes }: AriaNode): boolean {
  return actionable.has(role) || attributes.cursor === "pointer";
}

/** Whether a text only repeats the name of an element next to it. */
function isLabel({ role, text }: AriaNode, siblings: readonly AriaNode[]): boolean {
  return role === "text" && siblings.some((other) => isActionable(other) && other.name === text);
}

function words({ role, name, text, attributes, properties }: AriaNode, canAct: boolean): string[] {
  const said = states
    .filter((state) => attributes[state] !== undefined)
    .map((state) => (attributes[state] ? `${state}=${attributes[state]}` : state));
  const value = fields.has(role) && text !== "" ? `= ${JSON.stringify(text)}` : text;
  const hint = text === "" && properties.placeholder ? `(${properties.placeholder})` : "";
  const rest = [value, hint, ...said].filter(Boolean);
  if (role === "heading") return [`${"#".repeat(Number(attributes.level ?? 1))} ${name}`.trim(), ...rest];
  if (plain.has(role) && !canAct) return [name, ...rest].filter(Boolean);
  const isEmpty = name === "" && rest.length === 0 && !canAct && role !== "img";
  if (isEmpty && !["separator", "iframe", "dialog", "alert"].includes(role)) return [];
  return [role === "generic" ? "item" : role, ...(name === "" ? [] : [JSON.stringify(name)]), ...rest];
}

function options(children: AriaNode[]): string {
  const told = children
    .filter(({ role }) => role === "option")
    .map(
      ({ name, text, attributes }) =>
        `${name || text}${attributes.selected === undefined ? "" : " (selected)"}`,
    );
  return told.length === 0 ? "" : `: ${told.join(", ")}`;
}

function indented(line: string): string {
  return `  ${line}`;
}

/**
 * Splits lines into parts of at most `characters` characters. Each part but the last has as many whole lines
 * as fit. A longer line is broken.
 */
export function partsOf(lines: readonly string[], characters: number): string[] {
  const parts: string[] = [];
  let part = "";
  for (const line of lines.flatMap((one) => broken(one, characters))) {
    if (part !== "" && part.length + 1 + line.length > characters) {
      parts.push(part);
      part = line;
    } else part = part === "" ? line : `${part}\n${line}`;
  }
  return part === "" && parts.length > 0 ? parts : [...parts, part];
}

/** Breaks a line between characters, never within one. */
function broken(line: string, characters: number): string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > characters) {
    const isWithin = /[\ud800-\udbff]/.test(rest[characters - 1] ?? "");
    const end = isWithin ? characters - 1 : characters;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}
