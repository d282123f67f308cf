import { expect, test } from "vitest";
import type { TokenSequence } from "../../../../src/engine/learning/batch.ts";
import { passSplits, passTokens } from "../../../../src/engine/learning/pass-splits.ts";
import { rowCount } from "../../../../src/engine/learning/token-passes.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";

const config = modelConfig({
  vocab_size: 50_000,
  hidden_size: 576,
  num_hidden_layers: 2,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  intermediate_size: 1536,
  max_position_embeddings: 4096,
});

/** Eight tasks of four trajectories, some 150 to 250 tokens each after `common` tokens of all and some 70 of the task. */
function trajectories(common: number): [TokenSequence][] {
  return Array.from({ length: 32 }, (_, number) => {
    const group = number >> 2;
    const prompt = common + 60 + 5 * group;
    const length = prompt + 150 + ((number * 53) % 100);
    const token = (at: number) => {
      if (at < common) return at;
      return at < prompt ? 1000 * (group + 1) + at : 10_000 + 1000 * number + at;
    };
    const mask = Array.from({ length }, (_token, at) => Number(at >= prompt && at % 3 > 0));
    return [{ tokens: Array.from({ length }, (_token, at) => token(at)), mask }];
  });
}

const splitsOf = (samples: [TokenSequence][]) => passSplits(samples, config, passTokens("cpu"));
const rowsOf = (samples: [TokenSequence][], passes: number[][]) =>
  passes
    .map((pass) => rowCount(pass.flatMap((index) => samples[index]!)))
    .reduce((sum, count) => sum + count);

test("trajectories that begin with long instructions go into larger passes, which compute less", () => {
  const samples = trajectories(600);
  const [cheapest, ...others] = splitsOf(samples).all();
  const apart = passSplits(samples, config, passTokens("cpu", 1024)).cheapest;
  expect(splitsOf(samples).cheapest).toEqual(cheapest);
  expect(cheapest!.passes.flat().sort((a, b) => a - b)).toEqual([...samples.keys()]);
  expect(rowsOf(samples, cheapest!.passes)).toBeLessThan(0.4 * rowsOf(samples, apart.passes));
  // What needs less memory is tried where that doesn't fit, the cheapest first.
  const costs = others.map(({ cost }) => cost);
  expect(costs).toEqual(costs.toSorted((a, b) => a - b));
  expect(others.map(({ passes }) => passes.length)).toContain(apart.passes.length);
});

test("trajectories that have little in common go into passes of the usual size", () => {
  const samples = trajectories(0);
  const { cheapest } = splitsOf(samples);
  expect(cheapest).toEqual(passSplits(samples, config, passTokens("cpu", 1024)).cheapest);
  expect(passTokens("webgpu")).toEqual({ usual: [1024], larger: [] });
  expect(splitsOf([]).all()).toEqual([{ passes: [], cost: 0 }]);
});
