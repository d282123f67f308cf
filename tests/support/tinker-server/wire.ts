import { MessageReader, MessageWriter } from "../../../packages/tinker/wire/protobuf.ts";
import { valuesOf } from "../../../packages/tinker/wire/tensors.ts";
import { customLoss } from "../tinker-arithmetic.ts";
import type { ServedSequence } from "./models.ts";

/** A pass as a server sees it, without the model and the number, in one form for both wires. */
export interface ServedPass {
  loss: string;
  config: Record<string, number>;
  data: { tokens: number[]; inputs: Record<string, number[]> }[];
}

/** A decoded request for a pass. */
export interface PassRequest {
  modelId: string;
  seqId: number;
  isForward: boolean;
  pass: ServedPass;
}

/** Decodes `tinker_public.ForwardBackwardRequest`. The order of its maps' entries does not matter. */
export function passFromProtobuf(bytes: Uint8Array): PassRequest {
  const message = new MessageReader(bytes);
  const data = message.messages(3).map((datum) => ({
    tokens: datum.messages(1).flatMap((chunk) => [...int32(chunk.message(1).bytes(1))]),
    inputs: sorted(
      datum.messages(2).map((entry) => {
        const tensor = entry.message(2);
        return [entry.text(1), Array.from(valuesOf(tensor.bytes(1), tensor.integer(3)), Number)] as const;
      }),
    ),
  }));
  const config = sorted(message.messages(5).map((entry) => [entry.text(1), entry.double(2)] as const));
  return {
    modelId: message.text(1),
    seqId: message.integer(2),
    isForward: message.integer(6) === 1,
    pass: { loss: message.text(4), config, data },
  };
}

/** A JSON pass. */
interface PassBody {
  model_id: string;
  seq_id?: number;
  forward_input?: PassInput;
  forward_backward_input?: PassInput;
}

interface PassInput {
  /** Absent if the caller computes the loss. */
  loss_fn?: string;
  loss_fn_config?: Record<string, number>;
  data: {
    model_input: { chunks: { tokens: number[] }[] };
    loss_fn_inputs: Record<string, { data: number[] }>;
  }[];
}

/** Decodes a pass of the JSON wire; undefined if it has no input. */
export function passFromJson(body: PassBody, isForward: boolean): PassRequest | undefined {
  const input = isForward ? body.forward_input : body.forward_backward_input;
  if (input === undefined) return undefined;
  const data = input.data.map(({ model_input, loss_fn_inputs }) => ({
    tokens: model_input.chunks.flatMap(({ tokens }) => tokens),
    inputs: sorted(
      Object.entries(loss_fn_inputs).map(([name, tensor]) => [name, [...Float32Array.from(tensor.data)]]),
    ),
  }));
  const pass = { loss: input.loss_fn ?? customLoss, config: input.loss_fn_config ?? {}, data };
  return { modelId: body.model_id, seqId: body.seq_id ?? 0, isForward, pass };
}

/** `tinker_public.ForwardBackwardOutput` with one tensor, `logprobs`, per example. */
export function passOutput(logprobs: readonly number[][]): Uint8Array {
  const offsets = [0n];
  for (const row of logprobs) offsets.push(offsets.at(-1)! + BigInt(4 * row.length));
  const batch = new MessageWriter()
    .bytes(1, bytesOf(Float32Array.from(logprobs.flat())))
    .bytes(2, bytesOf(BigInt64Array.from(offsets)))
    .integer(3, 1);
  const field = new MessageWriter().text(1, "logprobs").message(2, batch);
  const record = new MessageWriter().message(2, field).integer(3, logprobs.length);
  return new MessageWriter().text(1, "scalar").message(2, record).finish();
}

/** `tinker_public.SampleResponse`. */
export function sampleOutput(sequences: readonly ServedSequence[]): Uint8Array {
  const message = new MessageWriter();
  for (const { tokens, logprobs, stop_reason } of sequences) {
    const sequence = new MessageWriter()
      .integer(1, stop_reason === "stop" ? 0 : 1)
      .bytes(2, bytesOf(Int32Array.from(tokens)))
      .bytes(3, bytesOf(Float32Array.from(logprobs)));
    message.message(1, sequence);
  }
  return message.finish();
}

function sorted<Value>(entries: readonly (readonly [string, Value])[]): Record<string, Value> {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function int32(bytes: Uint8Array): Int32Array {
  return new Int32Array(Uint8Array.from(bytes).buffer);
}

function bytesOf({
  buffer,
}: Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer>) {
  return new Uint8Array(buffer);
}
