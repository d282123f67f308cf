import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkManifest } from "../../../../src/plugin/registry/manifest.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "..", "plugins");

describe.each(readdirSync(folder))("plugins/%s", (name) => {
  it("has a valid manifest under its own name", () => {
    const { manifest, problems } = checkManifest(join(folder, name));
    expect(problems).toEqual([]);
    expect(manifest?.name).toBe(name);
    expect(name.split("-")[0]).toBe(manifest?.kind);
  });
});
