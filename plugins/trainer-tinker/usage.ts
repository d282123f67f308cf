import { type ServerUsage, type StepSize, stepPasses, type TokenPrices } from "everturn/engine";
import { profiles } from "./profiles.ts";
import { type ServerTrainerConfig, trainingSettings } from "./settings.ts";

/** Passes over some sequences, which add up. */
interface Passes {
  requests: number;
  tokens: number;
}

/**
 * Returns the requests and tokens of a step, if all of its sequences have the given length. Without the opening of the
 * trainer, whose probe takes about 40 requests on a few tokens.
 */
export function stepUsage(
  config: ServerTrainerConfig,
  { of, count, tokens, updates, heldOut, hasLossPlugin }: StepSize,
): ServerUsage & { prices: TokenPrices | undefined } {
  const { callTokens, server, prices } = config;
  const length = Math.max(1, tokens - 1); // the last token is only predicted
  const perCall = Math.max(1, Math.floor(callTokens / length));
  const passes = (sequences: number): Passes => ({
    requests: Math.ceil(sequences / perCall),
    tokens: sequences * length,
  });
  const rows = of === "pairs" ? 2 * count : count;
  const {
    policyScores,
    referenceScores,
    isClipped,
    updates: sizes,
  } = of === "trajectories"
    ? stepPasses(trainingSettings(config), count)
    : {
        policyScores: false,
        referenceScores: of === "pairs",
        isClipped: false,
        updates: Array<number>(updates).fill(rows),
      };
  const { way, clippedLoss } = profiles[server];
  const updated = sizes.map(passes);
  // The server's own loss needs no scores before it.
  const scored = isClipped && !hasLossPlugin && clippedLoss !== undefined ? [] : updated;
  const before = passes(of === "pairs" ? rows * updates : rows);
  const scores = [
    ...(policyScores ? [before] : []),
    ...(referenceScores ? [before] : []),
    ...scored,
    passes(of === "pairs" ? 2 * heldOut : heldOut),
  ];
  const isTwice = way === "custom-steps";
  const sum = (all: readonly Passes[], unit: keyof Passes) =>
    all.reduce((total, one) => total + one[unit], 0);
  const optimizerSteps = sizes.length;
  const saves = config.downloadAdapter === true ? 5 : 1; // a download creates a model, loads, saves and releases it
  return {
    requests: sum(scores, "requests") + (isTwice ? 2 : 1) * sum(updated, "requests") + optimizerSteps + saves,
    prefill: sum(scores, "tokens") + (isTwice ? sum(updated, "tokens") : 0),
    train: sum(updated, "tokens"),
    prices,
  };
}
