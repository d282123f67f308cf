import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { changedSources } from "../../../../src/plugin/define/digest.ts";
import { inspect } from "../../../../src/plugin/define/inspect.ts";
import { loadTool } from "../../../../src/plugin/registry/registry.ts";
import { toolThread } from "../../../../src/work/tools/tool-thread.ts";
import { fileOf, workspace } from "../../plan/pipeline/workspace.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");

const length = `import { defineTool } from "everturn/plugin";
import { metres } from "./units.ts";

export default defineTool({
  name: "length",
  description: "Converts a length between m and km.",
  parameters: {
    type: "object",
    additionalProperties: false,
    required: ["value", "from"],
    properties: { value: { type: "number" }, from: { enum: ["m", "km"] } },
  },
  retry: { maximumAttempts: 2 },
  timeout: "3s",
  capabilities: { network: true },
  config: { type: "object", properties: { digits: { type: "integer", default: 2 } }, additionalProperties: false },
  execute({ value, from }, { config }) {
    return (value * metres[from]).toFixed(config.digits);
  },
});
`;

const units = "export const metres: Record<string, number> = { m: 1, km: 1000 };\n";

const call = {
  instance: "",
  function: "",
  key: "",
  attempt: 1,
  config: {},
  isReplay: false,
  signal: new AbortController().signal,
};

