import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { workflowBundle } from "../../../src/control/temporal/workflow-bundle.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** Everturn's modules in the bundle, without the entry and the loop, which each workflow loads. */
async function sharedModules(): Promise<string[]> {
  const workflow = join(root, "plugins", "loop-tool-agent", "workflow.ts");
  const code = await workflowBundle([{ name: "loop-tool-agent", workflow }], false);
  const [, encoded = ""] = /sourceMappingURL=data:application\/json;[^,]*base64,(\S+)/.exec(code) ?? [];
  const { sources }: { sources: string[] } = JSON.parse(Buffer.from(encoded, "base64").toString());
  return sources
    .filter((source) => !source.includes("node_modules"))
    .map((source) => /(?:^|\/)((?:workflows|src)\/(?:[\w-]+\/)*[\w-]+\.ts)$/.exec(source)?.[1] ?? "")
    .filter((path) => path !== "" && path !== "workflows/entry.ts");
}

/** Paths of values below `value` that keep state although they are frozen, or that break when frozen. */
function stateIn(value: unknown, path: string, seen: Set<unknown>): string[] {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value))
    return [];
  seen.add(value);
  const isStateful = value instanceof RegExp && (value.global || value.sticky);
  const own = isStateful || value instanceof Map || value instanceof Set ? [path] : [];
  const names = typeof value === "function" ? [] : Object.keys(value);
  return [...own, ...names.flatMap((name) => stateIn(Reflect.get(value, name), `${path}.${name}`, seen))];
}

test("modules that workflows share keep no state of a workflow", async () => {
  const modules = await sharedModules();
  expect(modules).toContain("workflows/trajectory.ts");
  const variables = modules.filter((path) =>
    /^(?:export )?(?:let|var) /m.test(readFileSync(join(root, path), "utf8")),
  );
  expect(variables).toEqual([]);
  for (const path of modules) {
    const exported: object = await import(join(root, path));
    expect(stateIn({ ...exported }, path, new Set())).toEqual([]);
  }
});
