import { defined } from "../../base/records/defined.ts";
import { add, detached, exp, mul, negate, sub } from "../onnx/elementwise.ts";
import { createGraph, type FloatValue } from "../onnx/graph.ts";
import { reduceSum } from "../onnx/reductions.ts";
import { type ImportanceSettings, importanceWeightsOf } from "./importance-correction.ts";
import { bounded, type KlEstimator, klEstimates } from "./kl.ts";
import type { LossTensors } from "./loss-function.ts";
import {
  type Objective,
  type ObjectiveInput,
  type ObjectiveTerms,
  objectiveInputShapes,
  type PolicyOutputs,
  wanted,
} from "./objective.ts";
import {
  type ClipSettings,
  clippedLosses,
  clippedValueLosses,
  type PolicyLoss,
  probabilityRatios,
  type RatioLevel,
  type SampleReductions,
  sampleReductions,
} from "./policy-loss.ts";

/** The parts of a policy-gradient objective. */
export interface PolicyObjectiveSettings extends ClipSettings {
  ratio: RatioLevel;
  /** The value head's loss. Absent without one. */
  value?: { coefficient: number; clip: number };
  /** The estimator of the KL term, whose coefficient is the scalar input `klCoefficient`. Absent without a KL term. */
  kl?: KlEstimator;
  /** Weight of the entropy bonus; 0: no bonus. */
  entropyCoefficient: number;
  /** Weight of the entropy bonus that is estimated from the sampled tokens. Default: no bonus. */
  sampledEntropyCoefficient?: number;
  /** Replaces the clipped ratio. */
  loss?: (tokens: LossTensors) => FloatValue;
  /**
   * For the only update of a step, in which the old policy is also the updated one. Its own outputs are the old
   * log-probabilities, and the correction is computed from them and `drawnLogProbabilities`. The trajectories don't
   * have to be scored first.
   */
  onPolicy?: ImportanceSettings;
}

function kindOf(input: string): ObjectiveInput {
  if (input === "membership") return "membership";
  return input === "klCoefficient" ? "scalar" : "token";
}

/**
 * Returns the objective of policy-gradient steps: policy loss + value loss + KL − entropy. Each is a sum over action
 * tokens weighted by `weights` (the policy loss by `policyWeights`, which include the importance correction). Terms:
 * `policyLoss`, `approximateKl` (k3, from the sampling policy), `clipFraction`, and if used `valueLoss`, `kl` (k3, to
 * the reference) and `entropy`. All but the losses are means over tokens, weighted by `shares`.
 */
export function policyObjective(settings: PolicyObjectiveSettings): Objective {
  const read = readsOf(settings);
  const limits = { low: 1 - settings.clipLow, high: 1 + settings.clipHigh };
  return defined<Objective>({
    inputs: Object.fromEntries(read.inputs.map((name) => [name, kindOf(name)])),
    wants: { values: settings.value !== undefined, entropies: read.entropies },
    clipped: isClippedAlone(settings) ? limits : undefined,
    build: (now, then) => buildPolicyObjective(settings, now, then),
  });
}

/** Whether the objective is the clipped ratio of each token, and nothing else. */
export function isClippedAlone(settings: PolicyObjectiveSettings): boolean {
  const { ratio, dualClip, value, kl, entropyCoefficient, sampledEntropyCoefficient = 0 } = settings;
  const others = [dualClip, value, kl, settings.loss, settings.onPolicy];
  const isOnly = others.every((part) => part === undefined);
  return ratio === "token" && isOnly && entropyCoefficient === 0 && sampledEntropyCoefficient === 0;
}

/** Builds the objective once in a scratch graph to find its inputs. */
function readsOf(settings: PolicyObjectiveSettings): { inputs: string[]; entropies: boolean } {
  const graph = createGraph();
  const inputs = new Map<string, FloatValue>();
  const output = (name: string) => graph.input(`now/${name}`, "float32", objectiveInputShapes.token);
  const reads = { entropies: false };
  const entropies = output("entropies");
  const now = {
    logProbabilities: output("logProbabilities"),
    values: output("values"),
    get entropies() {
      reads.entropies = true;
      return entropies;
    },
  };
  buildPolicyObjective(settings, now, (name) => {
    const input = inputs.get(name) ?? graph.input(name, "float32", objectiveInputShapes[kindOf(name)]);
    inputs.set(name, input);
    return input;
  });
  return { inputs: [...inputs.keys()], ...reads };
}

