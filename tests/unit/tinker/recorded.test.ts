import { expect, onTestFinished, test } from "vitest";
import { TinkerClient, type TinkerClientOptions } from "../../../packages/tinker/index.ts";
import { bytesOf, type Exchange, exchanges, replay, type Sent } from "../../support/recorded-exchanges.ts";
import { passFromProtobuf } from "../../support/tinker-server/wire.ts";

/** A client of a server that answers as a real one did. */
async function recordedClient(recorded: readonly Exchange[], options: TinkerClientOptions = {}) {
  const { baseUrl, sent } = await replay(recorded);
  const retry = { attempts: 2, minDelayMs: 1, maxDelayMs: 1 };
  const client = new TinkerClient({ baseUrl, apiKey: "tml-key", retry, ...options });
  const session = client.session("session_5d561f16");
  onTestFinished(() => session.close());
  return { client, session, sent };
}

function jsonOf({ body }: Sent): Record<string, unknown> {
  return JSON.parse(body.toString());
}

const datum = {
  input: [5, 6, 7, 8],
  lossInputs: { target_tokens: [6, 7, 8, 9], weights: [0, 1, 1, 1] },
};

test("SkyRL: session, model, forward, backward and optimizer step as they were recorded", async () => {
  const recorded = exchanges("skyrl", [
    "healthz",
    "capabilities",
    "client config",
    "session",
    "create model",
    "create model: retrieve",
    "get_info",
    "JSON body",
    "forward only",
    "forward only: retrieve",
    "ce 0,1,1,1",
    "ce 0,1,1,1: retrieve",
    "optim_step lr 0",
    "optim: retrieve",
  ]);
  const { client, sent } = await recordedClient(recorded);
  await client.health();
  expect(await client.capabilities()).toMatchObject({ models: ["tiny"], losses: undefined });
  expect(await client.config()).toEqual({ pjwt_auth_enabled: false });
  const session = await client.createSession({ tags: ["probe"] });
  onTestFinished(() => session.close());
  expect([session.sessionId, session.messages]).toEqual(["session_5d561f16", []]);
  const model = await session.createModel({ baseModel: "tiny", lora: { rank: 8, seed: 1 }, modelSeqId: 1 });
  expect([model.modelId, model.baseModel, model.nextSeqId]).toEqual(["model_32abd1be", "tiny", 1]);
  expect(await model.info()).toMatchObject({ status: "created" });
  // The first pass asks for the wire: an empty JSON body gets 415.
  const forward = await model.forward([datum], "cross_entropy");
  expect(await client.wire()).toBe("protobuf");
  expect(forward.logprobs[0]?.[0]).toBeCloseTo(-6.240553855895996, 6);
  const backward = await model.forwardBackward([datum], "cross_entropy");
  expect([...(backward.outputs[0]?.elementwise_loss?.data ?? [])][1]).toBeCloseTo(6.4257, 4);
  const { metrics } = await model.optimStep({ learningRate: 0 });
  expect(metrics).toEqual({ "skyrl.ai/grad_norm": 11.40301513671875, "skyrl.ai/learning_rate": 0 });

  const passes = sent.filter(({ headers }) => headers["content-type"] === "application/x-protobuf");
  const expected = exchanges("skyrl", ["forward only", "ce 0,1,1,1"]).map(({ request }) =>
    bytesOf(request.body),
  );
  expect(passes.map(({ body }) => passFromProtobuf(body))).toEqual(expected.map(passFromProtobuf));
  const posted = sent.filter(({ path }) => /create_session|create_model|optim_step/.test(path)).map(jsonOf);
  expect(posted).toMatchObject([
    { tags: ["probe"], user_metadata: {}, type: "create_session" },
    {
      session_id: "session_5d561f16",
      model_seq_id: 1,
      base_model: "tiny",
      lora_config: { rank: 8, seed: 1 },
    },
    exchanges("skyrl", ["optim_step lr 0"])[0]?.request.body,
  ]);
  expect(sent.every(({ headers }) => headers["x-api-key"] === "tml-key")).toBe(true);
});

