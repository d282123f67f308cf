import { type EnvironmentPlugin, isObject } from "everturn/plugin";
import { addressOf } from "./address.ts";
import { connect } from "./env-server.ts";
import { verdictName } from "./episode.ts";
import { readTasks } from "./tasks.ts";

/** Milliseconds for the answer to a probe. */
const probeLimit = 5000;

/** Tasks and episodes of an environment server of verifiers. agent.ts runs the episodes. */
const verifiers: EnvironmentPlugin = {
  async load(config) {
    if (config.start !== undefined) await addressOf(config); // installs and starts it before the first episode
    const { tasks, limit } = config;
    return readTasks(String(tasks), typeof limit === "number" ? limit : undefined);
  },

  check({ address, start }) {
    if ((address === undefined) !== (start === undefined)) return [];
    const reason = address === undefined ? "is missing, and so is “start”" : "and “start” are both set";
    return [{ key: "address", reason, help: "Name a server's address, or start one." }];
  },

  async probe(config) {
    const server = connect(await addressOf(config));
    try {
      await server.health(probeLimit);
    } finally {
      server.close();
    }
  },

  score({ outcome, config, recorded = [] }) {
    const verdict = recorded.find(({ name }) => name === verdictName)?.result;
    if (isObject(verdict)) {
      const reward = Number(verdict.reward);
      const metrics = Object.entries(isObject(verdict.metrics) ? verdict.metrics : {});
      return {
        reward,
        success: reward >= Number(config.success),
        metrics: Object.fromEntries(metrics.map(([name, value]) => [name, Number(value)])),
      };
    }
    if (outcome === "turn-limit" || outcome === "token-limit") return { reward: 0, success: false };
    return { missing: "the episode ended without a verdict" };
  },
};

export default verifiers;
