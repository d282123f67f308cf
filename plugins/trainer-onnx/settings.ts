import { algorithmPresets, type JsonObject, type LoraSettings, type TrainingSettings } from "everturn/engine";

type Preset = (typeof algorithmPresets)[keyof typeof algorithmPresets];

/** The settings of a configuration that the schema of everturn.plugin.json has checked and filled: the algorithm's, but for what it says. */
export function trainingSettings(config: JsonObject): TrainingSettings {
  const preset = presetOf(config.algorithm);
  return { ...algorithmOf(config, preset), ...optimizationOf(config) };
}

/** The adapter that a configuration asks for; the schema has filled it. */
export function loraSettings(lora: JsonObject[string]): LoraSettings {
  const { rank, alpha, targets } = Object(lora);
  return { rank: Number(rank), alpha: Number(alpha), targets: Array.from(targets, String) };
}

function presetOf(algorithm: unknown): Preset {
  const found = Object.entries(algorithmPresets).find(([name]) => name === algorithm);
  return found?.[1] ?? algorithmPresets.ppo;
}

function optimizationOf(config: JsonObject) {
  const number = (name: string, fallback = Number.NaN) => numberOf(config, name) ?? fallback;
  const [klStop, valueLearningRate] = ["klStop", "valueLearningRate"].map((name) => numberOf(config, name));
  return {
    learningRate: number("learningRate"),
    warmupSteps: number("warmupSteps"),
    decay: choiceOf(config, "decay", ["none", "linear", "cosine"], "none"),
    decaySteps: number("decaySteps", 1),
    finalFraction: number("finalFraction"),
    epochs: number("epochs"),
    ...(klStop !== undefined && { klStop }),
    ...(valueLearningRate !== undefined && { valueLearningRate }),
    valueWarmupSteps: number("valueWarmupSteps", 0),
    maskTruncated: config.maskTruncated === true,
    minibatchSize: number("minibatchSize"),
    gradientClip: number("gradientClip"),
    weightDecay: number("weightDecay"),
    betas: [0.9, number("beta2")] as const,
  };
}

function algorithmOf(config: JsonObject, preset: Preset): Preset {
  const number = (name: keyof Preset & string, fallback: number) => numberOf(config, name) ?? fallback;
  const [dualClip, klTarget, overlongMaximum] = ["dualClip", "klTarget", "overlongMaximum"].map((name) =>
    numberOf(config, name),
  );
  return {
    advantages: choiceOf(
      config,
      "advantages",
      ["gae", "group-mean", "leave-one-out", "return"],
      preset.advantages,
    ),
    normalization: choiceOf(config, "normalization", ["none", "group", "batch"], preset.normalization),
    credit: choiceOf(config, "credit", ["token", "turn", "trajectory"], preset.credit),
    gamma: number("gamma", preset.gamma),
    lambda: number("lambda", preset.lambda),
    discount: choiceOf(config, "discount", ["token", "turn"], preset.discount),
    ratio: choiceOf(config, "ratio", ["token", "sequence", "trajectory"], preset.ratio),
    clipLow: number("clipLow", preset.clipLow),
    clipHigh: number("clipHigh", preset.clipHigh),
    ...(dualClip !== undefined && { dualClip }),
    aggregation: choiceOf(
      config,
      "aggregation",
      ["token-mean", "sequence-mean", "sequence-sum", "constant"],
      preset.aggregation,
    ),
    lengthConstant: number("lengthConstant", preset.lengthConstant),
    valueClip: number("valueClip", preset.valueClip),
    valueCoefficient: number("valueCoefficient", preset.valueCoefficient),
    entropyCoefficient: number("entropyCoefficient", preset.entropyCoefficient),
    klCoefficient: number("klCoefficient", preset.klCoefficient),
    klIn: choiceOf(config, "klIn", ["loss", "reward"], preset.klIn),
    klEstimator: choiceOf(config, "klEstimator", ["k1", "k2", "k3"], preset.klEstimator),
    ...(klTarget !== undefined && { klTarget }),
    klHorizon: number("klHorizon", preset.klHorizon),
    importanceCorrection: choiceOf(
      config,
      "importanceCorrection",
      ["none", "token-truncate", "token-mask", "sequence-truncate", "sequence-mask"],
      preset.importanceCorrection,
    ),
    importanceMinimum: number("importanceMinimum", preset.importanceMinimum),
    importanceMaximum: number("importanceMaximum", preset.importanceMaximum),
    ...(overlongMaximum !== undefined && { overlongMaximum }),
    overlongBuffer: number("overlongBuffer", preset.overlongBuffer),
    overlongPenalty: number("overlongPenalty", preset.overlongPenalty),
    leaveOutUniformGroups:
      typeof config.leaveOutUniformGroups === "boolean"
        ? config.leaveOutUniformGroups
        : preset.leaveOutUniformGroups,
  };
}

function numberOf(config: JsonObject, name: string): number | undefined {
  const value = config[name];
  return typeof value === "number" ? value : undefined;
}

function choiceOf<Choice extends string>(
  config: JsonObject,
  name: string,
  choices: readonly Choice[],
  fallback: Choice,
): Choice {
  return choices.find((choice) => choice === config[name]) ?? fallback;
}
