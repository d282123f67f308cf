import type { EnvironmentPlugin, JsonObject } from "everturn/plugin";

interface Episode {
  count: number;
  target: number;
}

/** An environment in memory: the policy adds numbers until it reaches the task's target. */
const counter: EnvironmentPlugin<Episode> = {
  load: ({ targets }) => {
    const all = Array.isArray(targets) ? targets : [];
    return all.map((target) => ({
      data_source: "counter",
      prompt: [{ role: "user" as const, content: "Reach the target." }],
      reward_model: { ground_truth: String(target) },
    }));
  },
  functions: () => ({
    reset: { description: "Starts an episode.", parameters: plain({}), forLoops: true },
    add: {
      description: "Adds a number.",
      parameters: plain({ number: { type: "integer" } }),
    },
  }),
  create: ({ task }) => ({ count: 0, target: Number(task.reward_model.ground_truth) }),
  execute(given, { function: name }, episode) {
    if (name === "add") episode.count += Number(given.number);
    return {
      text: `The count is ${episode.count} of ${episode.target}.`,
      done: episode.count === episode.target,
    };
  },
  release: () => {},
  snapshot: (episode) => Buffer.from(JSON.stringify(episode)),
  restore: (snapshot) => JSON.parse(Buffer.from(snapshot).toString()),
  score({ snapshots = {} }) {
    const last = snapshots.counter;
    if (last === undefined) return { reward: 0, success: false };
    const { count, target }: Episode = JSON.parse(Buffer.from(last).toString());
    return { reward: count === target ? 1 : 0, success: count === target };
  },
};

export default counter;

function plain(properties: JsonObject): JsonObject {
  return { type: "object", additionalProperties: false, properties, required: Object.keys(properties) };
}
