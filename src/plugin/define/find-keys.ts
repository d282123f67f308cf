import { child, type Pointer } from "../../base/validation/pointer.ts";
import type { NodeOffsets } from "../../base/validation/source-document.ts";
import { isObject } from "../../contracts/json.ts";

/**
 * Where the keys of a definition stand in the text of its module, as far as they are written out there: a key is looked
 * for after the one that holds it. `name` is the export that defines it.
 */
export function findKeys(source: string, name: string, manifest: unknown): Map<Pointer, NodeOffsets> {
  const start = startOf(source, name);
  const offsets = new Map<Pointer, NodeOffsets>([["", { value: start }]]);
  search(manifest, "", start);
  return offsets;

  function search(value: unknown, pointer: Pointer, from: number): void {
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      const at = child(pointer, key);
      const isBlock = at === "/tool" || at === "/reward";
      const found = isBlock ? { value: from } : keyAfter(source, key, from);
      if (found !== undefined) offsets.set(at, found);
      if (found !== undefined) search(inner, at, found.value);
    }
  }
}

/** Where the definition begins: its export, else the first call that defines something, else the module. */
function startOf(source: string, name: string): number {
  const exported = name === "default" ? "export\\s+default\\s" : `\\b${name.replaceAll("$", "\\$")}\\s*=`;
  const patterns = [new RegExp(exported), /\bdefine[A-Z]\w+\s*\(/, /^/];
  return patterns.map((pattern) => source.search(pattern)).find((at) => at >= 0) ?? 0;
}

function keyAfter(source: string, key: string, from: number): NodeOffsets | undefined {
  const escaped = key.replace(/[^\w]/g, "\\$&");
  const pattern = new RegExp(`(?<![\\w$."'])(["']?)${escaped}\\1\\s*(?::\\s*|(?=[,(}]))`, "g");
  pattern.lastIndex = from;
  const found = pattern.exec(source);
  if (found === null) return undefined;
  const end = found.index + found[0].length;
  return { key: found.index, value: /:\s*$/.test(found[0]) ? end : found.index };
}
