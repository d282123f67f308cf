import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { registerExplain } from "../../../../src/apps/cli/commands/explain.ts";
import { examples, serverless } from "../../../support/example-pipelines.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

const explain = (pipeline: string, ...parameters: string[]) =>
  runCommand(registerExplain, "explain", pipeline, ...parameters);
const calculator = join(examples, "calculator.yaml");

const cache = temporaryFolder();

beforeEach(() => vi.stubEnv("XDG_CACHE_HOME", cache)); // without times of earlier runs
afterEach(() => vi.unstubAllEnvs());

test("says what happens, in order and in numbers, which plugin supplies what, and shows a prompt", async () => {
  const text = await explain(calculator, "--set", "steps=25", "--set", "evaluation.every=10");
  expect(text.slice(0, text.indexOf("\nParts"))).toMatchInlineSnapshot(`
    "calculator, seed 1

    What happens
      1. policy-onnx makes version 0 of the policy
      2. held-out accuracy on 300 tasks, greedily
      3. warm start: 400 supervised steps of 64 demonstrations
      4. held-out accuracy on 300 tasks, greedily
      5. 25 steps, each: 64 tasks = 64 trajectories; actions of at most 40 tokens at temperature 1; then one update by trainer-onnx
      6. held-out accuracy again every 10 steps, and after the last: 5 evaluations in all

    Numbers
      trajectories that are trained on  1,600
      trajectories of evaluations       1,500
      training tasks                    4,000, gone through 0.4 times
      tokens of the longest prompt      41
      tokens of a trajectory, at most   512
      tokens of a step, at most         32,768
    "
  `);
  expect(text).toMatch(/^Time: npx everturn probe \S+ measures it$/m);
  expect(text).toMatch(/^tool +tool-calculator +\d/m);
  expect(text).toMatch(/^Memory of the policy, about, in MB: weights 3, keys and values 15 to 59$/m);
  expect(text).toMatch(
    /^Memory of the trainer for an update on 32 trajectories, about, in MB\n.*\n {2}512 +\d+ +\d+ +16 passes of up to 1022 tokens, no layer computed again\n {2}of which, with 512 tokens of each: weights 3, optimizer 6, gradients 3, activations \d+, process \d+$/m,
  );
  expect(text).toMatch(/^Prompt\n[\s\S]*<\|im_start\|>system/m);
});

test("the same as JSON; what is derived fits what is said", async () => {
  const told = JSON.parse(await explain(calculator, "--json", "--set", "evaluation.every=0"));
  expect(told.trajectories).toBe(told.steps * told.trajectoriesOfStep);
  expect(told.trajectoriesOfStep).toBe(told.tasksOfStep * told.groupSize);
  expect(told.evaluations).toBe(3); // as built, after the warm start, at the end
  expect(told.parts.map(({ part }: { part: string }) => part)).toEqual(
    expect.arrayContaining(["policy", "tool", "agent loop", "reward", "trainer"]),
  );
});

test("what updates would hold is said by length, as JSON too, and not of what a card or another trainer does", async () => {
  const told = JSON.parse(await explain(calculator, "--json", "--set", "trainer.config.minibatchSize=8"));
  const [memory] = told.memory;
  expect(memory).toMatchObject({
    of: "trajectories",
    count: 8,
    tokens: 512,
    usual: { parts: { weights: expect.any(Number) } },
  });
  expect(memory.least.bytes).toBeLessThan(memory.usual.bytes);
  const long = ["--set", "policy.config.architecture.max_position_embeddings=4096"];
  const longer = JSON.parse(
    await explain(calculator, "--json", ...long, "--set", "trainer.config.memory=100"),
  );
  expect(longer.memory.map(({ tokens }: { tokens: number }) => tokens)).toEqual([512, 2048, 4096]);
  expect(longer.memory[0]).not.toHaveProperty("usual");
  const half = ["--set", "trainer.config.precision=bfloat16"];
  expect(JSON.parse(await explain(calculator, "--json", ...half))).not.toHaveProperty("memory");
});

test.each(serverless)("explains %s, or says what it lacks", async (file) => {
  const text = await explain(join(examples, file)).catch((error: Error) => error.message);
  expect(text).toMatch(/What happens|MODEL_|is not there|doesn't exist|npm install|There is no/);
});

test("the memory of a policy that reads images includes their encoder", async () => {
  const look = JSON.parse(await explain(join(examples, "look.yaml"), "--json"));
  expect(look.sampling.images).toBeGreaterThan(2 ** 28);
  expect(await explain(join(examples, "look.yaml"))).toMatch(/weights \d+, images 2\d\d, keys and values/);
  expect(
    JSON.parse(await explain(join(examples, "calculator.yaml"), "--json")).sampling.images,
  ).toBeUndefined();
});
