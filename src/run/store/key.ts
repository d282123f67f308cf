import { createHash } from "node:crypto";

/** The place of a record, and the type of its value. keys.ts creates keys. */
export interface Key<Value> {
  readonly path: string;
  /** Never present. It only tells the compiler the type of the value. */
  readonly holds?: Value;
}

/** The place of a tree, and the type of the value in its record, which also lists the files. */
export interface TreeKey<Value> {
  readonly tree: string;
  /** Never present, as in `Key`. */
  readonly holds?: Value;
}

/** All places with a common beginning. */
export interface Prefix {
  readonly prefix: string;
}

/**
 * A longer name is cut and ends with its hash: a key has at most 1,024 bytes in an object store, and a file's name
 * 255.
 */
const longestName = 100;

/**
 * The key of the record at these names. Dots, slashes, capitals (which some file systems don't distinguish) and all
 * characters other than `a-z 0-9 _ -` are written as `%xx`, so that any text is a valid name and no two are equal.
 */
export function keyOf<Value>(...names: readonly (string | number)[]): Key<Value> {
  return { path: `${pathOf(names)}.json` };
}

/** The key of the tree at these names. */
export function treeKeyOf<Value>(...names: readonly (string | number)[]): TreeKey<Value> {
  return { tree: pathOf(names) };
}

/** Everything below these names. */
export function prefixOf(...names: readonly (string | number)[]): Prefix {
  return { prefix: names.length === 0 ? "" : `${pathOf(names)}/` };
}

/** The name that a part of a path encodes; undefined if it was cut, or is not an encoded name. */
export function nameOf(part: string): string | undefined {
  if (part === "%") return "";
  return /^([a-z0-9_-]|%[0-9a-f]{2})+$/.test(part) ? decodeURIComponent(part) : undefined;
}

function pathOf(names: readonly (string | number)[]): string {
  return names.map((name) => encoded(String(name))).join("/");
}

function encoded(name: string): string {
  if (name.length <= longestName && /^[a-z0-9_-]+$/.test(name)) return name; // the usual case
  const text = [...Buffer.from(name)].map(encodedByte).join("");
  if (text === "") return "%";
  if (text.length <= longestName) return text;
  return `${text.slice(0, 60)}%%${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
}

function encodedByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[a-z0-9_-]/.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`;
}
