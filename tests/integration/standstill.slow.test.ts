import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { namesInSync } from "../../src/base/files/names-in.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { killIfRunning, start } from "../support/command.ts";
import { scriptedPolicy, writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const mended = join(folder, "mended");
const plugins = join(import.meta.dirname, "..", "plugins");

/** Two calls at once, of a host that is not there and of a tool that fails on the spot. */
const calls =
  '<tool_call>{"name":"reverse","arguments":{"text":"abc"}}</tool_call>' +
  '<tool_call>{"name":"guess","arguments":{}}</tool_call>';

test("what does not move is named with its attempt and reason after some seconds, seldom, and when it goes on", async () => {
  const port = await freePort(19_000);
  const pipeline = writeScriptedPipeline(folder, [], {
    policy: scriptedPolicy({ conversations: [[calls, "1"]], seconds: 2 }),
    tools: [
      { plugin: join(plugins, "tool-remote"), config: { url: `http://127.0.0.1:${port}` } },
      { plugin: join(plugins, "tool-broken"), config: { mended } },
    ],
    hosts: { reverse: { longestPause: "1s" }, guess: { longestPause: "1s" } },
    rollout: { batchSize: 2, groupSize: 2 },
  });
  const began = performance.now();
  const command = start("run", pipeline, "--runs", runs);
  onTestFinished(() => {
    killIfRunning(command);
  });
  const lines = (pattern: RegExp) =>
    command
      .stdout()
      .split("\n")
      .filter((line) => pattern.test(line));
  const remote =
    /^waiting for reverse \(tools\) of evaluation-v0000\/task-00000\/0: .*attempt \d+ .*\d s; (reverse is paused|The tool reverse failed: fetch failed)/;
  const local =
    /^waiting for guess \(tools\) of evaluation-v0000\/task-00000\/0: attempt \d+ after .*\d s; The tool guess failed: the dice are lost$/;
  await vi.waitUntil(() => lines(remote).length > 0 && lines(local).length > 0, { timeout: 180_000 });

  const host = createServer((_, response) => response.end("cba"));
  host.listen(port, "127.0.0.1");
  writeFileSync(mended, "");
  const { code, stdout, stderr } = await command.end();
  host.close();
  expect(code, stdout + stderr).toBe(0);
  const seconds = (performance.now() - began) / 1000; // a reason that changes is told after thirty seconds
  expect(lines(/^waiting for (reverse|guess)/).length, stdout).toBeLessThanOrEqual(4 + seconds / 15);
  expect(lines(/^reverse \(tools\) continued after a wait of \d+ s$/), stdout).not.toHaveLength(0);
  const [run = ""] = namesInSync(runs);
  const log = readFileSync(runFolder(runs, run).log("session"), "utf8");
  expect(log).toMatch(/^\d{4}-\S+Z waiting for guess \(tools\) of evaluation-v0000/m);
});

test("of actions that take long it is said how many tokens they have", async () => {
  const own = join(folder, "long");
  mkdirSync(own);
  const pipeline = writeScriptedPipeline(own, [], {
    policy: scriptedPolicy({ conversations: [["a long story ".repeat(20)]], seconds: 20 }),
    tools: [],
    rollout: { batchSize: 2, groupSize: 2, maxActionTokens: 400 },
  });
  const command = start("run", pipeline, "--runs", join(own, "runs"), "--set", "steps=0");
  onTestFinished(() => {
    killIfRunning(command);
  });
  const { code, stdout, stderr } = await command.end();
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toMatch(
    /^waiting for generate-turn \(policy\) of evaluation-v0000\/task-00000\/0: running for \d+ s; \d+ of at most 400 tokens$/m,
  );
});