test("SkyRL: weights are saved, loaded and sampled as they were recorded", async () => {
  const saves = exchanges("skyrl", ["save_weights", "save: retrieve", "save_weights again"]);
  const samples = exchanges("skyrl", [
    "save_weights_for_sampler",
    "sampler: retrieve",
    "asample",
    "asample: retrieve",
    "asample base, prompt log-probs",
    "asample base, prompt log-probs: retrieve",
  ]);
  const loads = exchanges("skyrl", ["load_weights into a used model"]);
  const { session, sent } = await recordedClient([...saves, ...samples, ...loads]);
  const model = session.model("model_32abd1be", { nextSeqId: 107 });
  expect(await model.saveWeights("step-1")).toEqual({ path: "tinker://model_32abd1be/weights/step-1" });
  await expect(model.saveWeights("step-1", { seqId: 107 })).rejects.toMatchObject({
    code: "checkpoint-exists",
    status: 409,
    mayHaveRun: false,
  });
  const sampler = await model.sampler({ seqId: 108 });
  expect(sampler.target).toEqual({ samplingSessionId: "sampling_01960677" });
  const params = { prompt: [5, 6, 7, 8], maxTokens: 4, seed: 1 };
  const { sequences } = await sampler.sample({ ...params, samples: 2 }, { seqId: 1 });
  expect(sequences.map(({ tokens }) => [...tokens])).toEqual([
    [354, 330, 311, 113],
    [186, 12, 155, 206],
  ]);
  const base = session.sampler({ baseModel: "tiny" });
  const { promptLogprobs } = await base.sample({ ...params, promptLogprobs: true });
  expect([promptLogprobs?.length, promptLogprobs?.[0]]).toEqual([4, Number.NaN]);
  const load = model.loadWeights("tinker://model_32abd1be/weights/step-1", { optimizer: true, seqId: 109 });
  await expect(load).rejects.toMatchObject({ code: "invalid-request", status: 400 });

  const bodies = sent.filter(({ path }) => path.endsWith("asample")).map(jsonOf);
  const expected = exchanges("skyrl", ["asample", "asample base, prompt log-probs"]);
  expect(bodies).toMatchObject(expected.map(({ request }) => request.body));
});

test("SkyRL: each refusal has its code", async () => {
  const recorded = exchanges("skyrl", [
    "repeat: other body",
    "int32 targets",
    "dro",
    "no such model",
    "no such future",
    "malformed future id",
    "malformed future id",
  ]);
  const { client, session } = await recordedClient(recorded, { wire: "protobuf" });
  const model = session.model("model_32abd1be");
  const pass = () => model.forwardBackward([datum], "cross_entropy");
  await expect(pass()).rejects.toMatchObject({ code: "sequence-reused", status: 409 });
  await expect(pass()).rejects.toMatchObject({ code: "invalid-request", status: 422 });
  await expect(pass()).rejects.toThrow(/forward_backward_input.loss_fn: Input should be 'cross_entropy'/);
  await expect(pass()).rejects.toMatchObject({ code: "unknown-model", status: 404 });
  expect(model.nextSeqId).toBe(1); // refused requests use up no number
  const future = client.future({ kind: "optimStep", requestId: "999999" });
  await expect(future.result()).rejects.toMatchObject({ code: "unknown-future", requestId: "999999" });
  const malformed = client.future({ kind: "optimStep", requestId: "abc" }).result();
  await expect(malformed).rejects.toMatchObject({ code: "server", status: 500, attempts: 2 });
});

test("SkyRL after a restart: lost models are named, and a new one continues from the checkpoint", async () => {
  const lost = ["after restart: new seq_id, old model: retrieve", "optim old: retrieve"];
  const loading = ["load_weights with optimizer into a new model", "load: retrieve"];
  const { client, session, sent } = await recordedClient(exchanges("skyrl-restart", [...lost, ...loading]));
  for (const kind of ["forwardBackward", "optimStep"] as const) {
    const future = client.future({ kind, requestId: "81" });
    await expect(future.result()).rejects.toMatchObject({
      code: "unknown-model",
      status: 400,
      requestId: "81",
    });
  }
  const model = session.model("model_d1f0fb6f");
  await model.loadWeights("tinker://model_32abd1be/weights/step-1", { optimizer: true });
  expect(jsonOf(sent[2]!)).toMatchObject({ model_id: "model_d1f0fb6f", optimizer: true, seq_id: 1 });
});