/** A workspace whose only tool is `use`, with these files; imports find this Everturn. */
function made(use: string, files: Record<string, string>): string {
  const pipeline = fileOf("pipeline.yaml").replace(/tools:[\s\S]*(?=loop:)/, `tools: [${use}]\n`);
  const folder = workspace({ "pipeline.yaml": pipeline, "package.json": '{ "type": "module" }', ...files });
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules", "everturn"));
  for (const name of ["zod", "valibot", "arktype", "@valibot", "typescript"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  return folder;
}

function planned(use: string, files: Record<string, string>) {
  return loadPlan(join(made(use, files), "pipeline.yaml"));
}

/** The message with which a pipeline is refused whose tool is this text, in tools/it.ts. */
async function refused(text: string, use = "./tools/it.ts", files: Record<string, string> = {}) {
  const folder = made(use, { "tools/it.ts": text, ...files });
  try {
    await loadPlan(join(folder, "pipeline.yaml"));
  } catch (error) {
    if (!(error instanceof Error && error.name === "EverturnError")) throw error;
    return error.message.replaceAll(`${folder}/`, "").replace(/^.*\n/, "").replace(/\n.*$/, "");
  }
  throw new Error("The pipeline was accepted.");
}

describe("a tool in one file", () => {
  it("is a tool of the plan, with a manifest derived from it and digests of what it was made from", async () => {
    const files = { "tools/length.ts": length, "tools/units.ts": units };
    const plan = await planned("{ plugin: ./tools/length.ts, config: { digits: 1 }, timeout: 1s }", files);
    const [tool] = plan.tools;
    expect(tool).toMatchObject({
      name: "tool-length",
      version: "0.0.0",
      timeout: 1000,
      host: "length",
      config: { digits: 1 },
      retry: { maximumAttempts: 2, initialInterval: 100 },
      manifest: {
        kind: "tool",
        entry: "./length.ts",
        capabilities: { network: true, files: false },
        tool: { name: "length", stateful: false, timeout: "3s", parameters: { required: ["value", "from"] } },
      },
    });
    if (tool?.source === undefined) throw new Error("there is no such tool");
    const sources = Object.keys(tool.source.files).map((file) => file.slice(tool.folder.length));
    expect(sources).toEqual(["/length.ts", "/units.ts"]);
    const { plugin, close } = await toolThread(tool, "length", () => {});
    const answer = await plugin.execute(
      { value: 3, from: "km" },
      { ...call, config: tool.config },
      undefined,
    );
    await close();
    expect(answer).toEqual({ text: "3000.0" });
    expect(changedSources(plan)).toEqual([]);
    writeFileSync(join(tool.folder, "units.ts"), units.replace("m: 1,", "m: 1.0,"));
    expect(changedSources(plan)).toEqual([join(tool.folder, "units.ts")]);
    const { execute } = await loadTool(tool);
    const given = { ...call, config: tool.config };
    expect(await execute({ value: 3, from: "km" }, given, undefined)).toBe("3000.0");
  });

  it("takes the schemas of zod, valibot and arktype, and gives execute what these parsed", async () => {
    const tool = (name: string, head: string, parameters: string) => `
      import { defineTool } from "everturn/plugin";
      ${head}
      export const ${name} = defineTool({
        name: "${name}", description: "Repeats.", parameters: ${parameters},
        execute: ({ text, times }) => text.repeat(times),
      });`;
    const files = {
      "tools/a.ts": tool(
        "zods",
        'import { z } from "zod";',
        "z.object({ text: z.string().describe('What to repeat.'), times: z.int().min(1).max(9).default(2) })",
      ),
      "tools/b.ts": tool(
        "valibots",
        'import * as v from "valibot"; import { toStandardJsonSchema } from "@valibot/to-json-schema";',
        "toStandardJsonSchema(v.object({ text: v.string(), times: v.optional(v.number(), 2) }))",
      ),
      "tools/c.ts": tool(
        "arktypes",
        'import { type } from "arktype";',
        "type({ text: 'string', times: 'number = 2' })",
      ),
    };
    const plan = await planned("./tools/a.ts#zods, ./tools/b.ts#valibots, ./tools/c.ts#arktypes", files);
    expect(plan.tools.map(({ name }) => name)).toEqual(["tool-zods", "tool-valibots", "tool-arktypes"]);
    for (const resolved of plan.tools) {
      const { parameters } = resolved.manifest.tool ?? {};
      expect(parameters).toMatchObject({
        type: "object",
        required: ["text"],
        additionalProperties: false,
        properties: { text: { type: "string" } },
      });
      expect(parameters).not.toHaveProperty("$schema");
      const { execute } = await loadTool(resolved);
      expect(await execute({ text: "ab" }, call, undefined)).toBe("abab");
      expect(await execute({ text: 3 }, call, undefined)).toMatchObject({
        invalid: expect.stringContaining("text"),
      });
    }
    expect(plan.tools[0]?.manifest.tool?.parameters).toMatchObject({
      properties: { text: { description: "What to repeat." }, times: { maximum: 9 } },
    });
  });

  it("is one as docs/tools.md has it, as are the function and the data set there, and the reward of docs/rewards.md", async () => {
    const codeOf = (name: string) => {
      const page = readFileSync(join(root, "docs", name), "utf8");
      return [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code]) => code ?? "");
    };
    const [first = "", , plain = "", data = ""] = codeOf("tools.md");
    const [reward = ""] = codeOf("rewards.md");
    const files = { "length.ts": first, "ways.ts": plain, "near.ts": reward, "data.ts": data };
    const folder = made("./length.ts, ./ways.ts#way", files);
    const overrides = ["reward=./near.ts", "dataset.train=./data.ts"];
    const plan = await loadPlan(join(folder, "pipeline.yaml"), { overrides });
    expect(plan).toMatchObject({
      tools: [
        { name: "tool-length", manifest: { tool: { parameters: { required: ["value", "from", "to"] } } } },
        { name: "tool-way", manifest: { tool: { description: "The length of a way." } } },
      ],
      rewards: [{ name: "reward-near", manifest: { reward: { pure: true } } }],
      dataset: { train: { name: "dataset-data" } },
    });
  });

  it("has state where it has create()", async () => {
    const text = `import { defineTool } from "everturn/plugin";
      export default defineTool({ name: "count", description: "Counts.", parameters: { type: "object" },
        recovery: "replay", create: () => ({ count: 0 }), execute: (_, __, state) => ++state.count });`;
    const plan = await planned("./tools/it.ts", { "tools/it.ts": text });
    expect(plan.tools[0]?.manifest.tool).toMatchObject({ stateful: true, recovery: "replay" });
  });
});

