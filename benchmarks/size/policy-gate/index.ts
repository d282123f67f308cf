import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { PolicyPlugin } from "everturn/engine";
import scripted from "../../../tests/plugins/policy-scripted/index.ts";

/** Says what it is told to, but in steps nothing before the file `gate` exists: so long all trajectories are under way. */
const plugin: PolicyPlugin = {
  initialize: scripted.initialize,
  open: async (folder, config) => {
    const policy = await scripted.open(folder, config);
    return {
      ...policy,
      generate: async (request) => {
        while (request.key.trajectory.startsWith("step-") && !existsSync(String(config.gate))) {
          await sleep(1000, undefined, request.signal ? { signal: request.signal } : {});
        }
        return policy.generate(request);
      },
    };
  },
};

export default plugin;
