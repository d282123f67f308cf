import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pluginChecks } from "everturn/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import mlflow from "../../../plugins/tracker-mlflow/index.ts";
import { encodeEvent } from "../../../plugins/tracker-tensorboard/event.ts";
import { framed } from "../../../plugins/tracker-tensorboard/record-file.ts";
import wandb from "../../../plugins/tracker-wandb/index.ts";
import { createRunFiles, upsertRun } from "../../../plugins/tracker-wandb/protocol.ts";
import { type Asked, jsonServer } from "../../support/json-server.ts";

const fixtures = join(import.meta.dirname, "..", "..", "fixtures", "trackers");
const read = (name: string) => JSON.parse(readFileSync(join(fixtures, `${name}.json`), "utf8"));
const { signal } = new AbortController();
const withMedia = {
  number: 2,
  step: 3,
  at: Date.parse("2026-11-24T09:00:02.000Z"),
  values: {},
  histograms: {
    "train/rewards": { limits: [-0.5, 0, 0.5, 1], counts: [1, 0, 3], sum: 1.75, sumOfSquares: 2.5 },
  },
  tables: {
    "train/samples": {
      columns: ["reward", "prompt"],
      rows: [
        [0.5, "5 + 3"],
        [1, "漢"],
      ],
    },
  },
};
const described = {
  run: "run-1",
  pipeline: "calculator",
  createdAt: "2026-11-24T09:00:00.000Z",
  folder: "/nowhere",
  settings: { name: "calculator", rollout: { batchSize: 8 } },
  logged: 0,
};

test("events are, byte for byte, what TensorBoard's own classes write", () => {
  const fixture: { event: Parameters<typeof encodeEvent>[0]; record: string }[] = read("tensorboard");
  for (const { event, record } of fixture) expect(framed(encodeEvent(event)).toString("hex")).toBe(record);
  expect(fixture).toHaveLength(7);
});

/** Answers as a real server did, if it is asked what that one was. */
function replay(exchange: (Asked & { status: number; answer: unknown })[]) {
  let next = 0;
  return jsonServer(({ method, path, body }) => {
    const recorded = exchange[next++];
    const { end_time: _, ...said } = body ?? {}; // the time of the recording
    const { end_time: __, ...before } = recorded?.body ?? {};
    expect({ method, path, body: said }).toEqual({
      method: recorded?.method,
      path: recorded?.path,
      body: before,
    });
    return { status: recorded?.status ?? 500, value: recorded?.answer };
  });
}

test("an MLflow server is asked what a real one took: a new run, one that goes on, one that fails", async () => {
  const { exchange } = read("mlflow");
  const { url, asked } = await replay(exchange);
  const settings = { name: "calculator", seed: 1, tools: [{ plugin: "tool-calculator", config: {} }] };
  const run = { ...described, run: "calculator-20261124-090001", pipeline: "calculator-two", settings };
  const at = 1795510000000;
  const first = await mlflow.open({ url }, run, signal);
  await first.log({ number: 0, step: 0, at, values: { "evaluation/accuracy": 0.03 } }, signal);
  const values = { "train/rewardMean": -0.5, "train/seconds/total": 2.5 };
  await first.log({ number: 1, step: 1, at: at + 1000, values }, signal);
  await first.close("interrupted", signal);
  const second = await mlflow.open({ url }, { ...run, logged: 2 }, signal);
  await second.log({ number: 2, step: 2, at: at + 2000, values: { "train/rewardMean": 0.5 } }, signal);
  await second.close("completed", signal);
  const third = await mlflow.open({ url }, { ...run, logged: 3 }, signal);
  await third.log({ number: 3, step: 3, at: at + 3000, values: { "train/metrics/a*b|c": 1 } }, signal);
  await third.close("failed", signal);
  expect(asked).toHaveLength(exchange.length);
});

