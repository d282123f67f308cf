import { defineDataset } from "everturn/plugin";

/** As many tasks as the configuration says. */
export default defineDataset({
  config: {
    type: "object",
    additionalProperties: false,
    required: ["tasks"],
    properties: { tasks: { type: "integer", minimum: 1 } },
  },
  load: ({ tasks }) =>
    Array.from({ length: tasks }, (_, index) => ({
      data_source: "lengths",
      prompt: [{ role: "user" as const, content: `${index + 1} km in m` }],
      reward_model: { ground_truth: String((index + 1) * 1000) },
    })),
});
