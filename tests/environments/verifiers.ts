import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { counting } from "./call.ts";
import { type Place, type Protocol, tasks } from "./protocol.ts";
import { verifiers as published, serverByAddress } from "./published-servers.ts";

/** Episodes of the environment server in verifiers_server.py, whose harness asks the policy. */
export async function verifiers(place: Place): Promise<Protocol> {
  const server = await serverByAddress(published, place, join(place.folder, "server.log"));
  const rows = join(place.folder, "tasks.jsonl");
  const all = Array.from({ length: tasks }, (_, idx) => ({
    idx,
    prompt: `Reach ${3 + idx}.`,
    target: 3 + idx,
  }));
  writeFileSync(rows, all.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return {
    plugin: "environment-verifiers",
    conversations: counting("add"),
    drivesAgent: true,
    config: () => ({ address: server.url.replace("http:", "tcp:"), tasks: rows }),
    serve: (isFailing) => server.start(isFailing),
    kill: () => server.kill(),
    check(records) {
      const rewards = new Set(records.map(({ reward }) => reward));
      if (!rewards.has(1) || !rewards.has(0))
        throw new Error(`the rewards are ${[...rewards]}: they should be 0 and 1`);
    },
    left() {
      server.kill();
      return 0;
    },
  };
}
