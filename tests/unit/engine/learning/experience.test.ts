import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type Algorithm,
  type AlgorithmSettings,
  algorithmPresets,
} from "../../../../src/engine/learning/algorithm.ts";
import { gatherExperience } from "../../../../src/engine/learning/experience.ts";
import { joined } from "../../../../src/engine/learning/objective.ts";
import type { Experienced } from "../../../../src/engine/learning/token-rewards.ts";
import { readSafetensors } from "../../../../src/engine/models/weights/safetensors.ts";
import { relativeError } from "../../torch-fixtures.ts";

interface Fixture {
  trajectories: (Required<Experienced> & { reference: number[] })[];
  cases: { name: string; settings: Partial<AlgorithmSettings> & { algorithm: Algorithm; turns?: boolean } }[];
}

const folder = join(import.meta.dirname, "../../../fixtures/algorithms");
const { trajectories, cases }: Fixture = JSON.parse(await readFile(join(folder, "advantages.json"), "utf8"));
const tensors = await readSafetensors(join(folder, "advantages.safetensors"));

/** What the models say of each trajectory. */
function scores() {
  let start = 0;
  return trajectories.map(({ reference }) => {
    const values = tensors.get("values")!.data.subarray(start, start + reference.length);
    start += reference.length;
    return { values, referenceLogProbabilities: Float32Array.from(reference) };
  });
}

test.each(cases)("$name: advantages are those of the formulas in PyTorch", ({ name, settings }) => {
  const { algorithm, turns, ...changes } = settings;
  const whole = trajectories.map(({ turnRewards, ...rest }) => (turns ? { ...rest, turnRewards } : rest));
  const algorithmSettings = { ...algorithmPresets[algorithm], ...changes };
  const experience = gatherExperience(whole, scores(), algorithmSettings, algorithmSettings.klCoefficient);
  const column = (key: string) => joined(experience.map(({ columns }) => columns[key]!));
  expect(relativeError(column("advantages"), tensors.get(`advantages.${name}`)!.data)).toBeLessThan(1e-5);
  const returns = tensors.get(`returns.${name}`)?.data;
  if (returns) expect(relativeError(column("returns"), returns)).toBeLessThan(1e-5);
});
