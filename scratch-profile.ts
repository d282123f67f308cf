import { configs } from "./benchmarks/shapes.ts";
import { batchFeeds, batchSequences } from "./src/learning/batch.ts";
import { adapterShapes } from "./src/learning/lora.ts";
import { objectiveFeeds } from "./src/learning/objective.ts";
import { policyObjective } from "./src/learning/policy-objective.ts";
import { freshTrainerState, parametersOf } from "./src/learning/trainer-state.ts";
import { trainingModel } from "./src/learning/training-graphs.ts";
import { randomModelWeights } from "./src/models/model-weights.ts";
import { profileRun } from "./src/onnx/profile-run.ts";
const [shape = "smol-135m", mode = "lora", rows = "8", length = "128"] = process.argv.slice(2);
const config = configs[shape as "smol-135m"];
const lora = { rank: 16, alpha: 32, targets: ["q_proj", "k_proj", "v_proj", "o_proj"] };
const model = mode === "lora" ? { config, lora } : { config };
const weights = randomModelWeights(config, 1);
const state = freshTrainerState(model as never, weights as never, 2);
const n = Number(length);
const sequences = Array.from({ length: Number(rows) }, (_, r) => {
  const tokens = Array.from({ length: n }, (_, i) => (i * 7919 + r * 104729 + 13) % config.vocab_size);
  const mask = tokens.map((_, i) => (i > n * 0.6 ? 1 : 0));
  return { tokens, mask };
});
const objective = policyObjective({ ratio: "token", clipLow: 0.2, clipHigh: 0.2, entropyCoefficient: 0 } as never);
const samples = sequences.map((s) => {
  const c = s.mask.filter((m) => m === 1).length;
  const columns = Object.fromEntries(Object.entries(objective.inputs).filter(([, k]) => k === "token").map(([name]) => [name, new Float32Array(c).fill(name.includes("rob") ? -8 : 0.01)]));
  return { sequences: [s], columns };
});
const training = trainingModel(model as never, objective, { device: "cpu", precision: "float32" });
const batch = batchSequences(sequences as never, config, 1);
const feeds = { ...Object.fromEntries(parametersOf(state)), ...batchFeeds(batch as never, 1), ...objectiveFeeds(objective, samples as never, { klCoefficient: 0 }) };
const wanted = Object.fromEntries(Object.entries(feeds).filter(([k]) => training.reads.includes(k) || !k.startsWith("model.") ));
for (let i = 0; i < 2; i++) {
  const runs = await profileRun(training.bytes, feeds as never, "cpu").catch(async (e) => { console.error(String(e).slice(0, 300)); return profileRun(training.bytes, wanted as never, "cpu"); });
  if (i === 0) continue;
  const by = new Map<string, [number, number]>();
  let total = 0;
  for (const { op, microseconds } of runs) { const b = by.get(op) ?? [0, 0]; b[0] += microseconds; b[1]++; by.set(op, b); total += microseconds; }
  console.log("total ms", total / 1000);
  for (const [op, [us, c]] of [...by].sort((a, b) => b[1][0] - a[1][0]).slice(0, 25)) console.log((us / 1000).toFixed(1).padStart(8), String(c).padStart(5), `${((100 * us) / total).toFixed(1)}%`, op);
  const names = [...runs].sort((a, b) => b.microseconds - a.microseconds).slice(0, 25);
  for (const { name, op, microseconds } of names) console.log("  ", (microseconds / 1000).toFixed(1), op, name);
}
