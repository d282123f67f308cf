import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import { readRecord } from "../../src/base/files/whole-files.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { readLedger } from "../../src/results/ledger/ledger.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { trainedStepKey } from "../../src/run/store/keys.ts";
import { killIfRunning, lastLine, type RunningCommand, start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const plugins = join(import.meta.dirname, "..", "plugins");
/** While these files are there, the tool's host is down for the step's first trajectory that asks, and version 1 won't load. */
const down = join(folder, "down");
const unloadable = join(folder, "unloadable");

let command: RunningCommand | undefined;
afterAll(() => {
  killIfRunning(command);
});

function train(...parameters: string[]) {
  command = start(...parameters, "--runs", runs);
  return command.end();
}

function writePlugin(name: string, manifest: object, entry: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  const common = { name, version: "0.1.0", engines: { everturn: "^0.3.0" }, entry: "./index.ts" };
  writeFileSync(join(path, "everturn.plugin.json"), JSON.stringify({ ...common, ...manifest }));
  writeFileSync(join(path, "index.ts"), entry);
  return path;
}

const tool = {
  name: "flaky",
  description: "Answers.",
  parameters: { type: "object", properties: {} },
  stateful: false,
  retry: { maximumAttempts: 1, initialInterval: "1ms", backoffCoefficient: 1, maximumInterval: "1ms" },
  timeout: "5s",
};
const flaky = writePlugin(
  "tool-flaky",
  { kind: "tool", tool, capabilities: { network: false, files: true, processes: false } },
  `import { existsSync, readFileSync, writeFileSync } from "node:fs";
const down = ${JSON.stringify(down)};
export default {
  execute: (_, { instance }) => {
    if (!existsSync(down) || !instance.includes("/step-")) return { text: "up" };
    if (readFileSync(down, "utf8") === "") writeFileSync(down, instance);
    if (readFileSync(down, "utf8") === instance) throw new Error("the host is down");
    return { text: "up" };
  },
};`,
);
const { config } = JSON.parse(await readManifest("policy-scripted"));
const policy = writePlugin(
  "policy-unloadable",
  { kind: "policy", config },
  `import { existsSync } from "node:fs";
import { EverturnError } from ${JSON.stringify(join(plugins, "../../src/base/errors/everturn-error.ts"))};
import scripted from ${JSON.stringify(join(plugins, "policy-scripted", "index.ts"))};
export default {
  ...scripted,
  open: async (...parameters) => ({
    ...(await scripted.open(...parameters)),
    isLoaded: () => false,
    load: async (version) => {
      if (version > 0 && existsSync(${JSON.stringify(unloadable)})) throw new EverturnError("CHECKPOINT_INVALID", { folder: "v0001", reason: "it is cut" });
    },
  }),
};`,
);

async function readManifest(name: string): Promise<string> {
  return JSON.stringify(await readRecord(join(plugins, name, "everturn.plugin.json")));
}

test("a step whose version could not be published after its commit is recorded with what it trained on", async () => {
  const call = '<tool_call>{"name":"flaky","arguments":{}}</tool_call>';
  const pipeline = writeScriptedPipeline(folder, [[call, "1"], ["2"], ["3"]], {
    tools: [{ plugin: flaky }],
    policy: {
      plugin: policy,
      config: {
        tokenizer: join(plugins, "..", "..", "pipelines", "calculator", "tokenizer"),
        conversations: [[call, "1"], ["2"], ["3"]],
      },
    },
    rollout: { batchSize: 6, groupSize: 3, minGroup: 2, maxActionTokens: 200 },
  });
  writeFileSync(down, "");
  writeFileSync(unloadable, "");
  const failed = await train("run", pipeline);
  expect(failed.code, failed.stdout).toBe(1);
  expect(failed.stderr).toContain("The weights in v0001 can't be read");
  const run = /RUN_FAILED: The run (\S+) failed/.exec(failed.stderr)?.[1] ?? "";
  const opened = runFolder(runs, run);
  const { store } = await openRunFolder(runs, run);
  const committed = (await store.readTree(trainedStepKey(1)))?.value;
  expect(committed?.trajectories).toHaveLength(5);
  expect(committed?.leftOut).toMatchObject([{ reason: expect.stringContaining("the host is down") }]);

  rmSync(down); // what was left out would do better now
  rmSync(unloadable);
  const resumed = await train("resume", run, "--json");
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(lastLine(resumed.stdout)).toMatchObject({ steps: 1, trajectories: 5 });
  expect((await readLedger(await openRunFolder(runs, run))).findings).toEqual([]);
  const [step] = await readLines<StepRecord>(opened.metrics);
  expect(step).toMatchObject({ trajectories: 5, leftOut: 1, turns: 6 / 5, policyVersion: 1 });
  const [[reason = "", count] = []] = Object.entries(step?.leftOutReasons ?? {});
  expect(count).toBe(1);
  expect(reason).toContain("the host is down");
  expect(committed?.leftOut?.[0]?.reason.startsWith(reason)).toBe(true); // a long one is cut
  expect((await store.readTree(trainedStepKey(1)))?.value).toEqual(committed);
});
