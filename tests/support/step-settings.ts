import type { RunSettings } from "../../src/contracts/run-settings.ts";

/** The settings of a run of one step, of a group of two trajectories without tools, whose calls are not retried. */
export const stepSettings: RunSettings = {
  seed: 1,
  steps: 1,
  warmStartSteps: 0,
  batchSize: 2,
  groupSize: 2,
  concurrency: 4,
  staleness: 0,
  minGroup: 1,
  maxInfrastructureFailures: 1,
  sampling: { temperature: 1, maxTokens: 8 },
  limits: {},
  tools: [],
  evaluationEvery: 0,
  evaluationTasks: 1,
  loop: { plugin: "loop-tool-agent", config: {} },
  reward: {
    retry: { maximumAttempts: 1, initialInterval: 1, backoffCoefficient: 1, maximumInterval: 1 },
    pure: true,
  },
};
