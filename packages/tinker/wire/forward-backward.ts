import type { Answer } from "../http/answer.ts";
import { badAnswer, type Fields, fieldsOf, listOf, numbersOf, optionalText } from "../http/json.ts";
import type { Chunk, ForwardResult, LossConfig, Tensor } from "../types.ts";
import { inputJson, type ReadyDatum } from "./input.ts";
import { MessageReader, MessageWriter } from "./protobuf.ts";
import { dtypes, type ReadyTensor, sizeOf, tensorFromJson, tensorJson, valuesOf } from "./tensors.ts";

/** A pass over examples. */
export interface Pass {
  readonly modelId: string;
  readonly seqId: number;
  readonly data: readonly ReadyDatum[];
  readonly loss: string;
  readonly config: LossConfig | undefined;
  readonly forwardOnly: boolean;
}

/** The pass as `tinker_public.ForwardBackwardRequest`. */
export function passProtobuf({ modelId, seqId, data, loss, config = {}, forwardOnly }: Pass): Uint8Array {
  const message = new MessageWriter().text(1, modelId).integer(2, seqId);
  for (const datum of data) message.message(3, datumMessage(datum));
  message.text(4, loss);
  // Servers before SDK 0.3x read field 5 alone, which has no texts; later ones prefer field 7.
  const hasTexts = Object.values(config).some((value) => typeof value === "string");
  for (const [key, value] of Object.entries(config)) {
    if (typeof value === "number") message.message(5, new MessageWriter().text(1, key).double(2, value));
    const tagged =
      typeof value === "number" ? new MessageWriter().double(1, value) : new MessageWriter().text(2, value);
    if (hasTexts) message.message(7, new MessageWriter().text(1, key).message(2, tagged));
  }
  if (forwardOnly) message.integer(6, 1);
  return message.finish();
}

/** The pass for the JSON wire, whose forward passes have an address and a name of their own. */
export function passJson({ modelId, seqId, data, loss, config, forwardOnly }: Pass): unknown {
  const input = {
    data: dataJson(data),
    loss_fn: loss,
    loss_fn_config: config,
  };
  return {
    model_id: modelId,
    seq_id: seqId,
    [forwardOnly ? "forward_input" : "forward_backward_input"]: input,
  };
}

/** Examples in the JSON wire's form. */
export function dataJson(data: readonly ReadyDatum[]): unknown[] {
  return data.map(({ chunks, lossInputs }) => ({
    model_input: inputJson(chunks),
    loss_fn_inputs: Object.fromEntries(lossInputs.map(([name, tensor]) => [name, tensorJson(tensor)])),
  }));
}

/** The result of a pass in either form. Throws `bad-answer`. */
export function passResult(answer: Answer): ForwardResult {
  const result = answer.isProtobuf ? fromProtobuf(answer.bytes) : fromJson(answer.json());
  return { ...result, logprobs: logprobsOf(result.outputs) };
}

type Decoded = Omit<ForwardResult, "logprobs">;
type Outputs = Record<string, Tensor>[];

function logprobsOf(outputs: readonly Readonly<Record<string, Tensor>>[]): Float32Array[] {
  return outputs.map(({ logprobs }) => (logprobs?.dtype === "float32" ? logprobs.data : new Float32Array()));
}

function datumMessage({ chunks, lossInputs }: ReadyDatum): MessageWriter {
  const message = new MessageWriter();
  for (const chunk of chunks) message.message(1, chunkMessage(chunk));
  for (const [name, tensor] of lossInputs)
    message.message(2, new MessageWriter().text(1, name).message(2, tensorMessage(tensor)));
  return message;
}

function chunkMessage(chunk: Chunk): MessageWriter {
  if (chunk.type === "text") {
    const tokens = bytesOf(Int32Array.from(chunk.tokens));
    return new MessageWriter().message(1, new MessageWriter().bytes(1, tokens));
  }
  const image = new MessageWriter().bytes(1, chunk.data).text(2, chunk.format);
  if (chunk.expectedTokens !== undefined) image.integer(3, chunk.expectedTokens);
  return new MessageWriter().message(2, image);
}

function tensorMessage({ dtype, data, shape }: ReadyTensor): MessageWriter {
  return new MessageWriter().bytes(1, bytesOf(data)).integer(3, dtypes[dtype]).integers(4, shape);
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array | Float32Array | BigInt64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function fromProtobuf(bytes: Uint8Array): Decoded {
  const message = new MessageReader(bytes);
  const metrics: Record<string, number> = {};
  for (const entry of message.messages(3)) metrics[entry.text(1)] = entry.double(2);
  return {
    outputType: message.text(1).split(":").at(-1) ?? "",
    outputs: message.messages(2).flatMap(recordOutputs),
    metrics,
  };
}

/** The outputs of one `ArrayRecord`: for each name, the tensors of all its examples in one piece. */
function recordOutputs(record: MessageReader): Outputs {
  const fields = record.messages(2).map((entry) => ({
    name: entry.text(1),
    tensors: splitTensors(entry.message(2), entry.text(1)),
  }));
  const count = record.has(3) ? record.integer(3) : (fields[0]?.tensors.length ?? 0);
  return Array.from({ length: count }, (_, index) => {
    const output: Record<string, Tensor> = {};
    for (const { name, tensors } of fields) {
      const tensor = tensors[index];
      if (tensor === undefined) throw badAnswer(`output ${name} has ${tensors.length} of ${count} tensors`);
      output[name] = tensor;
    }
    return output;
  });
}

function splitTensors(batch: MessageReader, name: string): Tensor[] {
  const [data, dtype, trailing] = [batch.bytes(1), batch.integer(3), batch.integers(4)];
  const offsets = Array.from(valuesOf(batch.bytes(2), dtypes.int64), Number);
  const rowSize = trailing.reduce((product, length) => product * length, sizeOf(dtype));
  return offsets.slice(1).map((end, index) => {
    const start = offsets[index] ?? 0;
    if (start < 0 || start > end || end > data.length)
      throw badAnswer(`output ${name} has bytes ${start} to ${end} of ${data.length}`);
    const values = valuesOf(data.subarray(start, end), dtype);
    const shape = [rowSize === 0 ? 0 : Math.floor((end - start) / rowSize), ...trailing];
    return values instanceof Float32Array
      ? { dtype: "float32", data: values, shape }
      : { dtype: "int64", data: values, shape };
  });
}

function fromJson(value: unknown): Decoded {
  const answer = fieldsOf(value, "the answer");
  return {
    outputType: optionalText(answer, "loss_fn_output_type") ?? "",
    outputs: listOf(answer, "loss_fn_outputs").map(outputFromJson),
    metrics: numbersOf(answer.metrics),
  };
}

function outputFromJson(value: unknown): Record<string, Tensor> {
  const output: Record<string, Tensor> = {};
  for (const [name, tensor] of Object.entries(fieldsOf(value, "an output")))
    output[name] = tensorOf(fieldsOf(tensor, `output ${name}`));
  return output;
}

function tensorOf(fields: Fields): Tensor {
  const { shape } = fields;
  const isShape = Array.isArray(shape) && shape.every((length) => typeof length === "number");
  return tensorFromJson(listOf(fields, "data"), optionalText(fields, "dtype"), isShape ? shape : undefined);
}
