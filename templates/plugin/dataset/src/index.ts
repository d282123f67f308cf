import { defineDataset } from "everturn/plugin";

export default defineDataset({
  load: () =>
    [1, 2, 3].map((km) => ({
      data_source: "plugin_name",
      prompt: [{ role: "user", content: `How many metres are ${km} km?` }],
      reward_model: { ground_truth: String(km * 1000) },
    })),
});
