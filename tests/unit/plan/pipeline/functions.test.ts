import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ResolvedTool } from "../../../../src/contracts/plan.ts";
import { changePlan } from "../../../../src/plan/pipeline/change-plan.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { toolDefinitions } from "../../../../src/plan/pipeline/resolve/tool-definitions.ts";
import { toolName } from "../../../../src/plugin/registry/tool-functions.ts";
import { toolThread } from "../../../../src/work/tools/tool-thread.ts";
import { fileOf, workspace } from "./workspace.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const board = join(root, "tests", "one-file", "board.ts");
const told = join(root, "tests", "plugins", "tool-told");
const words = "config: { words: [twice, thrice] }";

function pipelineWith(tools: string, files: Record<string, string> = {}): string {
  const pipeline = fileOf("pipeline.yaml").replace(/tools:[\s\S]*(?=loop:)/, `tools: ${tools}\n`);
  const folder = workspace({ "pipeline.yaml": pipeline, "package.json": '{ "type": "module" }', ...files });
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules", "everturn"));
  return join(folder, "pipeline.yaml");
}

const planned = (tools: string, files?: Record<string, string>) => loadPlan(pipelineWith(tools, files));

async function refused(tools: string, files?: Record<string, string>): Promise<string> {
  const error = await planned(tools, files).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof Error ? error.message.replace(/^.*\n/, "") : "it was accepted";
}

function first({ tools: [tool] }: { tools: readonly ResolvedTool[] }): ResolvedTool {
  if (tool === undefined) throw new Error("there is no tool");
  return tool;
}

describe("a tool of several functions", () => {
  it("tells the policy of each, and shares one state", async () => {
    const plan = await planned(`[{ plugin: ${board}, config: { most: 1 } }]`);
    expect(toolDefinitions(plan)).toMatchObject([
      { name: "pin", parameters: { required: ["note"], additionalProperties: false } },
      { name: "read", parameters: { properties: { from: { minimum: 1 } } } },
    ]);
    const tool = first(plan);
    expect(tool).toMatchObject({
      host: "board",
      manifest: { tool: { name: "board", stateful: true, recovery: "replay" } },
    });
    const { plugin, close } = await toolThread(tool, "board", () => {});
    const { signal } = new AbortController();
    const about = { instance: "", key: "", attempt: 1, config: tool.config, isReplay: false, signal };
    const task = { data_source: "", prompt: [], reward_model: { ground_truth: "" } };
    const state = await plugin.create?.({
      instance: "",
      task,
      config: tool.config,
      environment: {},
      signal,
      hold() {},
    });
    const call = (name: string, given: object) =>
      plugin.execute({ ...given }, { ...about, function: name }, state);
    expect(await call("pin", { note: "a" })).toEqual({ text: "1" });
    expect(await call("pin", { note: "" })).toMatchObject({ invalid: "note: a note is not empty" });
    expect(await call("pin", { note: "b" })).toMatchObject({ invalid: "the board takes 1 notes" });
    expect(await call("read", {})).toEqual({ text: "a" });
    await expect(call("toString", {})).rejects.toThrow("there is no function toString");
    await close();
  });

  it("offers what a pipeline picks, as it calls and describes it", async () => {
    const parameters = "{ type: object, properties: { from: { const: 2 } } }";
    const plan = await planned(
      `[{ plugin: ${board}, name: wall, functions: [{ function: read, name: look, description: Looks., parameters: ${parameters} }, pin] }]`,
    );
    expect(toolDefinitions(plan).map(({ name, description }) => [name, description])).toEqual([
      ["look", "Looks."],
      ["pin", "Pins a note to the board."],
    ]);
    const tool = first(plan);
    expect(toolName(tool)).toBe("wall");
    expect(tool.host).toBe("wall");
    expect(tool.functions?.[0]?.own).toMatchObject({
      name: "read",
      parameters: { properties: { from: { type: "integer" } } },
    });
    const { plan: changed } = changePlan(plan, ["tools.0.timeout=7s"], 0);
    expect(first(changed)).toEqual({ ...tool, timeout: 7000 });
    expect(() => changePlan(plan, ["tools.0.name=other"], 0)).toThrow(
      "the trajectories so far had these tools",
    );
  });

  it("renames a tool of one function with its function", async () => {
    const plan = await planned("[{ plugin: tool-calculator, name: reckon }, tool-calculator]");
    expect(toolDefinitions(plan).map(({ name }) => name)).toEqual(["reckon", "calculator"]);
    expect(plan.tools.map(toolName)).toEqual(["reckon", "calculator"]);
    expect(first(plan).functions).toMatchObject([{ name: "reckon", own: { name: "calculator" } }]);
  });

  it("is asked for them when the plan is made, where its configuration says what they are", async () => {
    const plan = await planned(
      `[{ plugin: ${told}, ${words}, functions: [{ function: thrice, name: three }] }]`,
    );
    expect(toolDefinitions(plan)).toMatchObject([{ name: "three", description: "Says thrice." }]);
  });

  it("is refused where names clash, or there is no such function", async () => {
    expect(await refused(`[{ plugin: ${board}, functions: [pin, raed] }]`)).toContain(
      "tools[0].functions[1].function names “raed”, a function that the tool does not have. Did you mean “read”? Its functions: pin, read.",
    );
    expect(await refused(`[{ plugin: ${board} }, { plugin: ${board}, name: other }]`)).toMatch(
      /offers the tool “pin”, but tools\[0\] .*already uses that name.*offers the tool “read”/s,
    );
    expect(
      await refused(`[{ plugin: ${told}, ${words} }, { plugin: ${told}, config: { words: [x] } }]`),
    ).toContain("offers the tool “told”, but tools[0]");
    expect(
      await refused(`[{ plugin: ${board}, functions: [{ function: pin, parameters: { type: array } }] }]`),
    ).toContain(
      "tools[0].functions[0].parameters is not a valid JSON Schema (draft-07): its type is “array”",
    );
  });

  it("is refused where it can't tell its functions, or tells nonsense", async () => {
    expect(
      await refused(`[{ plugin: ${told}, config: { words: [x], fault: the server is down } }]`),
    ).toContain("tool-told does not list its functions: the server is down");
    expect(await refused(`[{ plugin: ${told}, config: { words: [] } }]`)).toContain(
      "there must be at least one function",
    );
    expect(await refused(`[{ plugin: ${told}, config: { words: ["a b"] } }]`)).toContain(
      "“a b” must be letters, digits, _ and -, at most 64",
    );
  });

  it("says in its manifest either one function or several", async () => {
    const manifest = (tool: object) =>
      JSON.stringify({
        name: "tool-x",
        kind: "tool",
        version: "0.1.0",
        engines: { everturn: "*" },
        entry: "./index.ts",
        tool: { name: "x", ...tool },
      });
    const refusal = (tool: object) =>
      refused("[./x]", { "x/everturn.plugin.json": manifest(tool), "x/index.ts": "" });
    const one = { description: "d", parameters: { type: "object" } };
    expect(await refusal({})).toMatch(/tool lacks “description”.*tool lacks “parameters”/s);
    expect(await refusal({ ...one, functions: { y: one } })).toContain("Remove one of the two.");
    expect(await refusal({ functions: {} })).toContain("tool.functions is a mapping, but must not be empty");
    expect(await refusal({ functions: { "y z": one } })).toContain("y z");
    expect(await refusal({ functions: { y: { ...one, parameters: { type: "text" } } } })).toContain(
      "tool.functions.y.parameters is not a valid JSON Schema",
    );
  });
});
