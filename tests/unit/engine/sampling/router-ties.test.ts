import { expect, test } from "vitest";
import { tiesBetween, tiesOf } from "../../../../src/contracts/router-ties.ts";
import { createSampler } from "../../../../src/engine/sampling/sampler.ts";
import { createSequence, type Sample } from "../../../../src/engine/sampling/sequence.ts";
import { modelFolder } from "./policy-folders.ts";

import {
  config,
  expectSameChoices,
  experts,
  gap,
  mixture,
  open,
  opened,
  pairedRouters,
  requests,
  train,
} from "./tied-routers.ts";

test.each([
  ["in place", config],
  ["in plain operators", mixture(8)],
] as const)("a trainer that is told the ties of routers chooses as the sampler chose, %s", async (_, model) =>
  expectSameChoices(model, "cpu"),
);

test("ties are told of what was kept of a prompt as well, and once each where a sequence gave way", async () => {
  const sampler = await open(config);
  const [first] = requests;
  const sample = await sampler.generate(first!);
  const turn = { ...first!, tokens: [...first!.tokens, ...sample.tokens, 5, 6, 7] };
  const again = await sampler.generate(turn);
  // The last token that was sampled had not been read.
  const end = first!.tokens.length + sample.tokens.length - 1;
  const last = first!.tokens.length - 1; // whose last layer nobody asks for now
  expect(tiesBetween(again.routerTies, 0, last)).toEqual(tiesBetween(sample.routerTies, 0, last));
  expect(tiesBetween(again.routerTies, 0, end).length).toBeGreaterThan(0);
  expect(tiesOf(again.routerTies).some(({ position }) => position > end)).toBe(true);

  const short = await open(config, { positions: 400 });
  const samples = await Promise.all(requests.map((one) => short.generate(one)));
  expect(await gap(train(config), samples, true)).toBeLessThan(1e-5);
  for (const { routerTies } of samples) {
    const places = tiesOf(routerTies).map(({ position, layer }) => `${position} ${layer}`);
    expect(new Set(places).size).toBe(places.length);
  }
});

test("a model without experts, or whose experts are all chosen, has no ties", async () => {
  const whole = { ...config, experts: { ...config.experts!, num_experts_per_tok: experts } };
  const sampler = createSampler({ config: whole, slots: 2, stopTokens: [], threads: 2, decode: () => "" });
  opened.push(sampler);
  await sampler.load(0, await modelFolder(whole, pairedRouters(config)));
  expect((await sampler.generate(requests[0]!)).routerTies).toEqual([]);
});

test("ties of no token, layer or expert are refused", async () => {
  const [prompt, action] = [
    [5, 6, 7, 8],
    [9, 10],
  ];
  const sequence = { tokens: [...prompt, ...action], mask: [0, 0, 0, 0, 1, 1] };
  const engine = train(config);
  const of = (routerTies: number[]) => engine.score([{ ...sequence, routerTies }], "policy");
  await expect(of([9, 0, 0])).rejects.toThrow("[9, 0, 0]");
  await expect(of([1, 4, 0])).rejects.toThrow("[1, 4, 0]");
  await expect(of([1, 0, 16])).rejects.toThrow("[1, 0, 16]");
  await expect(of([1, 0])).rejects.toThrow("router ties");
});

test("the ties of a long context are as many as there are", async () => {
  const { promise, resolve, reject } = Promise.withResolvers<Sample>();
  const limits = { arrival: 0, limit: 1, stopTokens: new Set<number>(), decode: () => "" };
  const asked = { ...requests[0]!, sampling: { temperature: 0, maxTokens: 1 } };
  const sequence = createSequence(asked, limits, { settled() {}, finish: resolve, fail: reject });
  sequence.length = asked.tokens.length;
  sequence.addTies(
    Array.from({ length: 600_000 }, (_, at) => Math.floor(at / 3)),
    200_000,
  );
  const none = () => new Float32Array();
  sequence.advance({ choice: () => ({ token: 5, probability: 1 }), weights: none, logits: none });
  expect((await promise).routerTies).toHaveLength(600_000);
});
