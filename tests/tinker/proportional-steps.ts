import { wayTo } from "./way.ts";

/** A way to a server on which a trainer's optimizer steps become proportional to the gradient. */
export interface ProportionalSteps {
  url: string;
  /** What the gradient is multiplied by in the steps that follow. */
  factor: number;
  close(): Promise<void>;
}

/** Far above any gradient, so that Adam's step is learning rate / epsilon times the gradient. */
const epsilon = 1e9;

/** The epsilon of `trainer-tinker`'s own steps. Its probe has others. */
const usualEpsilon = 1e-8;

/**
 * Forwards all requests to a server. Usual Adam steps hide the scale of a gradient, so it replaces the numbers of those of
 * `trainer-tinker`, and nothing else.
 */
export async function startProportionalSteps(target: string): Promise<ProportionalSteps> {
  const way = await wayTo(target);
  const steps: ProportionalSteps = { url: way.url, factor: 0, close: way.close };
  way.before = (path, body) => (path === "optim_step" ? proportional(body, steps.factor) : body);
  return steps;
}

function proportional(body: Buffer, factor: number): Buffer {
  const step = JSON.parse(body.toString());
  if (step.adam_params.eps !== usualEpsilon) return body;
  const numbers = { learning_rate: factor * epsilon, beta1: 0, beta2: 0, eps: epsilon };
  return Buffer.from(JSON.stringify({ ...step, adam_params: { ...step.adam_params, ...numbers } }));
}
