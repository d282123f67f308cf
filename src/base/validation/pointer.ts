/** A JSON Pointer (RFC 6901); "" is the whole document. */
export type Pointer = string;

/** The pointer to the value at `key` inside the value at `pointer`. */
export function child(pointer: Pointer, key: string | number): Pointer {
  return `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The pointer to the parent. The parent of the whole document is itself. */
export function parent(pointer: Pointer): Pointer {
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf("/")));
}

/** The keys along a pointer. */
function keysOf(pointer: Pointer): string[] {
  const parts = pointer.split("/").slice(1);
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The value at a pointer; undefined if there is none. */
export function valueAt(value: unknown, pointer: Pointer): unknown {
  let current = value;
  for (const key of keysOf(pointer)) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Object.entries(current).find(([name]) => name === key)?.[1];
  }
  return current;
}

/** A pointer as people write it: tools[0].config. */
export function pathText(pointer: Pointer): string {
  const parts = keysOf(pointer).map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`));
  return parts.join("").replace(/^\./, "");
}