function buildPolicyObjective(
  settings: PolicyObjectiveSettings,
  now: PolicyOutputs,
  then: (name: string) => FloatValue,
): ObjectiveTerms {
  const sum = (tokens: FloatValue, by: "weights" | "shares") => reduceSum(mul(tokens, then(by)));
  const logProbabilities = wanted(now.logProbabilities, "logProbabilities");
  const given = settings.onPolicy ? onItself(settings.onPolicy, logProbabilities, then) : then;
  const { losses, clipped } = policyLosses(settings, now, given);
  const policyLoss = reduceSum(mul(losses, given("policyWeights")));
  const logRatios = bounded(sub(logProbabilities, given("oldLogProbabilities")));
  const terms: Record<string, FloatValue> = {
    policyLoss,
    approximateKl: sum(klEstimates(logRatios, "k3"), "shares"),
  };
  if (clipped) terms.clipFraction = sum(clipped, "shares");
  let loss = policyLoss;
  if (settings.value) {
    const values = wanted(now.values, "values");
    const { coefficient, clip } = settings.value;
    terms.valueLoss = sum(clippedValueLosses(values, then("oldValues"), then("returns"), clip), "weights");
    loss = add(loss, mul(terms.valueLoss, coefficient));
  }
  if (settings.kl) {
    const away = bounded(sub(then("referenceLogProbabilities"), logProbabilities));
    terms.kl = sum(klEstimates(away, "k3"), "shares");
    loss = add(loss, mul(sum(klEstimates(away, settings.kl), "weights"), then("klCoefficient")));
  }
  if (settings.entropyCoefficient > 0) {
    const entropies = wanted(now.entropies, "entropies");
    terms.entropy = sum(entropies, "shares");
    loss = sub(loss, mul(sum(entropies, "weights"), settings.entropyCoefficient));
  }
  if (settings.sampledEntropyCoefficient !== undefined && settings.sampledEntropyCoefficient > 0) {
    // Of tokens that the old policy drew, the mean of r (−log π) ∇ log π is the entropy's gradient.
    const bonus = mul(exp(logRatios), negate(detached(logProbabilities)));
    const weighted = reduceSum(mul(bonus, given("policyWeights")));
    loss = sub(loss, mul(weighted, settings.sampledEntropyCoefficient));
  }
  return { loss, terms };
}

/** Returns the inputs of an objective whose old policy is the current one. */
function onItself(
  settings: ImportanceSettings,
  logProbabilities: FloatValue,
  then: (name: string) => FloatValue,
): (name: string) => FloatValue {
  const old = detached(logProbabilities);
  const weights = () => {
    const logRatios = sub(old, then("drawnLogProbabilities"));
    return mul(then("weights"), importanceWeightsOf(logRatios, settings, reductionsOf(then)));
  };
  return (name) => {
    if (name === "oldLogProbabilities") return old;
    return name === "policyWeights" ? weights() : then(name);
  };
}

/** Reads its inputs only when it is used. */
function reductionsOf(then: (name: string) => FloatValue): () => SampleReductions {
  return () => sampleReductions(then("membership"), then("sampleShares"));
}

function policyLosses(
  settings: PolicyObjectiveSettings,
  now: PolicyOutputs,
  then: (name: string) => FloatValue,
): Pick<PolicyLoss, "losses"> & Partial<PolicyLoss> {
  const logProbabilities = wanted(now.logProbabilities, "logProbabilities");
  const reductions = reductionsOf(then);
  if (settings.loss) {
    return {
      losses: settings.loss({
        logProbabilities,
        get oldLogProbabilities() {
          return then("oldLogProbabilities");
        },
        get referenceLogProbabilities() {
          return then("referenceLogProbabilities");
        },
        get advantages() {
          return then("advantages");
        },
        get entropies() {
          return wanted(now.entropies, "entropies");
        },
        sequenceSum: (tokens) => reductions().sum(tokens),
        sequenceMean: (tokens) => reductions().mean(tokens),
      }),
    };
  }
  const logRatios = sub(logProbabilities, then("oldLogProbabilities"));
  const ratios = probabilityRatios(logRatios, settings.ratio, reductions);
  return clippedLosses(ratios, then("advantages"), settings);
}
