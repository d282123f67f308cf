import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const folder = join(import.meta.dirname, "..", "..", "..", "..", "schemas");
const files = readdirSync(folder);

/** Whether a node is a schema that names a type, and not the properties of which one is called “type”. */
function isTyped(node: object): node is { type: string | string[] } {
  return "type" in node && (typeof node.type === "string" || Array.isArray(node.type));
}

/** Paths of nodes that lack a title or description, which editors show; conditions aside. */
function undescribed(node: unknown, path: string): string[] {
  if (typeof node !== "object" || node === null || "if" in node) return [];
  const own = isTyped(node) && !("title" in node && "description" in node) ? [path] : [];
  return [...own, ...Object.entries(node).flatMap(([key, inner]) => undescribed(inner, `${path}/${key}`))];
}

/** Paths of objects that don't say whether other keys are allowed. */
function unsealed(node: unknown, path: string): string[] {
  if (typeof node !== "object" || node === null || "if" in node) return [];
  const own = isTyped(node) && node.type === "object" && !("additionalProperties" in node) ? [path] : [];
  return [...own, ...Object.entries(node).flatMap(([key, inner]) => unsealed(inner, `${path}/${key}`))];
}

describe.each(files)("%s", (file) => {
  const schema: unknown = JSON.parse(readFileSync(join(folder, file), "utf8"));

  it("describes every node for editors", () => {
    expect(undescribed(schema, "")).toEqual([]);
  });

  it("says of every object whether other keys are allowed", () => {
    expect(unsealed(schema, "")).toEqual([]);
  });
});
