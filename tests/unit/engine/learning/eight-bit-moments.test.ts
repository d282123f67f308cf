import { expect, test } from "vitest";
import { createAdamW } from "../../../../src/engine/learning/adamw.ts";
import { momentCodes } from "../../../../src/engine/learning/moment-codes.ts";
import { freshMoments, momentsIn } from "../../../../src/engine/learning/optimizer-state.ts";
import { checkTrainerState, freshTrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import expected from "../../../fixtures/optimizer.json" with { type: "json" };
import { relativeError } from "../../torch-fixtures.ts";

const size = 4355;

/** The numbers of scripts/make-optimizer-fixtures.py: of sizes that differ a thousandfold, with a block of zeros. */
function numbers(seed: number): Float32Array {
  return Float32Array.from({ length: size }, (_, at) => {
    const part = ((at * 7919 + seed * 104_729) % 65_521) / 65_521 - 0.5;
    return Math.floor(at / 256) === 5 ? 0 : part * 10 ** -(at % 4);
  });
}

test("codes are those of bitsandbytes' dynamic maps", () => {
  for (const [signed, values] of [[true, expected.signed] as const, [false, expected.unsigned] as const])
    expect(relativeError(momentCodes(signed).values, Float32Array.from(values))).toBeLessThan(1e-6);
});

test("an update with moments in 8 bits is that of a reference computation, code by code", async () => {
  const parameters = new Map([["w", { shape: [65, 67], data: numbers(0) }]]);
  const state = freshMoments(parameters, 8);
  const optimizer = createAdamW(1);
  for (let update = 1; update <= 3; update++) {
    const gradients = new Map([["w", numbers(update)]]);
    const settings = {
      learningRate: 0.01,
      weightDecay: 0.1,
      gradientScale: 0.5,
      betas: [0.9, 0.99],
    } as const;
    await optimizer.update(parameters, gradients, momentsIn(state, parameters), { ...settings, update });
  }
  expect(relativeError(parameters.get("w")!.data, Float32Array.from(expected.parameter))).toBeLessThan(1e-6);
  for (const kind of ["first", "second"] as const) {
    const { codes, scales } = expected[kind];
    expect([...state.get(`${kind}/w`)!.data]).toEqual(codes);
    const found = state.get(`scales/${kind}/w`)!.data;
    expect(relativeError(Float32Array.from(found), Float32Array.from(scales))).toBeLessThan(1e-6);
  }
});

test("threads make no difference to moments in 8 bits", async () => {
  const after = async (threads: number) => {
    const shape = [1021, 1031];
    const data = Float32Array.from({ length: 1021 * 1031 }, (_, at) => Math.sin(at));
    const parameters = new Map([["w", { shape, data }]]);
    const state = freshMoments(parameters, 8);
    const optimizer = createAdamW(threads);
    for (let update = 1; update <= 2; update++) {
      const gradients = new Map([["w", data.map((value) => value ** 3 / update)]]);
      const settings = { learningRate: 0.01, weightDecay: 0, gradientScale: 1, update };
      await optimizer.update(parameters, gradients, momentsIn(state, parameters), settings);
    }
    await optimizer.close();
    return Buffer.concat(
      [data, ...[...state.values()].map((one) => one.data)].map((one) => Buffer.from(one.buffer)),
    );
  };
  expect((await after(2)).equals(await after(1))).toBe(true);
});

test("embeddings and small parameters keep 32 bits, all else takes two bytes a number and a scale a block", () => {
  const config = modelConfig({
    vocab_size: 512,
    hidden_size: 64,
    num_hidden_layers: 1,
    num_attention_heads: 4,
    intermediate_size: 192,
    max_position_embeddings: 64,
  });
  const state = freshTrainerState({ config }, randomModelWeights(config, 1), 0, 8);
  const bytes = (name: string) =>
    ["first", "second"].map((kind) => state.optimizer.get(`${kind}/${name}`)!.data.byteLength);
  expect(bytes("model.embed_tokens.weight")).toEqual([4 * 512 * 64, 4 * 512 * 64]);
  expect(bytes("model.norm.weight")).toEqual([4 * 64, 4 * 64]);
  expect(bytes("model.layers.0.mlp.up_proj.weight")).toEqual([192 * 64, 192 * 64]);
  expect(state.optimizer.get("scales/first/model.layers.0.mlp.up_proj.weight")!.shape).toEqual([48]);
  expect(() => checkTrainerState({ config }, state)).not.toThrow();
  state.optimizer.delete("scales/second/model.layers.0.mlp.up_proj.weight");
  expect(() => checkTrainerState({ config }, state)).toThrow(/up_proj\.weight are codes without a scale/);
});