describe("a module that is no such plugin is refused", () => {
  const define = 'import { defineTool } from "everturn/plugin";\n';
  const head = `${define}export default defineTool({\n  name: "it",\n  description: "It.",\n`;
  const rest = '  parameters: { type: "object" },\n  execute: () => 1,\n});\n';

  it("a file that is not there", async () => {
    expect(await refused("", "./tools/its.ts")).toMatchInlineSnapshot(
      `"pipeline.yaml:10:9: there is no plugin “./tools/its.ts”. There is no file tools/its.ts; a path is relative to the pipeline. Did you mean “it.ts”?"`,
    );
  });

  it("no default export, but another one", async () => {
    expect(await refused("export const other = 3;\n")).toMatchInlineSnapshot(
      `"tools/it.ts:1:1: it has no default export. Write \`export default defineTool({ … })\`. Or name another of its exports: it.ts#other."`,
    );
    expect(await refused(head + rest, "./tools/it.ts#its")).toMatchInlineSnapshot(
      `"tools/it.ts:2:16: it has no export “its”. Write \`export const its = defineTool({ … })\`."`,
    );
  });

  it("what throws while it is loaded, calls process.exit(), or can't be read", async () => {
    expect(await refused('\n  throw new Error("no licence");\n')).toMatchInlineSnapshot(
      `"tools/it.ts:2:9: it can't be loaded: Error: no licence. Everturn loads it when it makes the plan, to learn what it defines."`,
    );
    expect(
      await refused('import "./other.ts";', "./tools/it.ts", { "tools/other.ts": "\nlet a = = 2;\n" }),
    ).toMatchInlineSnapshot(
      `"tools/other.ts:2:9: it can't be loaded: SyntaxError: Expression expected. Everturn loads it when it makes the plan, to learn what it defines."`,
    );
    expect(await refused('import { Nothing } from "everturn-nothing";\n')).toMatchInlineSnapshot(
      `"tools/it.ts:1:25: it can't be loaded: Error: Cannot find package 'everturn-nothing' imported from tools/it.ts. Install it in the project of the file, or correct the import."`,
    );
    expect(await refused('// It.\nimport "everturn-nothing";\nexport default 3;\n')).toContain(
      "tools/it.ts:2:8: it can't be loaded",
    );
    expect(
      await refused(head + rest, "./tools/it.ts", { "package.json": '{ "type": "commonjs" }' }),
    ).toContain(
      "Cannot use import statement outside a module. Its package.json makes it CommonJS: `npm pkg set type=module`",
    );
    expect(await refused("process.exit(3);\n")).toMatchInlineSnapshot(
      `"tools/it.ts:1:1: it ended its thread while it was loaded, with exit code 3. Leave out process.exit()."`,
    );
  });

  it("what is never loaded to its end", async () => {
    const folder = made("./tools/it.ts", {});
    mkdirSync(join(folder, "tools"));
    const path = join(folder, "tools", "it.ts");
    const refusal = async (text: string, limit: { time: number; work: number }) => {
      writeFileSync(path, text);
      return (await inspect({ path, name: "default", kind: "tool" }, limit)).found;
    };
    expect(
      await refusal("await new Promise(() => setInterval(() => {}, 9));\n", { time: 300, work: 9e9 }),
    ).toMatchObject({
      finding: { reason: "loading it went on for more than 0.3 s" },
    });
    expect(await refusal("for (;;);\n", { time: 9e8, work: 300 })).toMatchObject({
      finding: { reason: "loading it computed for more than 0.3 s" },
    });
  });

  it("another kind, and no definition", async () => {
    const reward = `import { defineReward } from "everturn/plugin";
      export default defineReward({ score: () => ({ reward: 1, success: true }) });`;
    expect(await refused(reward)).toMatchInlineSnapshot(
      `"tools/it.ts:2:7: this needs a tool, but it is a reward. Write \`export default defineTool({ … })\`."`,
    );
    expect(await refused("export default { execute() {} };")).toMatchInlineSnapshot(
      `"tools/it.ts:1:1: its default export is not a tool. Write \`export default defineTool({ … })\`."`,
    );
  });

  it("a schema that can't be JSON Schema", async () => {
    const zod = (schema: string) =>
      `import { z } from "zod";\n${head}  parameters: z.object({ at: ${schema} }),\n  execute: () => 1,\n});\n`;
    expect(await refused(zod("z.date()"))).toMatchInlineSnapshot(
      `"tools/it.ts:6:3: parameters: it can't be a JSON Schema: Date cannot be represented in JSON Schema. Arguments are JSON: accept a text or a number, and convert it to a date or another type in execute()."`,
    );
    expect(await refused(zod("z.string().transform(Number)"))).toMatchInlineSnapshot(
      `"tools/it.ts:6:3: parameters: it can't be a JSON Schema: Transforms cannot be represented in JSON Schema. Arguments are JSON: accept a text or a number, and convert it to a date or another type in execute()."`,
    );
    const valibot = `import * as v from "valibot";\n${head}  parameters: v.object({}),\n  execute: () => 1,\n});\n`;
    expect(await refused(valibot)).toMatchInlineSnapshot(
      `"tools/it.ts:6:3: parameters: this schema of valibot can't be converted to JSON Schema (Standard JSON Schema). Wrap it: toStandardJsonSchema(…) of @valibot/to-json-schema."`,
    );
    expect(await refused(head + rest.replace('"object"', '"text"'))).toMatchInlineSnapshot(
      `"tools/it.ts:5:3: tool.parameters is not a valid JSON Schema (draft-07): its type is “text”. It describes named values: write "type": "object"."`,
    );
  });

  it("a bad name, an unknown word, a time without unit, no execute()", async () => {
    expect(await refused((head + rest).replace('"it"', '"it is"'))).toMatchInlineSnapshot(
      `"tools/it.ts:3:9: tool.name is “it is”, but isn't of the right form. The name that the policy calls, or the common name of several functions: letters, digits, _ and -, at most 64."`,
    );
    expect(await refused(`${head}  timeOut: "3s",\n${rest}`)).toMatchInlineSnapshot(
      `"tools/it.ts:5:3: unknown key “timeOut” in tool. Did you mean “timeout”?"`,
    );
    expect(await refused(`${head}  timeout: "3",\n${rest}`)).toMatchInlineSnapshot(
      `"tools/it.ts:5:12: tool.timeout is “3”, but isn't of the right form. A number and ms, s, m or h, for example 500ms, 10s or 2m."`,
    );
    expect(await refused(head + rest.replace("() => 1", '"1"'))).toMatchInlineSnapshot(
      `"tools/it.ts:6:3: execute must be a function. Write \`execute(…) { … }\`."`,
    );
    expect(await refused(head + rest.replace("execute", "exceute"))).toMatch(
      /execute must be a function\. Write `execute\(…\) \{ … \}`\. Its “exceute” is no such function\.$/,
    );
    expect(await refused(`${head}  stateful: true,\n${rest}`)).toMatchInlineSnapshot(`
      "tools/it.ts:2:1: create must be a function. Write \`create(…) { … }\`.
      tools/it.ts:2:1: release must be a function. Write \`release(…) { … }\`."
    `);
  });

  it("two tools of one name", async () => {
    expect(await refused(head + rest, "./tools/it.ts, { plugin: ./tools/it.ts }")).toMatchInlineSnapshot(
      `"pipeline.yaml:10:34: tool-it offers the tool “it”, but tools[0] (pipeline.yaml:10:9) already uses that name. Remove one of the two, or rename the tool or one of its \`functions\` with \`name\`."`,
    );
  });
});
