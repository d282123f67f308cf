import { join } from "node:path";
import { Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTelemetry } from "../../src/base/telemetry/telemetry.ts";
import { bundleOf, readBuilds } from "../../src/control/temporal/workflow-builds.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { type CollectedSpan, type Collector, startCollector } from "../support/collector.ts";
import { lastLine, startWith } from "../support/command.ts";
import { historiesOf } from "../support/histories.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const runs = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const processes = ["orchestration", "trainer"];
let collector: Collector;
let traced: string;

beforeAll(async () => {
  collector = await startCollector();
  const tool = join(import.meta.dirname, "..", "plugins", "tool-failing-once.ts");
  const settings = [
    "steps=1",
    "evaluation.every=100",
    "evaluation.tasks=2",
    "rollout.batchSize=8",
    `tools=[{plugin: ${tool}, config: {file: ${join(runs, "failed-once")}}}]`,
  ].flatMap((setting) => ["--set", setting]);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  const command = startWith(env, "run", pipeline, "--runs", runs, "--json", ...settings);
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(0);
  traced = lastLine<{ run: string }>(stdout).run;
});
afterAll(() => collector.close());

/** The names of a span and those above it, the outermost first. */
function pathTo(span: CollectedSpan): string[] {
  const above = collector.spans.find(({ id, trace }) => id === span.parent && trace === span.trace);
  return [...(above === undefined ? [] : pathTo(above)), span.name];
}

test("a trace goes from the run to its steps, trajectories, turns and tool calls", () => {
  const calls = collector.spans.filter(({ name }) => name === "RunActivity:calculator");
  const paths = calls.map((span) => pathTo(span).filter((name) => !name.startsWith("StartChildWorkflow:")));
  expect(paths).toContainEqual([
    "StartWorkflow:training",
    "RunWorkflow:training",
    "RunWorkflow:shard",
    "RunWorkflow:trajectory",
    "turn 1",
    "StartActivity:calculator",
    "RunActivity:calculator",
  ]);
  const turns = collector.spans.filter(({ name }) => /^turn \d+$/.test(name));
  const generated = collector.spans.filter(({ name }) => name === "RunActivity:generate-turn");
  expect(turns.length).toBe(generated.length);
  expect(pathTo(turns[0]!)).toContain("RunWorkflow:trajectory");
});

test("the run is one trace, of which no process loses the end", () => {
  // A command that waits long looks at what is pending: Query and Describe are its own, and no part of the run.
  const work = collector.spans.filter(({ name }) => !/Query|Describe/.test(name));
  const [first] = work.filter(({ name }) => name === "StartWorkflow:training");
  expect(work.filter(({ trace }) => trace !== first?.trace)).toEqual([]);
  const ids = new Set(work.map(({ id }) => id));
  const orphans = work.filter(({ parent }) => parent !== "" && !ids.has(parent));
  expect(orphans).toEqual([]);
  expect(work.filter(({ parent }) => parent === "").map(({ name }) => name)).toEqual([
    "StartWorkflow:training",
  ]);
  const services = new Set(work.map(({ service }) => service));
  expect(services).toEqual(new Set(["cli", ...processes].map((name) => `everturn-${name}`)));
});

test("turns and calls are told as OpenTelemetry's conventions for generative AI have it", () => {
  const named = (name: string) => collector.spans.filter((span) => span.name === `RunActivity:${name}`);
  const [turn] = named("generate-turn");
  expect(turn?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "everturn",
    "gen_ai.request.model": "policy-onnx",
    "gen_ai.conversation.id": expect.stringContaining(`${traced}/`),
    "gen_ai.response.model": "policy-onnx@0",
    "gen_ai.usage.input_tokens": expect.any(Number),
    "gen_ai.usage.output_tokens": expect.any(Number),
    "gen_ai.response.finish_reasons": [expect.stringMatching(/^(stop|length)$/)],
  });
  const [call] = named("calculator").filter(({ attributes }) => "everturn.tool.call.valid" in attributes);
  expect(call?.attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "calculator",
    "gen_ai.tool.call.id": "1/0",
    "everturn.tool.call.valid": expect.any(Boolean),
  });
});

test("metrics tell how long activities took, how many tokens there were, and what trajectories earned", () => {
  const named = (metric: string) => collector.points.filter((point) => point.metric === metric);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const activities = named("everturn.activity.duration");
  expect(activities.every(({ unit }) => unit === "s")).toBe(true);
  const others = activities.filter(({ attributes }) => attributes.outcome !== "completed");
  expect(others.map(({ attributes, value }) => [attributes.activity, attributes.outcome, value])).toEqual([
    ["calculator", "failed", 1],
  ]);
  const trained = activities.filter(({ attributes }) => attributes.activity === "train-step");
  expect(trained).toMatchObject([{ service: "everturn-trainer", value: 1 }]);
  const tokens = Object.fromEntries(
    named("everturn.tokens").map(({ attributes, value }) => [attributes.origin, value]),
  );
  expect(tokens.prompt).toBeGreaterThan(tokens.observation ?? 0);
  expect(tokens.action).toBeGreaterThan(14 * 2);
  expect(sum(named("everturn.trajectory.reward").map(({ value }) => value))).toBe(8 + 3 * 2);
  const waits = named("everturn.activity.wait").filter(
    ({ attributes }) => attributes.activity === "train-step",
  );
  expect(waits.map(({ value }) => value)).toEqual([1]);
  const last = new Map(
    named("everturn.activity.running").map((point) => [
      `${point.service} ${point.attributes.activity}`,
      point.value,
    ]),
  );
  expect(new Set(last.values())).toEqual(new Set([0]));
  const measured = named("everturn.run.measured").filter(
    ({ attributes }) => attributes.name === "train/trajectories",
  );
  expect(measured.map(({ value, attributes }) => [value, attributes.run])).toEqual([[8, traced]]);
  const cpu = named("process.cpu.utilization").map(({ service }) => service);
  expect(new Set(cpu)).toEqual(new Set(["cli", ...processes].map((name) => `everturn-${name}`)));
  expect(collector.unexpected).toEqual([]);
});

test("what the workers log arrives, a line of a failed activity with the span that failed", () => {
  const logged = collector.lines.map(({ service, message }) => `${service}: ${message}`);
  for (const name of processes) expect(logged).toContain(`everturn-${name}: Worker state changed`);
  const [line] = collector.lines.filter(({ message }) => message === "Activity failed");
  expect(line).toMatchObject({ severity: "WARN", service: "everturn-orchestration" });
  expect(JSON.stringify(line?.attributes)).toContain("the first call fails");
  const span = collector.spans.find(({ id, trace }) => id === line?.span && trace === line?.trace);
  expect(span?.name).toBe("RunActivity:calculator");
});

// One without telemetry does in long-trajectory.slow.test.ts.
test("a traced run replays from its history", async () => {
  const folder = runFolder(runs, traced);
  const histories = await historiesOf(folder);
  expect(histories).toHaveLength(1 + 3 + 1 + (1 + 8) + 3 * (1 + 2)); // the run, evaluations, the step, and shards with their trajectories
  const { plugins } = await startTelemetry("replay", true);
  const [build = ""] = await readBuilds(folder);
  const replay = Worker.runReplayHistories(
    { workflowBundle: { codePath: bundleOf(folder, build) }, plugins },
    histories,
  );
  for await (const { workflowId, error } of replay) expect(error, workflowId).toBeUndefined();
});
