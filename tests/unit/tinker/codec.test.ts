import { expect, test } from "vitest";
import { Answer } from "../../../packages/tinker/http/answer.ts";
import { passProtobuf, passResult } from "../../../packages/tinker/wire/forward-backward.ts";
import { readyData } from "../../../packages/tinker/wire/input.ts";
import { MessageReader, MessageWriter } from "../../../packages/tinker/wire/protobuf.ts";
import { sampleResult } from "../../../packages/tinker/wire/sample.ts";
import { valuesOf } from "../../../packages/tinker/wire/tensors.ts";
import { bytesOf, exchanges, type RecordedBody } from "../../support/recorded-exchanges.ts";
import { passFromProtobuf } from "../../support/tinker-server/wire.ts";

/** Protobuf at an address that is no multiple of 4, as in a pool of Node's buffers. */
function protobuf(body: RecordedBody): Answer {
  const bytes = bytesOf(body);
  const unaligned = new Uint8Array(bytes.length + 1).subarray(1);
  unaligned.set(bytes);
  return new Answer(200, new Headers({ "content-type": "application/x-protobuf" }), unaligned);
}

function jsonAnswer(body: RecordedBody): Answer {
  return new Answer(200, new Headers({ "content-type": "application/json" }), bytesOf(body));
}

/** The request of a recorded pass, encoded by the package. */
function encoded(decoded: RecordedBody): Uint8Array {
  const { model_id, seq_id, data, loss_fn, loss_fn_config, forward_only = false } = decoded;
  return passProtobuf({
    modelId: model_id,
    seqId: seq_id,
    data: readyData(
      data.map(({ chunks, inputs }: RecordedBody) => ({ input: chunks[0], lossInputs: inputs })),
    ),
    loss: loss_fn,
    config: loss_fn_config,
    forwardOnly: forward_only,
  });
}

test("encodes passes to the bytes that SkyRL accepted", () => {
  const notes = ["forward only", "ce 0,1,1,1", "is two datums x2", "ppo", "dro"];
  for (const { request } of exchanges("skyrl", notes))
    expect(Buffer.from(encoded(request.decoded)).toString("base64")).toBe(request.body.base64);
});

test("encodes what Tinker's own SDK encodes, whatever the order of maps", () => {
  const [{ request } = never()] = exchanges("sdk", ["forward_backward of the SDK"]);
  const own = encoded(request.decoded);
  expect(own).toHaveLength(bytesOf(request.body).length);
  expect(passFromProtobuf(own)).toEqual(passFromProtobuf(bytesOf(request.body)));
});

test("decodes SkyRL's passes, one tensor of each name per example", () => {
  const notes = ["forward only: retrieve", "ce 0,1,1,1: retrieve", "is two datums x2: retrieve"];
  for (const { response } of exchanges("skyrl", notes)) {
    const { outputs, logprobs, metrics } = passResult(protobuf(response.body));
    const { loss_fn_outputs } = response.decoded;
    expect(metrics).toEqual({});
    expect(logprobs.map((row) => [...row])).toEqual(
      loss_fn_outputs.map((output: RecordedBody) => output.logprobs.data),
    );
    expect(outputs.map(({ elementwise_loss: loss }) => [loss?.dtype, loss?.shape])).toEqual(
      loss_fn_outputs.map(() => ["float32", [4]]),
    );
  }
});

test("decodes Hatchery's passes to the same form", () => {
  const [{ response } = never()] = exchanges("hatchery", ["ce two datums: retrieve"]);
  const { outputs, logprobs, metrics, outputType } = passResult(jsonAnswer(response.body));
  expect(outputType).toBe("cross_entropy");
  expect(metrics).toMatchObject({ "loss:mean": 6.137857913970947, "num_tokens:sum": 8 });
  expect(logprobs.map((row) => [...row])).toEqual(
    [0, 1].map(() => [-6.240234375, -6.42578125, -5.82177734375, -6.166015625]),
  );
  expect(outputs[0]?.logprobs).toMatchObject({ dtype: "float32", shape: [4] });
});

