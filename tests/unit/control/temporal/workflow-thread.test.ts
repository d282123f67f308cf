import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownModule } from "../../../../src/base/processes/own-module.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** Answers requests as the SDK's thread does: to an activation, then to the request for what the workflow logged. */
const answering = `
  const { parentPort } = require("node:worker_threads");
  let calls = [];
  const outputOf = ({ type, runId }) =>
    type === "activate-workflow" ? { type: "activation-completion", completion: { runId } }
    : type === "extract-sink-calls" ? { type: "sink-calls", calls } : undefined;
  parentPort.on("message", async ({ requestId, input }) => {
    if (input.logs) calls = eval(input.logs);
    try {
      parentPort.postMessage({ requestId, result: { type: "ok", output: await outputOf(input) } });
    } catch ({ name, message, stack }) {
      parentPort.postMessage({ requestId, result: { type: "error", name, message, stack } });
    }
  });
`;

const preload = pathToFileURL(ownModule("src/control/temporal/workflow-thread")).href;
const script = join(temporaryFolder(), "thread.cjs");
writeFileSync(script, answering);
const thread = new Worker(script, { execArgv: ["--import", preload] });
let requests = 0n;

async function ask(input: object): Promise<unknown> {
  const requestId = requests++;
  thread.postMessage({ requestId, input });
  const [response] = await once(thread, "message");
  expect(response.requestId).toBe(requestId);
  return response;
}

const activate = (logs: string) => ask({ type: "activate-workflow", runId: "run", logs });
const line = (level: string, attribute = "1") =>
  `{ ifaceName: "__temporal_logger", fnName: "${level}", args: ["said", { attribute: ${attribute} }] }`;

beforeAll(() => ask({ type: "init", sendsLines: true }));
afterAll(() => thread.terminate());

test("lines come with the answer to an activation, without those that the logger drops", async () => {
  const answer = await activate(`[${line("debug")}, ${line("info")}, ${line("trace")}, ${line("error")}]`);
  expect(answer).toMatchObject({ result: { type: "ok" }, lines: [{ fnName: "info" }, { fnName: "error" }] });
  expect(await activate("[]")).toMatchObject({ result: { type: "ok" }, lines: [] });
});

test("a line that can't leave the thread fails its activation, and the next one is answered", async () => {
  expect(await activate(`[${line("info", "() => {}")}]`)).toMatchObject({
    result: { type: "error", name: "DataCloneError" },
  });
  expect(await activate(`[${line("info")}]`)).toMatchObject({ lines: [{ fnName: "info" }] });
});
