import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TrainerPlugin } from "everturn/engine";

/** A trainer that takes its time and learns nothing: each version is a copy of the one before. */
const plugin: TrainerPlugin = {
  async open({ policy }, { seconds }) {
    return {
      supervisedStep: async () => ({ loss: 0, gradientNorm: 0, learningRate: 0 }),
      policyGradientStep: async () => {
        await sleep(Number(seconds) * 1000);
        return {
          approximateKl: 0,
          entropy: 0,
          clipFraction: 0,
          policyLoss: 0,
          gradientNorm: 0,
          learningRate: 0,
          logprobGap: 0,
        };
      },
      save: async (policyFolder, stateFolder) => {
        await cp(policy, policyFolder, { recursive: true });
        await mkdir(stateFolder, { recursive: true });
        await writeFile(join(stateFolder, "state.json"), "{}");
      },
      close: async () => {},
    };
  },
};

export default plugin;
