import {
  type ConfigurationProblem,
  configurationProblems,
  type JsonObject,
  keyProblems,
  type TrainerPlugin,
  type TrainerSurroundings,
} from "everturn/engine";
import { urlProblems } from "./connection.ts";
import { checkpointDeleter } from "./delete-checkpoints.ts";
import { downloadVersion } from "./download.ts";
import { answerNotes, answerProblems, lastAnswer, lookAtServer } from "./look-at-server.ts";
import { openServer } from "./open-server.ts";
import { openTrainer } from "./open-trainer.ts";
import { profiles } from "./profiles.ts";
import { readConfig, resolveTraining, type ServerTrainerConfig, trainingSettings } from "./settings.ts";
import { stepUsage } from "./usage.ts";

/**
 * Trains an adapter on a server that speaks Tinker's API, with policy-gradient algorithms, on examples and on pairs.
 * The losses are those of `trainer-onnx`: Everturn computes their gradients with respect to log-probabilities, and the
 * server does the rest. A preview: the tests run against small servers written from published behavior.
 */
const plugin: TrainerPlugin = {
  async open(folders, given, seed, loss) {
    const config = readConfig(given);
    const server = await openServer(config, seed);
    try {
      return await openTrainer({ server, folders, config, seed, loss });
    } catch (error) {
      await server.close();
      throw error;
    }
  },

  resolve: resolveTraining,

  async check(given, surroundings) {
    const config = readConfig(given);
    const problems = [
      ...serverProblems(config, given, surroundings),
      ...keyProblems(given),
      ...configurationProblems(given, trainingSettings(config), surroundings),
    ];
    return problems.length > 0 ? problems : answerProblems(config, await lookAtServer(config));
  },

  usage: (given, step) => stepUsage(readConfig(given), step),

  download: (policy, target, given) => downloadVersion(policy, target, readConfig(given)),

  checkpointDeleter: (given) => checkpointDeleter(readConfig(given)),

  async notes(given) {
    const config = readConfig(given);
    return answerNotes(config, await lastAnswer(config));
  },
};

export default plugin;

/** What the server can't do. */
function serverProblems(
  config: ServerTrainerConfig,
  given: JsonObject,
  { temperature = 1 }: TrainerSurroundings,
): ConfigurationProblem[] {
  const { title, refusal, clips, downloads, limits } = profiles[config.server];
  const { gradientClip, learningRate = 0, critic, criticModel, criticArchitecture } = config;
  const { entropyCoefficient = 0, weightDecay = 0 } = config;
  const problems: ConfigurationProblem[] = [];
  if (refusal !== undefined) {
    const help = "Use a server of docs/tinker.md.";
    problems.push({
      key: "server",
      reason: `is ${config.server}, on which no loss is exact: ${refusal}`,
      help,
    });
  }
  if (critic === "head") {
    const reason = "is head, but a head needs the hidden states of the policy, which servers do not return";
    problems.push({ key: "critic", reason, help: "Use model: a critic that trains here." });
  }
  if (criticModel !== undefined && criticArchitecture !== undefined) {
    const reason = "is there, but criticModel brings its own";
    problems.push({ key: "criticArchitecture", reason, help: "Remove one of the two." });
  }
  if (entropyCoefficient > 0) {
    const reason = `is ${entropyCoefficient}, but an entropy needs the whole distribution, and servers return the probabilities of single tokens`;
    const help = "Use sampledEntropyCoefficient, whose bonus is estimated from the sampled tokens.";
    problems.push({ key: "entropyCoefficient", reason, help });
  }
  problems.push(...urlProblems(config));
  if (config.downloadAdapter === true && downloads === undefined && refusal === undefined) {
    const reason = `is ${config.server}, which offers no adapters for download, but the policy reads weights from the folders of versions`;
    const help = "Use policy-tinker, or another server. docs/tinker.md lists those that offer downloads.";
    problems.push({ key: "server", reason, help });
  }
  if (temperature !== 1) {
    const reason = `is ${config.server}, which returns log-probabilities at temperature 1, but rollout.temperature is ${temperature}`;
    problems.push({ key: "server", reason, help: "Set rollout.temperature to 1." });
  }
  if (gradientClip !== undefined && !clips) {
    const reason = `is ${gradientClip}, but ${title} ignores it`;
    problems.push({ key: "gradientClip", reason, help: "Remove it, or use a server that clips gradients." });
  }
  for (const key of limits.rateOnly === true ? (["beta2", "weightDecay"] as const) : []) {
    if (given[key] === undefined) continue;
    const reason = `is ${given[key]}, but ${title} takes only the learning rate from a step`;
    problems.push({ key, reason, help: "Remove it, and set it in the server's own configuration." });
  }
  if (limits.decaysAll === true && weightDecay !== 0) {
    const reason = `is ${weightDecay}, but ${title} would shrink the adapters of all models, the reference's included`;
    problems.push({ key: "weightDecay", reason, help: "Remove it." });
  }
  if (limits.learningRate !== undefined && learningRate > limits.learningRate) {
    const reason = `is ${learningRate}, but ${title} accepts at most ${limits.learningRate}`;
    problems.push({ key: "learningRate", reason, help: "Lower it." });
  }
  return problems;
}
