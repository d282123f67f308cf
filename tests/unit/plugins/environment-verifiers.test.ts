import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addressOf } from "../../../plugins/environment-verifiers/address.ts";
import { connect } from "../../../plugins/environment-verifiers/env-server.ts";
import { newEpisode, verdictName } from "../../../plugins/environment-verifiers/episode.ts";
import verifiers from "../../../plugins/environment-verifiers/index.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import type { Outcome } from "../../../src/contracts/trajectory.ts";
import { freePort } from "../../../src/control/temporal/free-port.ts";
import { onLoopback } from "../../support/on-loopback.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type AskedFrames, verifiersServer } from "../../support/verifiers-server.ts";

interface RecordedFrame {
  id: string;
  kind: "delta" | "reply";
  payload: JsonObject;
}

const recorded: RecordedFrame[] = readFileSync(
  join(import.meta.dirname, "../../fixtures/verifiers/frames.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))
  .filter(({ from }) => from === "server");
const never = new AbortController().signal;

test("a server is started by the configuration, and has an address of ZeroMQ", async () => {
  const server = join(import.meta.dirname, "../../fixtures/small-server.py");
  const start = { command: ["python3", server, "{port}"] };
  const address = await addressOf({ start });
  expect(address).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(address.replace("tcp", "http"))).status).toBe(200);
  expect(await addressOf({ address: "tcp://127.0.0.1:5000" })).toBe("tcp://127.0.0.1:5000");
  await expect(addressOf({})).rejects.toThrow("either a server's address or “start”");
});

/** The frames with which a real server answered a run. */
const framesOf = (id: string) => recorded.filter((frame) => frame.id === id);
const worked = framesOf("r2");
const refused = framesOf("r5");
const failed = framesOf("r7");

async function replay({ method, send }: AskedFrames, frames: readonly RecordedFrame[]): Promise<void> {
  if (method === "run") for (const { kind, payload } of frames) await send(kind, payload);
}

/** Runs an episode on a server, and returns its verdict. */
async function verdictOf(address: string, signal = never, limit = 5000) {
  const server = connect(address);
  try {
    await server.health(limit);
    const episode = newEpisode();
    return episode.verdict(await server.run({ task_data: { idx: 1 } }, episode.add, signal));
  } finally {
    server.close();
  }
}

async function verdictBy(answer: (asked: AskedFrames) => Promise<void> | void) {
  const { address } = await verifiersServer(answer);
  return verdictOf(address);
}

/** The recorded frames of an episode that worked, with other fields of its trace and its head. */
function changed(set: JsonObject, head: JsonObject = {}): RecordedFrame[] {
  return worked.map(({ id, kind, payload }, index) => {
    if (kind === "reply")
      return { id, kind, payload: { ...payload, head: { ...Object(payload.head), ...head } } };
    const isLast = index === worked.length - 2;
    return { id, kind, payload: isLast ? { ...payload, set: { ...Object(payload.set), ...set } } : payload };
  });
}

test("an episode's reward is the sum of its weighted rewards", async () => {
  const { address, asked } = await verifiersServer((one) => replay(one, worked));
  expect(await verdictOf(address)).toEqual({ reward: 1, metrics: { right: 1 } });
  expect(asked.map(({ method }) => method)).toEqual(["health", "run"]);
  const rewards = { right: { score: 1, weight: 0.5 }, short: { score: -2, weight: 2 } };
  const frames = changed({ rewards, metrics: { steps: 3, unknown: null } });
  expect(await verdictBy((one) => replay(one, frames))).toEqual({
    reward: -3.5,
    metrics: { steps: 3, right: 0.5, short: -4 },
  });
});

test("an episode that failed has no reward, but a reason", async () => {
  const failure = (frames: readonly RecordedFrame[]) => verdictBy((one) => replay(one, frames));
  await expect(failure(refused)).rejects.toThrow("Field required");
  await expect(failure(failed)).rejects.toThrow("upstream 400");
  await expect(failure(changed({}, { ok: false }))).rejects.toThrow("the server gave no reason");
  await expect(failure(changed({ ok: false }))).rejects.toThrow("the episode failed");
  await expect(failure(changed({ is_timeout: true, stop_condition: "agent_timeout" }))).rejects.toThrow(
    "agent_timeout",
  );
  await expect(failure(changed({ rewards: { right: null } }))).rejects.toThrow("right is not a number");
  await expect(failure(changed({ rewards: {} }))).rejects.toThrow("has no reward");
  await expect(failure(changed({ agent: { trainable: false } }))).rejects.toThrow("0 traces");
});

test("an episode whose deltas were lost has no reward", async () => {
  const some = worked.filter((_, index) => index !== 3);
  await expect(verdictBy((one) => replay(one, some))).rejects.toThrow("and sent 2 nodes and 1 calls");
});

test("an episode that the server starts again counts once", async () => {
  const again = [
    ...worked.slice(0, 4),
    { ...worked[0], payload: { trace: "id-1", discard: true } },
    ...worked,
  ];
  const frames = again.map(({ id = "", kind = "delta", payload }) => ({ id, kind, payload }));
  expect(await verdictBy((one) => replay(one, frames))).toMatchObject({ reward: 1 });
});