test("an MLflow server stores tables where its own client reads them, again if an entry is sent again", async () => {
  const { exchange } = read("mlflow-tables");
  const { url, asked } = await replay(exchange);
  const settings = { name: "calculator" };
  const run = { ...described, run: "calculator-20261129-090001", pipeline: "calculator-tables", settings };
  const at = 1795510000000;
  const entry = { number: 1, step: 1, at, values: { "train/rewardMean": 0.5 }, tables: withMedia.tables };
  const killed = await mlflow.open({ url }, run, signal);
  await killed.log(entry, signal);
  const session = await mlflow.open({ url }, { ...run, logged: 2 }, signal);
  await session.log(entry, signal);
  await session.close("completed", signal);
  expect(asked).toHaveLength(exchange.length);
});

test("an MLflow server that refuses says why; the token comes from the environment", async () => {
  const { url, asked } = await jsonServer(() => ({ status: 403, value: { message: "no such user" } }));
  vi.stubEnv("MLFLOW_TRACKING_TOKEN", "secret");
  onTestFinished(() => void vi.unstubAllEnvs());
  const opening = async () => mlflow.open({ url, token: "MLFLOW_TRACKING_TOKEN" }, described, signal);
  await expect(opening()).rejects.toThrow(
    `${url}/api/2.0/mlflow/experiments/get-by-name answered 403: no such user`,
  );
  expect(asked[0]?.headers.authorization).toBe("Bearer secret");
});

test("W&B is told a run as its own client tells it", async () => {
  const [upsert, stream] = read("wandb");
  const project = { name: "calculator", entity: { name: "acme" } };
  const bucket = { id: "r", name: "run-1", project };
  const { url, asked } = await jsonServer(({ path }) =>
    path === "/graphql" ? { value: { data: { upsertBucket: { bucket, inserted: true } } } } : { value: {} },
  );
  vi.stubEnv("WANDB_API_KEY", "a".repeat(40));
  onTestFinished(() => void vi.unstubAllEnvs());
  const session = await wandb.open({ url, key: "WANDB_API_KEY" }, described, signal);
  const at = Date.parse(described.createdAt) + 1500;
  await session.log({ number: 0, step: 1, at, values: { "train/rewardMean": 0.5 } }, signal);
  await session.log({ number: 1, step: 2, at: at + 1000, values: { "train/rewardMean": 0.7 } }, signal);
  await session.close("completed", signal);

  expect(asked.map(({ path }) => path)).toEqual([upsert.path, stream.path, stream.path, stream.path]);
  for (const { headers } of asked) expect(headers).toMatchObject(upsert.headers);
  const [made, , second, end] = asked.map(({ body }) => body);
  for (const [, name, type] of upsertRun.matchAll(/\$(\w+): ([\w[\]!]+)/g))
    expect(upsert.body.query).toContain(`$${name}: ${type}`);
  for (const [field] of upsertRun.matchAll(/\w+: \$\w+/g))
    expect(upsert.body.query).toContain(field.replace(" ", ""));
  const { name, project: into, displayName } = upsert.body.variables;
  expect(made.variables).toMatchObject({ name, project: into, displayName });
  expect(JSON.parse(made.variables.config)).toEqual(JSON.parse(upsert.body.variables.config));

  const { files, ...rest } = stream.body;
  const own = lines(second.files["wandb-history.jsonl"]);
  const [, theirs] = lines(files["wandb-history.jsonl"]);
  expect(Object.keys(own[0] ?? {}).sort()).toEqual(Object.keys(theirs ?? {}).sort());
  expect(own[0]).toMatchObject({ "train/rewardMean": 0.7, step: 2, _step: 1, _runtime: 2.5 });
  expect(second.files["wandb-history.jsonl"].offset).toBe(1);
  expect(lines(second.files["wandb-summary.json"])[0]).toMatchObject({ "train/rewardMean": 0.7, _step: 1 });
  expect(end).toEqual(rest);
});

function lines({ content }: { content: string[] }): Record<string, unknown>[] {
  return content.map((line) => JSON.parse(line));
}

