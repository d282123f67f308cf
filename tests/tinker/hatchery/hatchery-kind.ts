import type { ServerKind } from "../server-kind.ts";
import { key, startHatchery } from "./hatchery.ts";
import { jobChain, savedCheckpoints } from "./job-chain.ts";
import { readCheckpoint } from "./stored-state.ts";

/** Hatchery's published server, with its own bfloat16. */
export const hatchery: ServerKind = {
  name: "hatchery-core 0.3.0",
  settings: ["trainer.config.server=hatchery", `trainer.config.apiKeyVariable=${key.variable}`],
  isSeeded: false,
  async start(place) {
    process.env[key.variable] = key.value; // for the commands that train
    const server = await startHatchery(place);
    return {
      url: server.url,
      chainOf: (path) => jobChain(server.queue, path),
      adapterOf: (path, folder) => readCheckpoint(server, path, folder),
      saves: () => savedCheckpoints(server.queue),
      isSampling: () => false, // its actions are refused
      stop: server.stop,
    };
  },
};
