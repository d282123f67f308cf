import { expect, onTestFinished, test, vi } from "vitest";
import { TinkerClient, type TinkerClientOptions } from "../../../packages/tinker/index.ts";
import { TinkerServer, type TinkerServerOptions } from "../../support/tinker-server.ts";

/**
 * A model on a small server, which follows the rules that SkyRL 0.4.0, TuFT 0.2.2 and Hatchery 0.3.0 publish in their sources. None of
 * these servers runs here.
 */
async function modelOn(options: TinkerServerOptions, clientOptions: TinkerClientOptions = {}) {
  const server = await new TinkerServer(options).start();
  onTestFinished(() => server.stop());
  const retry = { attempts: 5, minDelayMs: 5, maxDelayMs: 50 };
  const client = new TinkerClient({ baseUrl: server.url, retry, ...clientOptions });
  const session = await client.createSession();
  onTestFinished(() => session.close());
  const model = await session.createModel({ baseModel: "tiny", lora: { rank: 8, seed: 1 } });
  return { server, client, session, model, served: server.models.get(model.modelId)! };
}

const datum = { input: [5, 6, 7], lossInputs: { target_tokens: [6, 7, 8], weights: [0, 1, 1] } };
const other = { input: [5, 6, 7], lossInputs: { target_tokens: [6, 7, 8], weights: [0, 1, 0] } };
const adam = { learningRate: 1e-3 };

/** Breaks the connection after the first optimizer step was executed. */
function losingFirstStep() {
  let isLost = false;
  return ({ path }: { path: string }) => {
    if (path !== "optim_step" || isLost) return undefined;
    isLost = true;
    return "after" as const;
  };
}

test("SkyRL: a step whose answer was lost is repeated, and runs once", async () => {
  const { model, server, served } = await modelOn(
    { numbering: "skyrl", fault: losingFirstStep() },
    { deduplicates: true },
  );
  await model.forwardBackward([datum], "cross_entropy");
  expect(await model.optimStep(adam)).toEqual({ metrics: { step: 1 } });
  expect(server.calls.filter(({ path }) => path === "optim_step").map(({ seqId }) => seqId)).toEqual([2, 2]);
  expect(server.steps).toHaveLength(1);
  expect(served.history).toHaveLength(2);
});

test("SkyRL: a number with another body, and a name that exists, are refused with 409", async () => {
  const { model } = await modelOn({ numbering: "skyrl" });
  const first = await model.submitForwardBackward([datum], "cross_entropy", { seqId: 1 });
  const again = await model.submitForwardBackward([datum], "cross_entropy", { seqId: 1 });
  expect(again.requestId).toBe(first.requestId);
  const changed = model.forwardBackward([other], "cross_entropy", { seqId: 1 });
  await expect(changed).rejects.toMatchObject({ code: "sequence-reused", status: 409 });
  await expect(model.optimStep(adam, { seqId: 1 })).rejects.toMatchObject({ code: "sequence-reused" });
  await model.saveWeights("step-1");
  await expect(model.saveWeights("step-1")).rejects.toMatchObject({ code: "checkpoint-exists" });
});

test("SkyRL: after a restart results are still there, the model is lost, and its checkpoint loads into a new one", async () => {
  const { model, server, session, client, served } = await modelOn({ numbering: "skyrl" });
  const future = await model.submitForwardBackward([datum], "cross_entropy");
  const before = await future.result();
  await model.optimStep(adam);
  const { path } = await model.saveWeights("step-1");
  await server.restart();
  expect(await client.future(future.ticket).result()).toEqual(before);
  await expect(model.optimStep(adam)).rejects.toMatchObject({ code: "unknown-model", status: 400 });
  expect(await model.info()).toMatchObject({ model_id: model.modelId });
  const next = await session.createModel({ baseModel: "tiny", lora: { rank: 8, seed: 1 } });
  await next.loadWeights(path, { optimizer: true });
  expect(server.models.get(next.modelId)!.history).toEqual(served.history);
  await expect(next.loadWeights(path, { optimizer: true })).rejects.toMatchObject({
    code: "invalid-request",
  });
});

test("TuFT: a step whose answer was lost is known by the number that the server expects next", async () => {
  const { model, server } = await modelOn(
    { numbering: "tuft", fault: losingFirstStep() },
    { deduplicates: true },
  );
  await model.forwardBackward([datum], "cross_entropy");
  await expect(model.optimStep(adam)).rejects.toMatchObject({
    code: "out-of-sequence",
    status: 409,
    expected: 3,
    got: 2,
  });
  expect(server.steps).toHaveLength(1);
  model.nextSeqId = 5;
  await expect(model.optimStep(adam)).rejects.toMatchObject({ code: "out-of-sequence", expected: 3, got: 5 });
  await model.optimStep(adam, { seqId: 3 });
  expect(server.steps).toHaveLength(2);
});

test.each([2, 3])("TuFT: after number 2 failed, the next request may have number %i", async (seqId) => {
  let isFailing = true;
  const failing = ({ path }: { path: string }) =>
    isFailing && path === "optim_step" ? "out of memory" : undefined;
  const { model, server } = await modelOn({ numbering: "tuft", failing });
  await model.forwardBackward([datum], "cross_entropy");
  await expect(model.optimStep(adam)).rejects.toMatchObject({ code: "request-failed", status: 400 });
  isFailing = false;
  const gap = model.optimStep(adam, { seqId: 4 });
  await expect(gap).rejects.toMatchObject({ code: "out-of-sequence", expected: 2, got: 4 });
  await model.optimStep(adam, { seqId });
  await model.optimStep(adam, { seqId: seqId + 1 });
  expect(server.steps.map((step) => step.seqId)).toEqual([seqId, seqId + 1]);
});

