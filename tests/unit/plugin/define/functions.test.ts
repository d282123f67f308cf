import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ResolvedPlugin } from "../../../../src/contracts/plan.ts";
import { resolveFile } from "../../../../src/plugin/define/resolve-file.ts";
import { loadTool } from "../../../../src/plugin/registry/registry.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const folder = temporaryFolder();
mkdirSync(join(folder, "node_modules"));
symlinkSync(join(root, "node_modules", "typescript"), join(folder, "node_modules", "typescript"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
let files = 0;

/** What a tool is made of that is named by `#name` of a module with this text. */
async function resolved(text: string, name = "it", base = folder) {
  const file = `it-${++files}.ts`;
  writeFileSync(join(base, file), text);
  const place = { file: "pipeline.yaml", line: 1, column: 1, text: "pipeline.yaml:1:1" };
  const found = await resolveFile({ kind: "tool", reference: { path: file, name }, place, base });
  const problems = found.problems.map(({ error }) => error.message.replaceAll(`${base}/${file}`, "it.ts"));
  return { found, problems };
}

/** The tool of such a module: what the policy is told, and what it answers. */
async function tool(text: string, name = "it") {
  const { found, problems } = await resolved(text, name);
  if (found.manifest === undefined || found.manifest.tool === undefined) throw new Error(problems.join());
  const { file, manifest, source } = found;
  const plugin: ResolvedPlugin = {
    name: manifest.name,
    version: manifest.version,
    folder,
    entry: file,
    manifest,
    config: {},
    source,
  };
  const { execute } = await loadTool(plugin);
  const execution = { instance: "", function: "", key: "", attempt: 1, config: {}, isReplay: false };
  const { signal } = new AbortController();
  const answer = (given: Parameters<typeof execute>[0]) =>
    execute(given, { ...execution, signal }, undefined);
  return { told: found.manifest.tool, answer };
}

const sum = `
/**
 * Adds two numbers.
 * @param a The first one.
 */
export function it(a: number, b: number, digits = 2, label?: "sum" | "total"): string {
  return (label ?? "is") + " " + (a + b).toFixed(digits);
}
`;

describe("a plain function", () => {
  it("is a tool by its types and what is written above it", async () => {
    const { told, answer } = await tool(sum);
    expect(told).toMatchObject({ name: "it", description: "Adds two numbers." });
    expect(told.parameters).toEqual({
      type: "object",
      additionalProperties: false,
      required: ["a", "b"],
      properties: {
        a: { type: "number", description: "The first one." },
        b: { type: "number" },
        digits: { type: "number", default: 2 },
        label: { enum: ["sum", "total"] },
      },
    });
    expect(await answer({ a: 1, b: 2 })).toBe("is 3.00");
    expect(await answer({ b: 2, a: 1, label: "sum", digits: 0 })).toBe("sum 3");
  });

  it("may take lists, objects, a number of values, or one object whose values are the arguments", async () => {
    const { told, answer } = await tool(`
      interface Place {
        /** In degrees. */
        latitude: number;
        name?: string;
        tags: Record<string, boolean>;
      }
      /** Goes. */
      export const it = async (to: Place, way: [number, string] | null, ...stops: readonly ("a" | 1)[]) =>
        JSON.stringify([to, way, stops]);
    `);
    expect(told.parameters).toMatchObject({
      required: ["to", "way"],
      properties: {
        to: {
          type: "object",
          additionalProperties: false,
          required: ["latitude", "tags"],
          properties: {
            latitude: { type: "number", description: "In degrees." },
            name: { type: "string" },
            tags: { type: "object", additionalProperties: { type: "boolean" } },
          },
        },
        way: { anyOf: [{ type: "null" }, { type: "array", minItems: 2, maxItems: 2 }] },
        stops: { type: "array", items: { enum: ["a", 1] } },
      },
    });
    expect(await answer({ to: 1, way: null, stops: ["a", 1] })).toBe('[1,null,["a",1]]');
    const one = await tool(
      `
      /** Adds. */
      export default function ({ a, b = 3 }: {
        a: number;
        /** Another one. */
        b?: number;
      }) { return a + b; }
    `,
      "default",
    );
    expect(one.told.parameters).toMatchObject({
      required: ["a"],
      properties: { b: { description: "Another one." } },
    });
    expect(await one.answer({ a: 1 })).toBe(4);
  });

  it("whose arguments JSON can't hold is refused, with the parameter and its place", async () => {
    const problem = async (parameters: string) =>
      (
        await resolved(
          `type List = { next?: List };\n/** It. */\nexport function it(${parameters}) { return 1; }\n`,
        )
      ).problems.join();
    expect(await problem("a: number, when: Date")).toMatchInlineSnapshot(
      `"it.ts:3:31: the parameter “when” of it can't be an argument of a tool: its type Date has methods, which JSON has not. Take text, numbers, true or false, lists or objects of these."`,
    );
    expect(await problem("call: () => void")).toMatchInlineSnapshot(
      `"it.ts:3:20: the parameter “call” of it can't be an argument of a tool: its type () => void is a function. Take text, numbers, true or false, lists or objects of these."`,
    );
    expect(await problem("a: any")).toMatchInlineSnapshot(
      `"it.ts:3:20: the parameter “a” of it can't be an argument of a tool: its type any is not a JSON value. Take text, numbers, true or false, lists or objects of these."`,
    );
    expect(await problem("a: { b: bigint[] }")).toMatchInlineSnapshot(
      `"it.ts:3:20: the parameter “a” of it can't be an argument of a tool: its type bigint is not a JSON value. Take text, numbers, true or false, lists or objects of these."`,
    );
    expect(await problem("list: List")).toMatchInlineSnapshot(
      `"it.ts:3:20: the parameter “list” of it can't be an argument of a tool: its type List refers to itself. Take text, numbers, true or false, lists or objects of these."`,
    );
  });

  it("without a description, of several signatures, or a class is refused", async () => {
    const problem = async (text: string) => (await resolved(text)).problems.join();
    expect(await problem("export function it(a: number) { return a; }\n")).toMatchInlineSnapshot(
      `"it.ts:1:1: the function it has no description. Write /** … */ above it: the policy reads it as the description of the tool."`,
    );
    expect(await problem("/** It. */\nexport function it<T>(a: T) { return a; }\n")).toMatchInlineSnapshot(
      `"it.ts:2:1: the function it has type parameters. Write one signature with plain types: a tool has one schema."`,
    );
    expect(await problem("/** It. */\nexport class it {}\n")).toMatchInlineSnapshot(
      `"it.ts:2:1: it is a class. Write one signature with plain types: a tool has one schema."`,
    );
  });

  it("needs the TypeScript of its project", async () => {
    const bare = temporaryFolder();
    writeFileSync(join(bare, "package.json"), '{ "type": "module" }');
    expect((await resolved(sum, "it", bare)).problems.join()).toMatchInlineSnapshot(
      `"it.ts:1:1: a plain function's schema is inferred by TypeScript, and the project of the file has none. Install it (\`npm install --save-dev typescript@6\`), or write defineTool({ … })."`,
    );
    const none = join(bare, "node_modules", "typescript");
    mkdirSync(none, { recursive: true });
    writeFileSync(join(none, "package.json"), '{ "main": "index.js" }');
    writeFileSync(join(none, "index.js"), 'exports.version = "7.0.2";');
    expect((await resolved(sum, "it", bare)).problems.join()).toMatchInlineSnapshot(
      `"it.ts:1:1: a plain function's schema is inferred by TypeScript, but 7.0.2 has no compiler to ask. Install typescript@6 (\`npm install --save-dev typescript@6\`), or write defineTool({ … })."`,
    );
  });
});
