import { join } from "node:path";
import { call } from "./call.ts";
import type { Place, Protocol } from "./protocol.ts";
import { openenv as published, serverByAddress } from "./published-servers.ts";

/** Episodes of the environment in count_env.py, which a server of the published package runs. */
export async function openenv(place: Place): Promise<Protocol> {
  const server = await serverByAddress(published, place, join(place.folder, "server.log"));
  return {
    plugin: "environment-openenv",
    conversations: [
      [call("step", { amount: 1 }), call("step", { amount: 2 }), "I stop."],
      [call("step", { amount: 1 }), call("step", { amount: 5 }), "I stop."],
    ],
    config: () => ({ url: server.url }),
    serve: (isFailing) => server.start(isFailing),
    kill: () => server.kill(),
    left: () => 0,
  };
}