test("a server that breaks the protocol is left", async () => {
  await expect(verdictBy((one) => one.sendRaw(one.id, "reply"))).rejects.toThrow("sent 2 frames");
  await expect(verdictBy((one) => one.sendRaw("a", "reply", "b", "c"))).rejects.toThrow("sent 4 frames");
  await expect(verdictBy((one) => one.send("news", {}))).rejects.toThrow("no delta and no reply");
  await expect(verdictBy((one) => one.sendRaw(one.id, "reply", Buffer.from([0xc1])))).rejects.toThrow(
    "not a msgpack map",
  );
  await expect(verdictBy((one) => one.send("delta", [1, 2]))).rejects.toThrow("not a msgpack map");
  await expect(verdictBy((one) => one.send("reply", {}))).rejects.toThrow("could not run the episode");
  const ignored = await verdictBy(async (one) => {
    await one.send("delta", { trace: "x", nodes: [{}] }, "another request");
    await replay(one, worked);
  });
  expect(ignored).toMatchObject({ reward: 1 });
});

test("a server that is silent, absent or no such server is reported", async () => {
  const { address } = await verifiersServer(() => {}, { isHealthy: false });
  await expect(verdictOf(address, never, 200)).rejects.toThrow(`${address} did not answer within 0.2 s`);
  await expect(verdictOf("tcp://127.0.0.1:9", never, 200)).rejects.toThrow("did not answer");
  const other = createServer();
  const url = await onLoopback(other);
  await expect(verdictOf(url.replace("http", "tcp"), never, 2000)).rejects.toThrow(/tcp:/);
});

test("a server that dies in an episode ends it", async () => {
  const server = await verifiersServer(async (one) => {
    await replay(one, worked.slice(0, 2));
    server.close();
  });
  await expect(verdictOf(server.address)).rejects.toThrow("closed the connection");
});

test("a server that starts late is waited for", async () => {
  const address = `tcp://127.0.0.1:${await freePort(0)}`;
  const verdict = verdictOf(address, never, 20_000);
  await verifiersServer((one) => replay(one, worked), { address });
  expect(await verdict).toMatchObject({ reward: 1 });
});

test("an aborted episode is cancelled", async () => {
  const ending = new AbortController();
  const { address, asked } = await verifiersServer(async (one) => {
    if (one.method === "run") ending.abort(new Error("the trajectory has ended"));
    else await one.send("reply", { success: true, cancelled: true });
  });
  await expect(verdictOf(address, ending.signal)).rejects.toThrow("the trajectory has ended");
  const [, run, cancel] = asked;
  expect(cancel).toMatchObject({ method: "cancel", payload: { request_id: run?.id } });
});

test("a probe asks for the server's health", async () => {
  const { address } = await verifiersServer(() => {});
  await expect(verifiers.probe?.({ address })).resolves.toBeUndefined();
});

test("rows of a taskset become tasks", async () => {
  const rows = [
    { idx: 0, prompt: "Reach 3.", system_prompt: "Count.", target: 3, answer: "3" },
    { idx: 1, prompt: [{ role: "user", content: "Reach 4." }], name: "four" },
  ];
  const tasks = join(temporaryFolder(), "tasks.jsonl");
  writeFileSync(tasks, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const read = await verifiers.load({ tasks });
  expect(read).toMatchObject([
    {
      prompt: [
        { role: "system", content: "Count." },
        { role: "user", content: "Reach 3." },
      ],
      reward_model: { ground_truth: "3" },
      extra_info: { index: 0, verifiers: rows[0] },
    },
    { prompt: [{ role: "user", content: "Reach 4." }], extra_info: { name: "four", verifiers: rows[1] } },
  ]);
  expect(await verifiers.load({ tasks, limit: 1 })).toHaveLength(1);
  writeFileSync(tasks, '{}\n[]\n\n{"idx": \n');
  await expect(verifiers.load({ tasks })).rejects.toThrow(
    /tasks\.jsonl:2:1: .*tasks\.jsonl:4:9: not valid JSON/s,
  );
});

test("a server is named or started, and one that is started has its own port", async () => {
  const program = join(temporaryFolder(), "server.mjs");
  writeFileSync(
    program,
    'import { createServer } from "node:net"; createServer().listen(+process.argv[2], "127.0.0.1");',
  );
  const start = {
    command: [process.execPath, program, "{port}"],
    requirements: [],
    environment: {},
    patience: 60,
  };
  expect(verifiers.check?.({ start })).toEqual([]);
  expect(verifiers.check?.({ address: "tcp://127.0.0.1:1" })).toEqual([]);
  expect(verifiers.check?.({})).toMatchObject([
    { key: "address", reason: expect.stringContaining("missing") },
  ]);
  expect(verifiers.check?.({ address: "tcp://127.0.0.1:1", start })).toHaveLength(1);
  expect(await addressOf({ start }, never)).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
  expect(await addressOf({ address: "tcp://127.0.0.1:1" })).toBe("tcp://127.0.0.1:1");
});

test("the reward is the recorded verdict; a limit of Everturn's costs it, a failure leaves none", () => {
  const scoredBy = (outcome: Outcome, result?: JsonObject) =>
    verifiers.score({
      task: { data_source: "", prompt: [], reward_model: { ground_truth: "" } },
      turns: [],
      outcome,
      answer: "",
      config: { success: 0.5 },
      recorded: result === undefined ? [] : [{ name: verdictName, arguments: [], result }],
      signal: never,
    });
  expect(scoredBy("answered", { reward: 0.5, metrics: { right: 0.5 } })).toEqual({
    reward: 0.5,
    success: true,
    metrics: { right: 0.5 },
  });
  expect(scoredBy("turn-limit")).toEqual({ reward: 0, success: false });
  expect(scoredBy("token-limit")).toEqual({ reward: 0, success: false });
  expect(scoredBy("time-limit")).toHaveProperty("missing");
  expect(scoredBy("answered")).toHaveProperty("missing");
});