test("decodes samples, and the prompt has a log-probability per token on both wires", () => {
  const [skyrl = never()] = exchanges("skyrl", ["asample base, prompt log-probs: retrieve"]);
  const [hatchery = never()] = exchanges("hatchery", ["asample: retrieve"]);
  const fromSkyrl = sampleResult(protobuf(skyrl.response.body), 4);
  const { sequences, prompt_logprobs } = skyrl.response.decoded;
  expect([...fromSkyrl.sequences[0]!.tokens]).toEqual(sequences[0].tokens);
  expect([...fromSkyrl.sequences[0]!.logprobs!]).toEqual(sequences[0].logprobs);
  expect(fromSkyrl.sequences[0]).toMatchObject({ stopReason: "length", topTokens: undefined });
  expect([...fromSkyrl.promptLogprobs!]).toEqual([Number.NaN, ...prompt_logprobs]);
  const fromHatchery = sampleResult(jsonAnswer(hatchery.response.body), 4);
  expect(fromHatchery.sequences.map(({ tokens }) => [...tokens])).toEqual([
    [358, 266, 18, 253],
    [295, 282, 285, 62],
  ]);
  expect(fromHatchery.promptLogprobs).toHaveLength(4);
  expect(fromHatchery.promptLogprobs![0]).toBeNaN();
});

test("reads every type of tensor, top tokens, and outputs with several values per token", () => {
  expect([...valuesOf(Uint8Array.of(0, 0, 128, 63, 32, 192).subarray(2), 4)]).toEqual([1, -2.5]);
  expect([...valuesOf(Uint8Array.of(255, 255, 255, 255), 3)]).toEqual([-1n]);
  const top = new MessageWriter()
    .bytes(1, new Uint8Array(Int32Array.of(7, 0, 0, 0).buffer))
    .bytes(2, new Uint8Array(Float32Array.of(-0.5, -99999, -99999, -99999).buffer))
    .integer(3, 2)
    .integer(4, 2);
  const sample = new MessageWriter().message(3, top).finish();
  const { promptTopTokens } = sampleResult(protobuf({ base64: Buffer.from(sample).toString("base64") }), 3);
  expect(promptTopTokens).toEqual([undefined, [{ token: 7, logprob: -0.5 }], undefined]);
  const batch = new MessageWriter()
    .bytes(1, new Uint8Array(Float32Array.of(1, 2, 3, 4, 5, 6).buffer))
    .bytes(2, new Uint8Array(BigInt64Array.of(0n, 8n, 24n).buffer))
    .integer(3, 1)
    .integers(4, [2]);
  const record = new MessageWriter().message(2, new MessageWriter().text(1, "pairs").message(2, batch));
  const output = new MessageWriter().message(2, record).finish();
  const { outputs } = passResult(protobuf({ base64: Buffer.from(output).toString("base64") }));
  expect(outputs.map(({ pairs }) => [pairs?.shape, [...pairs!.data]])).toEqual([
    [
      [1, 2],
      [1, 2],
    ],
    [
      [2, 2],
      [3, 4, 5, 6],
    ],
  ]);
});

test("names an answer that is cut off or garbage, at whatever byte", () => {
  const [{ response } = never()] = exchanges("skyrl", ["is two datums x2: retrieve"]);
  const whole = bytesOf(response.body);
  const readable = Array.from({ length: whole.length }, (_, length) => length).filter((length) => {
    try {
      const bytes = whole.subarray(0, length).toString("base64");
      const { outputs } = passResult(protobuf({ base64: bytes }));
      return outputs.length > 0;
    } catch (error) {
      expect(error).toMatchObject({ name: "TinkerError", code: "bad-answer" });
      return false;
    }
  });
  // No prefix passes for a complete answer: the only record is the last field.
  expect(readable).toEqual([]);
  for (const bytes of ["/////////////w==", "AA==", "Cw==", "EgNhYmM="])
    expect(() => passResult(protobuf({ base64: bytes }))).toThrow(/Unreadable answer/);
});

test("a message can be written and read with large integers, doubles and texts", () => {
  const bytes = new MessageWriter()
    .integer(1, 2 ** 53 - 1)
    .double(2, -0.25)
    .text(3, "Größe")
    .integers(4, [0, 300])
    .finish();
  const message = new MessageReader(bytes);
  expect([message.integer(1), message.double(2), message.text(3)]).toEqual([2 ** 53 - 1, -0.25, "Größe"]);
  expect([message.integers(4), message.integer(9), message.has(9)]).toEqual([[0, 300], 0, false]);
});

function never(): never {
  throw new Error("The fixture is missing.");
}
