import { TinkerClient } from "@everturn/tinker";
import { downloadAdapter, lora } from "./adapters.ts";
import type { ServerKind } from "./server-kind.ts";
import { startSkyrl } from "./skyrl.ts";
import { isSampling, savedCheckpoints, stepChain } from "./step-chain.ts";

/** SkyRL's published server on JAX. */
export const skyrl: ServerKind = {
  name: "skyrl 0.4.0",
  settings: [],
  isSeeded: true,
  async start({ isSampled, ...place }) {
    const backend = isSampled ? { sample_max_num_sequences: 8, train_micro_batch_size: 4 } : {};
    const { url, database, stop } = await startSkyrl({ ...place, backend });
    return {
      url,
      chainOf: (path) => stepChain(database, path),
      async adapterOf(path, folder) {
        const client = new TinkerClient({ baseUrl: url, apiKey: "tml-local", deduplicates: true });
        const session = await client.createSession();
        try {
          const model = await session.createModel({
            baseModel: place.model,
            lora: { rank: lora.rank, seed: 1 },
          });
          await model.loadWeights(path, { optimizer: false });
          const matrices = await downloadAdapter(client, model, folder);
          await model.unload();
          return matrices;
        } finally {
          session.close();
        }
      },
      saves: () => savedCheckpoints(database),
      isSampling: () => isSampling(database),
      stop,
    };
  },
};
