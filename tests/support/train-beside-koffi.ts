// Trains and samples in a process of its own, in which koffi is what the argument says. Prints what came of it as JSON.
import { createRequire, registerHooks } from "node:module";
import { supervisedObjective } from "../../src/engine/learning/supervised-objective.ts";
import { freshTrainerState } from "../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../src/engine/learning/training-engine.ts";
import { randomModelWeights } from "../../src/engine/models/weights/random-weights.ts";
import { createSampler } from "../../src/engine/sampling/sampler.ts";
import { modelFolder } from "../unit/engine/sampling/policy-folders.ts";
import { smallModel } from "./small-model.ts";

const [how] = process.argv.slice(2);
if (how === "absent") {
  registerHooks({
    resolve(name, context, next) {
      if (name === "koffi") throw new Error("koffi is not installed");
      return next(name, context);
    },
  });
} else if (how !== "alone") {
  const koffi: typeof import("koffi") = createRequire(import.meta.url)("koffi");
  if (how === "small") koffi.config({ sync_stack_size: 65536, max_type_size: 64 });
  if (how !== "limited") koffi.load(null);
  else koffi.config({ async_stack_size: 65536, max_type_size: 64 });
}
const warnings: string[] = [];
process.on("warning", (warning) => warnings.push("code" in warning ? String(warning.code) : warning.name));

const config = { ...smallModel(64), head_dim: 16 };
const state = freshTrainerState({ config }, randomModelWeights(config, 1), 2);
const engine = createTrainingEngine({ config, state, gradientClip: 1, weightDecay: 0 });
const tokens = Array.from({ length: 20 }, (_, at) => (7 * at) % config.vocab_size);
const sequence = { tokens, mask: tokens.map((_, at) => Number(at > 5)) };
const samples = [{ sequences: [sequence], columns: { weights: new Float32Array(14).fill(1 / 14) } }];
const losses: number[] = [];
for (let count = 0; count < 3; count++) {
  const request = { objective: supervisedObjective, samples, scalars: {}, learningRate: 1e-2 };
  losses.push((await engine.update(request)).loss);
}
const path = await modelFolder(config, state.weights);
const sampler = createSampler({ config, slots: 2, stopTokens: [], threads: 2, decode: () => "" });
await sampler.load(0, path);
const sampling = { temperature: 0, maxTokens: 8 };
const key = { seed: 1, trajectory: "t", turn: 0 };
const sample = await sampler.generate({ tokens: [3, 1, 4], version: 0, sampling, key });
await sampler.close();
await engine.close();
console.log(JSON.stringify({ losses, tokens: sample.tokens, warnings }));
