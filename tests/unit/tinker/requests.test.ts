import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { zstdDecompressSync } from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import { TinkerClient, type TinkerClientOptions } from "../../../packages/tinker/index.ts";
import { exchanges } from "../../support/recorded-exchanges.ts";
import { passFromProtobuf } from "../../support/tinker-server/wire.ts";

/** One request of a test's server, with its body. */
type Asked = IncomingMessage & { path: string; bytes: Buffer };

/** A client of a server, on loopback until the test is over, that does anything. */
async function wildClient(
  behave: (request: Asked, response: ServerResponse, count: number) => unknown,
  options: TinkerClientOptions = {},
) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const bytes = await buffer(request);
    const path = (request.url ?? "").replace("/api/v1/", "");
    const one = Object.assign(request, { bytes, path });
    asked.push(one);
    await behave(one, response, asked.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const retry = { attempts: 4, minDelayMs: 1, maxDelayMs: 20 };
  const client = new TinkerClient({
    baseUrl: `http://127.0.0.1:${port}/`,
    wire: "protobuf",
    retry,
    ...options,
  });
  const session = client.session("s");
  onTestFinished(() => session.close());
  return { client, session, model: session.model("m"), asked, close };
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

const datum = { input: [5, 6], lossInputs: { target_tokens: [6, 7], weights: [1, 1] } };
const accepted = { request_id: "1" };
const done = { metrics: { step: 1 } };

/** Accepts any request, and answers the polls with `result`. */
function accepting(result: unknown) {
  return ({ path }: Asked, response: ServerResponse) =>
    json(response, path === "retrieve_future" ? result : accepted);
}

test("a request whose answer is lost is not sent again, and the error says that it may have run", async () => {
  const { model, asked } = await wildClient((request) => request.socket.destroy());
  await expect(model.optimStep({ learningRate: 1 })).rejects.toMatchObject({
    name: "TinkerError",
    code: "connection",
    mayHaveRun: true,
    attempts: 1,
    call: "POST /api/v1/optim_step",
  });
  expect(asked).toHaveLength(1);
  expect(model.nextSeqId).toBe(2); // the number may be used up
});

test("a server that recognizes repetitions gets the same request again, byte for byte", async () => {
  const { model, asked } = await wildClient(
    (request, response, count) => {
      if (count < 3) request.socket.destroy();
      else accepting({ loss_fn_outputs: [] })(request, response);
    },
    { deduplicates: true },
  );
  await model.forwardBackward([datum], "cross_entropy");
  const passes = asked.slice(0, 3);
  expect(passes.map(({ path }) => path)).toEqual(Array(3).fill("forward_backward"));
  expect(new Set(passes.map(({ bytes }) => bytes.toString("base64"))).size).toBe(1);
  expect(new Set(passes.map(({ headers }) => headers["x-idempotency-key"])).size).toBe(1);
});

test("a call's own option overrides what the client knows about repetitions", async () => {
  const breaking = (request: Asked) => request.socket.destroy();
  const careful = await wildClient(breaking, { deduplicates: true });
  const single = careful.model.optimStep({ learningRate: 1 }, { repeatable: false });
  await expect(single).rejects.toMatchObject({ attempts: 1 });
  const bold = await wildClient(breaking);
  const often = bold.model.optimStep({ learningRate: 1 }, { repeatable: true, idempotencyKey: "mine" });
  await expect(often).rejects.toMatchObject({ attempts: 4, mayHaveRun: true });
  expect(bold.asked.map(({ headers }) => headers["x-idempotency-key"])).toEqual(Array(4).fill("mine"));
});

test("requests that surely did not run are always sent again: refused connections, and 429", async () => {
  const { model, asked } = await wildClient((request, response, count) => {
    if (count === 1) response.writeHead(429, { "retry-after": "0" }).end("slow down");
    else accepting(done)(request, response);
  });
  expect(await model.optimStep({ learningRate: 1 })).toEqual(done);
  expect(asked).toHaveLength(3);
  const gone = await wildClient(() => undefined);
  gone.close();
  await expect(gone.model.optimStep({ learningRate: 1 })).rejects.toMatchObject({
    code: "connection",
    mayHaveRun: false,
    attempts: 4,
  });
  expect(gone.model.nextSeqId).toBe(1);
});

test("the server decides about pauses up to a minute, and about repetitions", async () => {
  const busy = async (headers: Record<string, string>) => {
    const { client, asked } = await wildClient((_, response, count) =>
      count === 1 ? response.writeHead(503, headers).end("busy") : json(response, {}),
    );
    const started = performance.now();
    const outcome = await client.health().then(
      () => "answered",
      ({ code }) => code,
    );
    return { outcome, requests: asked.length, seconds: (performance.now() - started) / 1000 };
  };
  const own = await busy({});
  expect(own).toMatchObject({ outcome: "answered", requests: 2 });
  expect((await busy({ "retry-after-ms": "150", "retry-after": "30" })).seconds).toBeGreaterThan(0.14);
  expect((await busy({ "retry-after": "0.15" })).seconds).toBeGreaterThan(0.14);
  expect((await busy({ "retry-after": "3600" })).seconds).toBeLessThan(5);
  expect(await busy({ "x-should-retry": "false" })).toMatchObject({ outcome: "server", requests: 1 });
});

test("an answer that breaks off is a lost answer; a poll is repeated", async () => {
  const half = (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"request_id": ');
    setTimeout(() => response.destroy(), 20);
  };
  const { model } = await wildClient((_, response) => half(response));
  const lost = model.optimStep({ learningRate: 1 });
  await expect(lost).rejects.toMatchObject({ code: "connection", mayHaveRun: true });
  const polled = await wildClient((request, response, count) => {
    if (count === 2) half(response);
    else accepting(done)(request, response);
  });
  expect(await polled.model.optimStep({ learningRate: 1 })).toEqual(done);
});

test("a request that the server accepted may have run, whatever happens to the wait for its result", async () => {
  const { model, close } = await wildClient(accepting(done));
  const future = await model.submitOptimStep({ learningRate: 1 });
  close();
  await expect(future.result()).rejects.toMatchObject({
    code: "connection",
    mayHaveRun: true,
    requestId: "1",
  });
  const failing = await wildClient(accepting({ type: "request_failed", error: "no memory" }));
  const failed = failing.model.optimStep({ learningRate: 1 });
  await expect(failed).rejects.toMatchObject({ code: "request-failed", mayHaveRun: false });
});

test("a redirection is named, because it would change the request", async () => {
  const { client } = await wildClient((_, response) => response.writeHead(301, { location: "/" }).end());
  await expect(client.health()).rejects.toMatchObject({
    code: "bad-answer",
    message: expect.stringContaining("Set baseUrl"),
  });
});

test("a proxy's page is named, after repeating what may be repeated", async () => {
  const page = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>";
  const html = (response: ServerResponse, status: number) =>
    response.writeHead(status, { "content-type": "text/html" }).end(page);
  const { client, model, asked } = await wildClient((_, response) => html(response, 502));
  await expect(client.health()).rejects.toMatchObject({ code: "server", status: 502, attempts: 4 });
  await expect(model.optimStep({ learningRate: 1 })).rejects.toThrow("502 Bad Gateway");
  expect(asked).toHaveLength(5);
  const wrong = await wildClient((_, response) => html(response, 200));
  await expect(wrong.client.capabilities()).rejects.toMatchObject({ code: "bad-answer", mayHaveRun: false });
  await expect(wrong.model.optimStep({ learningRate: 1 })).rejects.toMatchObject({
    code: "bad-answer",
    mayHaveRun: true,
  });
});

test("a cut-off protobuf result is named with its request", async () => {
  const [recorded] = exchanges("skyrl", ["ce 0,1,1,1: retrieve"]);
  const bytes = Buffer.from(recorded!.response.body.base64, "base64").subarray(0, 40);
  const { model } = await wildClient(({ path }, response) => {
    if (path !== "retrieve_future") return json(response, accepted);
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end(bytes);
  });
  const pass = model.forwardBackward([datum], "cross_entropy");
  await expect(pass).rejects.toMatchObject({ code: "bad-answer", requestId: "1", mayHaveRun: true });
});

test("a slow server's result arrives after 408, try_again, and polls that break", async () => {
  const news: ((response: ServerResponse) => unknown)[] = [
    (response) => json(response, { detail: "Timeout waiting for result" }, 408),
    (response) => json(response, { type: "try_again", request_id: "1", queue_state: "active" }),
    (response) => response.destroy(),
    (response) => response.writeHead(503).end("busy"),
    (response) => json(response, done),
  ];
  const { model, asked } = await wildClient(({ path }, response) =>
    path === "retrieve_future" ? news.shift()!(response) : json(response, accepted),
  );
  expect(await model.optimStep({ learningRate: 1 })).toEqual(done);
  expect(asked.map(({ path }) => path)).toEqual(["optim_step", ...Array(5).fill("retrieve_future")]);
});

test("waiting ends at the caller's limit, and continues in another process from the ticket", async () => {
  let isReady = false;
  const { client, model } = await wildClient(({ path }, response) => {
    if (path !== "retrieve_future") return json(response, accepted);
    return isReady ? json(response, done) : json(response, { detail: "Timeout" }, 408);
  });
  const future = await model.submitOptimStep({ learningRate: 1 });
  await expect(future.result({ timeoutMs: 60 })).rejects.toMatchObject({ code: "timeout", requestId: "1" });
  isReady = true;
  const ticket = JSON.parse(JSON.stringify(future));
  expect(ticket).toEqual({ kind: "optimStep", requestId: "1", seqId: 1 });
  expect(await client.future({ kind: "optimStep", requestId: ticket.requestId }).result()).toEqual(done);
  expect(await future.result()).toEqual(done);
});

test("an aborted signal ends a call in any phase with its own reason", async () => {
  const reason = new Error("enough");
  const { client, model, asked } = await wildClient((request, response) => {
    if (request.path === "healthz") return; // never answers
    if (request.path === "retrieve_future") return json(response, { detail: "Timeout" }, 408);
    return json(response, accepted);
  });
  const soon = () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    return controller.signal;
  };
  await expect(client.health({ signal: soon() })).rejects.toBe(reason);
  await expect(model.optimStep({ learningRate: 1 }, { signal: soon() })).rejects.toBe(reason);
  const count = asked.length;
  await expect(client.health({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(asked).toHaveLength(count);
  const whole = new AbortController();
  const other = await wildClient(() => undefined, { signal: whole.signal });
  const stuck = other.client.health();
  whole.abort(reason);
  await expect(stuck).rejects.toBe(reason);
});

test("an aborted sample is canceled on the server, if the server can", async () => {
  const controller = new AbortController();
  const { session, asked } = await wildClient(({ path }, response) => {
    if (path !== "retrieve_future") return json(response, accepted);
    controller.abort(new Error("enough"));
    return json(response, { detail: "Timeout" }, 408);
  });
  const sampler = session.sampler({ baseModel: "tiny" });
  const sample = sampler.sample({ prompt: [1], maxTokens: 1 }, { signal: controller.signal });
  await expect(sample).rejects.toThrow("enough");
  await vi.waitFor(() => expect(asked.at(-1)).toMatchObject({ path: "cancel_future" }), 10_000);
  const old = await wildClient((_, response) => json(response, { detail: "Not Found" }, 404));
  expect(await old.client.future({ kind: "sample", requestId: "1" }).cancel()).toBe(false);
});

test("one poll names all samples that have ended, from a cursor", async () => {
  const completions = [
    { state: "finished", request_id: "1", response_payload_uncompressed_size: 9 },
    { state: "failed", request_id: "2" },
  ];
  const { session, asked } = await wildClient((_, response) => json(response, { completions, cursor: 7 }));
  const sampler = session.sampler({ samplingSessionId: "sampling" });
  const { requests, cursor } = await sampler.finished({ cursor: 3, retrieved: ["0"] });
  expect(requests).toEqual([
    { requestId: "1", state: "finished" },
    { requestId: "2", state: "failed" },
  ]);
  expect(cursor).toBe(7);
  expect(asked[0]?.path).toBe("retrieve_futures");
  expect(JSON.parse(asked[0]!.bytes.toString())).toMatchObject({
    target: { type: "sampling_session", sampling_session_id: "sampling" },
    prev_cursor: 3,
    retrieved_request_ids: ["0"],
  });
  const other = session.sampler({ baseModel: "tiny" }).finished();
  await expect(other).rejects.toMatchObject({ code: "invalid-request" });
  const old = await wildClient((_, response) => json(response, { detail: "Not Found" }, 404));
  const missing = old.session.sampler({ samplingSessionId: "sampling" }).finished();
  await expect(missing).rejects.toMatchObject({ code: "not-supported" });
});

test("a request without an answer in time is a lost answer", async () => {
  const { model } = await wildClient(() => undefined, { requestTimeoutMs: 50 });
  await expect(model.optimStep({ learningRate: 1 })).rejects.toMatchObject({
    code: "connection",
    mayHaveRun: true,
    message: expect.stringContaining("none within 50 ms"),
  });
});

test("a model's requests are sent in the order of the calls, each after the last was accepted", async () => {
  let open = 0;
  const { model, asked } = await wildClient(async (request, response) => {
    if (request.path === "retrieve_future") return json(response, done);
    open += 1;
    expect(open).toBe(1);
    await sleep(20);
    open -= 1;
    json(response, accepted);
  });
  const steps = [1, 2, 3].map((learningRate) => model.optimStep({ learningRate }));
  await Promise.all(steps);
  const sent = asked
    .filter(({ path }) => path === "optim_step")
    .map(({ bytes }) => JSON.parse(bytes.toString()));
  expect(sent.map(({ seq_id, adam_params }) => [seq_id, adam_params.learning_rate])).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ]);
});

test("passes are compressed with zstd if the client has this option", async () => {
  const { model, asked } = await wildClient(accepting({ loss_fn_outputs: [] }), { zstd: true });
  await model.forward([datum], "cross_entropy", { lossConfig: { loss_id: "mine", scale: 2 } });
  const [{ headers, bytes } = { headers: {}, bytes: Buffer.of() }] = asked;
  expect(headers).toMatchObject({ "content-type": "application/x-protobuf", "content-encoding": "zstd" });
  expect(passFromProtobuf(zstdDecompressSync(bytes))).toMatchObject({
    modelId: "m",
    isForward: true,
    pass: { data: [{ tokens: [5, 6], inputs: { target_tokens: [6, 7], weights: [1, 1] } }] },
  });
});

test.each([
  ["no examples", [], "there are no examples"],
  ["an empty input", [{ input: [], lossInputs: {} }], "example 0 has no tokens"],
  ["a token that is none", [{ input: [1, -2], lossInputs: {} }], "-2 at position 1, which is not a token id"],
  [
    "a tensor that is too short",
    [datum, { input: [1, 2, 3], lossInputs: { weights: [1, 1] } }],
    "weights of example 1 has 2 rows, but the input has 3",
  ],
  [
    "NaN",
    [{ input: [1], lossInputs: { weights: [Number.NaN] } }],
    "NaN at position 0, which is not a finite",
  ],
  ["a float that overflows", [{ input: [1], lossInputs: { weights: [1e39] } }], "1e+39 at position 0"],
  ["a target between tokens", [{ input: [1], lossInputs: { target_tokens: [1.5] } }], "1.5 at position 0"],
  [
    "a shape that doesn't fit",
    [{ input: [1], lossInputs: { pairs: { dtype: "float32", data: [1, 2, 3], shape: [1, 2] } } }],
    "pairs of example 0 has 3 values, but shape [1, 2] has 2",
  ],
] as const)("%s is refused before anything is sent", async (_, data, problem) => {
  const { model, asked } = await wildClient(accepting(done));
  await expect(model.forwardBackward(data, "cross_entropy")).rejects.toMatchObject({
    code: "invalid-request",
    message: expect.stringContaining(problem),
  });
  expect(asked).toEqual([]);
});

test("a server that trains another base model is refused", async () => {
  const { session } = await wildClient(accepting({ model_id: "m", base_model: "tiny" }));
  await expect(session.createModel({ baseModel: "large", lora: { rank: 1 } })).rejects.toMatchObject({
    code: "unexpected-base-model",
    detail: "tiny",
  });
});

test("a stack trace stays in the error's detail, and its last line is the message", async () => {
  const trace =
    'Traceback (most recent call last):\n  File "/srv/worker.py", line 3\nValueError: bad shape\n';
  const { client } = await wildClient((_, response) =>
    json(response, { type: "request_failed", error: trace, category: "server_error" }),
  );
  const failed = await client
    .future({ kind: "optimStep", requestId: "7" })
    .result()
    .catch((error) => error);
  expect(failed).toMatchObject({ code: "request-failed", category: "server_error", detail: trace });
  expect(failed.message).toContain("ValueError: bad shape.");
  expect(failed.message).not.toContain("worker.py");
});
