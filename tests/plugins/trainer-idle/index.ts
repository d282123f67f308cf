import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TrainerPlugin } from "everturn/engine";
import { idleMetrics } from "../../support/idle-metrics.ts";

/** Learns nothing: each version is a copy of the one before. For tests and benchmarks of everything around training. */
const plugin: TrainerPlugin = {
  async open({ policy }) {
    return {
      supervisedStep: async () => ({ loss: 0, gradientNorm: 0, learningRate: 0 }),
      policyGradientStep: async () => idleMetrics,
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
