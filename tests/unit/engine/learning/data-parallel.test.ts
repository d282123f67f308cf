import { expect, test } from "vitest";
import type { PortionSharing } from "../../../../src/contracts/trainer.ts";
import { portionsOf } from "../../../../src/engine/learning/portions.ts";
import { createTrainer, type TrainerOptions } from "../../../../src/engine/learning/trainer.ts";
import {
  freshTrainerState,
  type TrainerState,
  trainedParameters,
} from "../../../../src/engine/learning/trainer-state.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { relativeError } from "../../torch-fixtures.ts";
import { ppoFixture } from "./ppo-fixture.ts";

const fixture = await ppoFixture();
const { config, reference, trajectories } = fixture;
const settings = { ...fixture.settings, epochs: 2, minibatchSize: 4 };

/** Portions that the trainers of a list share in memory. */
function sharedBy(portions: number, results: Map<string, Uint8Array>, made: number[], trainer = 0) {
  let computations = 0;
  const sharing: PortionSharing = {
    portions,
    async gather(name, count, compute, use) {
      computations++;
      for (let portion = 0; portion < count; portion++) {
        const key = `${computations} ${name} ${portion}`;
        const isOwn = !results.has(key);
        const result = results.get(key) ?? (await compute(portion));
        results.set(key, Uint8Array.from(result));
        use(result);
        if (isOwn) made[trainer] = (made[trainer] ?? 0) + 1;
      }
    },
  };
  return sharing;
}

async function stepped(sharing?: PortionSharing, changes: Partial<TrainerOptions> = {}) {
  const state = copyTrainerState(changes.state ?? fixture.state);
  const trainer = createTrainer({ config, reference, settings, seed: 1, ...changes, state });
  const metrics = await trainer.policyGradientStep(trajectories, sharing && { sharing });
  await trainer.close();
  return { metrics, state: trainer.state };
}

const shared = (portions: number) => sharedBy(portions, new Map(), []);
const separate = { settings: { ...settings, critic: "model" as const } };

const lora = { rank: 4, alpha: 8, targets: ["q_proj" as const, "down_proj" as const] };
const fresh = freshTrainerState({ config, lora }, fixture.state.weights);
const adapter = { lora, state: fresh, reference: async () => copyTrainerState(fresh).adapter };

function expectClose(actual: TrainerState, expected: TrainerState) {
  for (const [name, { data }] of trainedParameters(expected)) {
    expect(relativeError(trainedParameters(actual).get(name)!.data, data), name).toBeLessThan(1e-4);
  }
}

test.each([
  ["a value head", {}],
  ["a critic", separate],
  ["an adapter", adapter],
])("with %s, one portion makes the step that is not divided, bit for bit", async (_, changes) => {
  expect(await stepped(shared(1), changes)).toEqual(await stepped(undefined, changes));
});

test("the portions' gradients add up to the gradient of the whole minibatch, within float32", async () => {
  const [whole, divided] = [await stepped(), await stepped(shared(3))];
  expect(divided.state).not.toEqual(whole.state); // they are added in another order
  expectClose(divided.state, whole.state);
  for (const [name, value] of Object.entries(whole.metrics)) {
    expect(divided.metrics, name).toHaveProperty(name, expect.closeTo(value, 4));
  }
  const [critic, dividedCritic] = [await stepped(undefined, separate), await stepped(shared(3), separate)];
  expectClose(dividedCritic.state.critic!, critic.state.critic!);
});

test("a trainer that computes no portion ends where the one does that computes all", async () => {
  const [results, made] = [new Map<string, Uint8Array>(), [0, 0]];
  const first = await stepped(sharedBy(3, results, made, 0));
  const second = await stepped(sharedBy(3, results, made, 1));
  expect(second).toEqual(first);
  const [scores, updates] = [3 + 3, 2 * (3 + 2)]; // of policy and reference; the second minibatch has two trajectories
  expect(made).toEqual([scores + updates, 0]);
});

test("portions have about the same number of tokens, keep a prompt together, and hold each sample once", () => {
  const sample = (prompt: number, actions: number) => [
    { tokens: [prompt, ...new Array<number>(actions).fill(1)], mask: [0, ...new Array(actions).fill(1)] },
  ];
  expect(portionsOf([sample(7, 9), sample(8, 9), sample(7, 9), sample(8, 9)], 2)).toEqual([
    [0, 2],
    [1, 3],
  ]);
  expect(portionsOf([sample(1, 29), sample(2, 9), sample(3, 9), sample(4, 9)], 2)).toEqual([[0], [1, 2, 3]]);
  expect(
    portionsOf([sample(1, 9), sample(2, 9)], 4)
      .flat()
      .sort(),
  ).toEqual([0, 1]);
  expect(portionsOf([sample(1, 9), sample(2, 9), sample(3, 3)], 1)).toEqual([[0, 1, 2]]);
});
