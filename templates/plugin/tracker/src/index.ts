import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { defineTracker } from "everturn/plugin";

/** A line of JSON for each step and evaluation, in the run's folder. */
export default defineTracker({
  capabilities: { files: true },
  open(_config, { folder }) {
    const file = join(folder, "plugin_name.jsonl");
    return {
      log: ({ step, values }) => appendFileSync(file, `${JSON.stringify({ step, ...values })}\n`),
      close() {},
    };
  },
});
