import { setTimeout as sleep } from "node:timers/promises";
import type { TrainerPlugin } from "everturn/engine";
import idle from "../../../tests/plugins/trainer-idle/index.ts";

/** A trainer that takes its time and learns nothing: each version is a copy of the one before. */
const plugin: TrainerPlugin = {
  async open(folders, config, ...rest) {
    const trainer = await idle.open(folders, config, ...rest);
    return {
      ...trainer,
      policyGradientStep: async (...given) => {
        await sleep(Number(config.seconds) * 1000);
        return trainer.policyGradientStep(...given);
      },
    };
  },
};

export default plugin;
