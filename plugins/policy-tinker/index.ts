import { profiles, urlProblems, usualAddress, writePointer } from "@everturn/trainer-tinker/shared";
import {
  type ConfigurationProblem,
  type JsonObject,
  keyProblems,
  type PolicyPlugin,
  templateSettings,
  textPolicy,
} from "everturn/engine";
import { openPolicy, type PolicyConfig } from "./open-policy.ts";

/**
 * Samples actions on a server that speaks Tinker's API. Everturn keeps the tokenizer and the chat template, the server
 * keeps the weights. Version 0 is the server's base model. Later versions are checkpoints that `trainer-tinker` saved.
 */
const plugin: PolicyPlugin = {
  async initialize(folder, given) {
    const { server, url, baseModel } = readConfig(given);
    await textPolicy.initialize(folder, given);
    await writePointer(folder, { server, url, baseModel });
  },

  framing: textPolicy.framing,

  check: (given) => [
    ...serverProblems(readConfig(given)),
    ...keyProblems({ ...usualAddress(given), ...given }),
  ],

  traits(given) {
    const { server } = readConfig(given);
    // Only SkyRL on JAX samples with the code that computes the gradients.
    return {
      pretrained: true,
      restrictions: server === "skyrl-jax" ? [] : [`server is ${server}`],
      temperatures: [0, 1],
      trainers: ["trainer-tinker"],
      metered: true,
    };
  },

  open: (folder, given) => openPolicy(folder, readConfig(given), templateSettings(given)),
};

export default plugin;

/** Reads a configuration that matches the manifest's schema. */
function readConfig(given: JsonObject): PolicyConfig {
  return { ...usualAddress(given), ...Object(given) };
}

function serverProblems(config: PolicyConfig): ConfigurationProblem[] {
  const { server } = config;
  const { refusal, samplingRefusal = refusal } = profiles[server];
  const missing = urlProblems(config);
  if (missing.length > 0 || samplingRefusal === undefined) return missing;
  const help = "Use another server of docs/tinker.md, or another policy.";
  return [
    { key: "server", reason: `is ${server}, whose actions can't be trained on: ${samplingRefusal}`, help },
  ];
}
