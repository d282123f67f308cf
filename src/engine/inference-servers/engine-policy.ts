import type { JsonObject } from "../../contracts/json.ts";
import type { PolicyPlugin } from "../../contracts/policy.ts";
import { modelPolicy, templateSettings } from "../models/policy/model-policy.ts";
import type { EngineProtocol } from "./engine-protocol.ts";
import { keyProblems } from "./key-problems.ts";
import { openEngine } from "./open-engine.ts";

/** The default export of a plugin for a policy whose actions an engine writes. Its configuration: urls, and the model's. */
export function enginePolicy(protocol: EngineProtocol): PolicyPlugin {
  return {
    ...modelPolicy,
    check: (config) => [...keyProblems(config), ...modelPolicy.check(config)],
    traits: (config) => ({
      ...modelPolicy.traits(config),
      restrictions: [`urls are ${protocol.name}'s`],
      temperatures: [0, 1],
    }),
    open: (folder, config) =>
      openEngine(folder, { protocol, ...whereOf(config), template: templateSettings(config) }),
  };
}

function whereOf({ urls, apiKeyVariable, patience, healthEvery }: JsonObject) {
  const milliseconds = (seconds: unknown) => (seconds === undefined ? undefined : Number(seconds) * 1000);
  return {
    urls: Object.values(urls ?? []).map(String),
    key: apiKeyVariable === undefined ? undefined : process.env[String(apiKeyVariable)],
    patience: milliseconds(patience),
    healthEvery: milliseconds(healthEvery),
  };
}