test("TuFT: after a restart the model is at its newest checkpoint, later futures are lost, and numbers continue", async () => {
  const { model, server, served, client } = await modelOn({ numbering: "tuft" });
  await model.forwardBackward([datum], "cross_entropy");
  await model.optimStep(adam);
  await model.saveWeights("step-1");
  const kept = served.history;
  await model.forwardBackward([other], "cross_entropy");
  const undone = await model.submitOptimStep(adam);
  await undone.result();
  await server.restart();
  expect(served.history).toEqual(kept);
  await expect(client.future(undone.ticket).result()).rejects.toMatchObject({
    code: "future-lost",
    status: 410,
    detail: expect.stringContaining("Server restored from checkpoint step-1"),
  });
  // The next number is accepted as if nothing had happened: only the futures show that steps were undone.
  await model.optimStep(adam);
  expect([model.nextSeqId, served.nextSeqId]).toEqual([7, 7]);
});

test("Hatchery: a repeated number gets the first future but runs twice, so nothing is repeated by default", async () => {
  const { model, server } = await modelOn({ numbering: "none", fault: losingFirstStep() });
  await model.forwardBackward([datum], "cross_entropy");
  await expect(model.optimStep(adam)).rejects.toMatchObject({ code: "connection", mayHaveRun: true });
  await vi.waitFor(() => expect(server.steps).toHaveLength(1), 10_000);
  const first = await model.submitOptimStep(adam, { seqId: 7 });
  const again = await model.submitOptimStep(adam, { seqId: 7 });
  await again.result();
  expect(again.requestId).toBe(first.requestId);
  await model.forward([datum], "cross_entropy");
  expect(server.steps).toHaveLength(3);
});

test("Hatchery: later checkpoints of a model repeat its first one", async () => {
  const { model, server, served } = await modelOn({ numbering: "none" });
  const paths: string[] = [];
  for (const name of ["step-1", "step-2"]) {
    await model.forwardBackward([datum], "cross_entropy");
    await model.optimStep(adam);
    paths.push((await model.saveWeights(name)).path);
  }
  const histories = paths.map((path) => server.checkpoints.get(path)?.history);
  expect(histories).toEqual(Array(2).fill(served.history.slice(0, 2)));
});

test("Hatchery: with stores on disk, checkpoints survive a restart; a model that was never saved is lost", async () => {
  const { model, server, session } = await modelOn({ numbering: "none", stores: "disk" });
  const unsaved = await session.createModel({ baseModel: "tiny", lora: { rank: 8 } });
  const { path } = await model.saveWeights("step-1");
  await server.restart();
  await expect(unsaved.forward([datum], "cross_entropy")).rejects.toMatchObject({
    code: "unknown-model",
    category: "user_error",
  });
  const next = await session.createModel({ baseModel: "tiny", lora: { rank: 8 } });
  await next.loadWeights(path, { optimizer: true });
  expect(server.models.get(next.modelId)!.history).toEqual(server.checkpoints.get(path)!.history);
});

test("Hatchery: in memory, a restart forgets models, futures and checkpoints", async () => {
  const { model, server, client, session } = await modelOn({ numbering: "none" });
  const future = await model.submitForwardBackward([datum], "cross_entropy");
  await future.result();
  const { path } = await model.saveWeights("step-1");
  await server.restart();
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => "none",
      (error) => error.code,
    );
  expect(await codeOf(client.future(future.ticket).result())).toBe("unknown-future");
  expect(await codeOf(model.optimStep(adam))).toBe("unknown-model");
  const next = await session.createModel({ baseModel: "tiny", lora: { rank: 8 } });
  expect(await codeOf(next.loadWeights(path, { optimizer: true }))).toBe("unknown-checkpoint");
});

test.each(["skyrl", "tuft", "none"] as const)(
  "%s: equal requests give equal weights and log-probabilities; loading without the optimizer differs",
  async (numbering) => {
    const run = async () => {
      const { model, session, served } = await modelOn({ numbering });
      const { logprobs } = await model.forwardBackward([datum], "cross_entropy");
      await model.optimStep(adam);
      const { path } = await model.saveWeights("a");
      const sampler = await model.sampler();
      const { sequences } = await sampler.sample({ prompt: [5], maxTokens: 3, seed: 2, samples: 2 });
      return { model, session, served, path, logprobs, sequences };
    };
    const [one, two] = [await run(), await run()];
    expect(two.logprobs).toEqual(one.logprobs);
    expect(two.sequences).toEqual(one.sequences);
    expect(two.served.history).toEqual(one.served.history);
    const restored = await one.session.createModel({ baseModel: "tiny", lora: { rank: 8, seed: 1 } });
    await restored.loadWeights(one.path, { optimizer: false });
    const [forward] = (await restored.forward([datum], "cross_entropy")).logprobs;
    const [undisturbed] = (await one.model.forward([datum], "cross_entropy")).logprobs;
    expect(forward).not.toEqual(undisturbed);
  },
);