test("Hatchery: everything on the JSON wire as it was recorded", async () => {
  const recorded = exchanges("hatchery", [
    "health",
    "capabilities",
    "client config",
    "session",
    "create model",
    "create: retrieve",
    // The first pass asks for the wire, and this server takes JSON.
    "missing field",
    "forward",
  ]);
  const forwardAnswer: Exchange = {
    ...exchanges("hatchery", ["ce 0,1,1,1: retrieve"])[0]!,
    note: "forward: retrieve",
  };
  const rest = exchanges("hatchery", [
    "ce 0,1,1,1",
    "ce 0,1,1,1: retrieve",
    "optim",
    "optim: retrieve",
    "custom step 1",
    "custom1: retrieve",
    "custom step 2",
    "custom2: retrieve",
    "save_weights",
    "save: retrieve",
    "save_weights_for_sampler",
    "sampler: retrieve",
    "asample",
    "asample: retrieve",
    "load_weights",
    "load: retrieve",
  ]);
  const { client, sent } = await recordedClient([...recorded, forwardAnswer, ...rest]);
  await client.health();
  const { models, losses } = await client.capabilities();
  expect(models).toContain("Qwen/Qwen3.5");
  expect(losses).toContain("importance_sampling");
  expect(await client.config()).toMatchObject({ default_poll_interval_ms: 100 });
  const session = await client.createSession();
  onTestFinished(() => session.close());
  const params = { baseModel: "tiny", lora: { rank: 8, seed: 7, trainUnembed: false }, modelSeqId: 1 };
  const model = await session.createModel(params);
  const forward = await model.forward([datum], "cross_entropy");
  expect(await client.wire()).toBe("json");
  expect(forward.logprobs[0]).toHaveLength(4);
  const { metrics } = await model.forwardBackward([datum], "cross_entropy", { seqId: 1 });
  expect(metrics).toMatchObject({ "loss:mean": 6.137857913970947, "accum_steps:mean": 1 });
  const step = await model.optimStep({ learningRate: 0.01 }, { seqId: 2 });
  expect(step.metrics).toMatchObject({ step: 1 });
  const custom = await model.customForward([datum], "c1", { seqId: 1 });
  expect([...custom.logprobs[0]!]).toEqual([-6.240234375, -6.42578125, -5.82177734375, -6.166015625]);
  const third = 0.3333333333333333;
  const gradients = [[0, third, third, third]];
  const backward = await model.customBackward("c1", gradients, { seqId: 2 });
  expect(backward.metrics.surrogate).toBeCloseTo(-6.13786, 5);
  const { path } = await model.saveWeights("s1", { seqId: 1 });
  expect(path).toBe("tinker://mdl_1c354ef0b1b54bbdac1d8617dc06a859/checkpoints/s1");
  const sampler = await model.sampler({ seqId: 2 });
  const { sequences } = await sampler.sample({ prompt: [5, 6, 7, 8], maxTokens: 4, samples: 2, seed: 1 });
  expect(sequences).toHaveLength(2);
  expect(await model.loadWeights(path, { optimizer: true, seqId: 1 })).toMatchObject({
    path: "sessions/mdl_1c354ef0b1b54bbdac1d8617dc06a859/checkpoints/s1",
  });

  const sentBody = (name: string) =>
    jsonOf(sent.find((one) => one.path === `/api/v1/${name}` && one.body.length > 2)!);
  const recordedBody = (note: string) => {
    const { model_id: _, ...body } = exchanges("hatchery", [note])[0]!.request.body;
    return body;
  };
  expect(sentBody("forward")).toMatchObject(recordedBody("forward"));
  expect(sentBody("optim_step")).toMatchObject(recordedBody("optim"));
  expect(sentBody("forward_backward_custom_step1")).toMatchObject(recordedBody("custom step 1"));
  expect(sentBody("forward_backward_custom_step2")).toMatchObject(recordedBody("custom step 2"));
  expect(sentBody("load_weights")).toMatchObject({ optimizer: true, path });
});

test("Hatchery: each refusal and failure has its code", async () => {
  const recorded = exchanges("hatchery", [
    "no key",
    "unknown loss",
    "loss dro",
    "wrong tensor",
    "no such model",
    "optim_step lr 0",
    "after restart: old future",
    "forward: retrieve",
    "load_weights old path",
  ]);
  const { client, session } = await recordedClient(recorded, { wire: "json" });
  await expect(client.createSession()).rejects.toMatchObject({ code: "unauthorized", status: 401 });
  const model = session.model("mdl");
  const pass = () => model.forwardBackward([datum], "cross_entropy");
  await expect(pass()).rejects.toMatchObject({ code: "invalid-request", status: 400 });
  await expect(pass()).rejects.toMatchObject({ code: "not-supported", status: 501 });
  // A crash of the server may have come after it changed something, and this server recognizes no repetition.
  await expect(pass()).rejects.toMatchObject({ code: "server", mayHaveRun: true, attempts: 1 });
  await expect(pass()).rejects.toMatchObject({ code: "unknown-model", status: 404 });
  await expect(model.optimStep({ learningRate: 0 })).rejects.toThrow(
    /learning_rate: Input should be greater/,
  );
  const old = client.future({ kind: "forward", requestId: "fut" });
  await expect(old.result()).rejects.toMatchObject({ code: "unknown-future", status: 404 });
  const failed = client.future({ kind: "forward", requestId: "fut" });
  await expect(failed.result()).rejects.toMatchObject({
    code: "request-failed",
    category: "user_error",
    detail: "ValueError: unknown op 'forward_logprobs'",
  });
  const load = model.loadWeights("tinker://mdl_8/checkpoints/step-1", { optimizer: true });
  await expect(load).rejects.toMatchObject({ code: "unknown-checkpoint", status: 404 });
});
