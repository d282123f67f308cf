// Hatchery's own rules, written from the published sources of hatchery-core 0.3.0: worker.py and tinker_compat.py.
import { customLoss } from "../tinker-arithmetic.ts";
import type { ServedModel } from "./models.ts";
import { Refusal } from "./refusal.ts";
import type { PassRequest } from "./wire.ts";

/** The first half of a pass whose loss the caller computes. */
export function firstStep(model: ServedModel, id: string, request: PassRequest | undefined) {
  if (request === undefined) throw new Refusal(400, "data must not be empty");
  model.custom.set(id, request.pass);
  return { isCustom: true, logprobs: model.logprobs(request.pass), metrics: {} };
}

/** The second half: adds the gradient of Σ gradients · log-probabilities. */
export function secondStep(model: ServedModel, id: string, gradients: readonly number[][]) {
  const pass = model.custom.get(id);
  if (pass === undefined) throw new Refusal(400, `ValueError: no cached forward for custom_id='${id}'`);
  model.custom.delete(id);
  const surrogate = model
    .logprobs(pass)
    .flatMap((row, index) => row.map((value, at) => value * (gradients[index]?.[at] ?? 0)))
    .reduce((sum, value) => sum + value, 0);
  const data = pass.data.map((datum, index) => {
    const inputs = { ...datum.inputs, gradients: [...(gradients[index] ?? [])] };
    return { ...datum, inputs };
  });
  model.accumulate({ ...pass, loss: customLoss, data });
  return { surrogate, accum_steps: model.gradients.length, metrics: { surrogate } };
}

/** Refuses settings of AdamW that Hatchery refuses. */
export function checkAdam({ learning_rate, eps }: Record<string, number>): void {
  const problem = (name: string, rule: string) =>
    new Refusal(422, `body.adam_params.${name}: Input should be ${rule}`);
  if (!(learning_rate! > 0)) throw problem("learning_rate", "greater than 0");
  if (learning_rate! > 10) throw problem("learning_rate", "less than or equal to 10");
  if (eps! > 1) throw problem("eps", "less than or equal to 1");
}

/** What a worker that restarted finds of a model: the first save's state. Without a save, its calls fail. */
export function returnToFirstSaved(model: ServedModel): void {
  model.gradients = [];
  model.custom.clear();
  model.isLoaded = model.firstSaved !== undefined;
  model.history = model.firstSaved?.history ?? [];
  model.steps = model.firstSaved?.steps ?? 0;
}