test("W&B without a key, or one that makes no run, says what to do", async () => {
  vi.stubEnv("WANDB_API_KEY", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { url } = await jsonServer(() => ({ value: { errors: [{ message: "project is locked" }] } }));
  const opening = async () => wandb.open({ url, key: "WANDB_API_KEY" }, described, signal);
  await expect(opening()).rejects.toThrow("the environment variable WANDB_API_KEY, which has W&B's API key");
  vi.stubEnv("WANDB_API_KEY", "x");
  await expect(opening()).rejects.toThrow("made no run: project is locked");
});

test("W&B receives tables and histograms as its own client sends them", async () => {
  const [create, put, stream] = read("wandb-media");
  const { url, asked } = await wandbServer((file) => ({
    runID: "r",
    uploadHeaders: ["x-place:here"],
    files: [{ name: file, uploadUrl: `/storage/${file}` }],
  }));
  const session = await wandb.open({ url, key: "WANDB_API_KEY" }, described, signal);
  await session.log(withMedia, signal);

  const [, made, stored, sent] = asked;
  const { files: names, ...place } = create.body.variables;
  const [theirFile] = names.filter((name: string) => name.startsWith("media/"));
  expect(made?.body.operationName).toBe(create.body.operationName);
  expect(made?.body.variables).toMatchObject(place);
  for (const [, name, type] of createRunFiles.matchAll(/\$(\w+): ([\w[\]!]+)/g))
    expect(create.body.query).toContain(`$${name}: ${type}`);
  for (const [field] of createRunFiles.matchAll(/\w+: \$\w+/g))
    expect(create.body.query).toContain(field.replace(" ", ""));

  const [ownFile] = made?.body.variables.files ?? [];
  const shape = (path: string) => path.replace(/_\d+_[0-9a-f]{20}\./, "_N_SHA.");
  expect(shape(ownFile)).toBe(shape(theirFile));
  expect(stored).toMatchObject({ method: "PUT", path: `/storage/${ownFile}`, body: put.body });
  expect(stored?.headers["x-place"]).toBe(put.headers["x-place"]);
  expect(stored?.headers.authorization).toBeUndefined();

  const [line] = lines(sent?.body.files["wandb-history.jsonl"]);
  const theirs = lines(stream.body.files["wandb-history.jsonl"]).at(-1);
  expect(line?.["train/rewards"]).toEqual(theirs?.["train/rewards"]);
  const ofContent = { sha256: expect.any(String), size: expect.any(Number), path: ownFile };
  expect(line?.["train/samples"]).toEqual({ ...Object(theirs?.["train/samples"]), ...ofContent });
  expect(sent?.body.uploaded).toEqual([ownFile]);
});

test("W&B without tables is asked for no place, and one without places says how to leave them out", async () => {
  const { url, asked } = await wandbServer(() => null);
  const without = await wandb.open({ url, key: "WANDB_API_KEY", tables: false }, described, signal);
  await without.log(withMedia, signal);
  expect(asked.map(({ path }) => path)).toEqual(["/graphql", "/files/acme/calculator/run-1/file_stream"]);
  const session = await wandb.open({ url, key: "WANDB_API_KEY" }, described, signal);
  const logging = async () => session.log(withMedia, signal);
  await expect(logging()).rejects.toThrow("takes no file for a table, which `tables: false` leaves out");
});

/** A server that has runs, and gives places for files. */
function wandbServer(places: (file: string) => unknown) {
  const project = { name: "calculator", entity: { name: "acme" } };
  const bucket = { id: "r", name: "run-1", project };
  vi.stubEnv("WANDB_API_KEY", "a".repeat(40));
  onTestFinished(() => void vi.unstubAllEnvs());
  return jsonServer(({ body }) => {
    if (body.operationName === "UpsertBucket") return { value: { data: { upsertBucket: { bucket } } } };
    if (body.operationName === undefined) return { value: {} };
    return { value: { data: { createRunFiles: places(body.variables.files[0]) } } };
  });
}

test("TensorBoard's tracker keeps what trackers promise", async () => {
  for (const { run } of await pluginChecks("tracker-tensorboard")) await run();
});
