import type { JsonObject } from "../../contracts/json.ts";
import type { PolicyPlugin, PolicyTraits } from "../../contracts/policy.ts";
import { modelPolicy, templateSettings } from "../models/policy/model-policy.ts";
import { keyProblems } from "./key-problems.ts";
import { openServerPolicy } from "./open-server-policy.ts";
import type { EngineProtocol } from "./server-protocol.ts";

/**
 * Returns the default export of a plugin whose policy generates on inference servers. Its configuration contains `urls`
 * and the settings of the model.
 */
export function enginePolicy(protocol: EngineProtocol): PolicyPlugin {
  return {
    ...modelPolicy,
    check: (config) => [...keyProblems(config), ...modelPolicy.check(config)],
    traits: (config) => ({
      ...textTraits(config),
      restrictions: [`urls are ${protocol.name}'s`],
      temperatures: [0, 1],
    }),
    open: (folder, config) =>
      openServerPolicy(folder, { protocol, ...whereOf(config), template: templateSettings(config) }),
  };
}

/** Servers are sent text alone (decision 0135). */
function textTraits(config: JsonObject): PolicyTraits {
  const { readsImages: _, ...traits } = modelPolicy.traits(config);
  return traits;
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
