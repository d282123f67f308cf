import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/contracts/json.ts";
import { agentRun } from "./agent-run.ts";
import { counting } from "./call.ts";
import { type Place, type Protocol, tasks } from "./protocol.ts";
import { nemoGym as published, serverByAddress } from "./published-servers.ts";

/** Sessions of the resources server in counter_server.py. */
export async function nemoGym(place: Place): Promise<Protocol> {
  const server = await serverByAddress(published, place, join(place.folder, "server.log"));
  const rows = join(place.folder, "rows.jsonl");
  const all = Array.from({ length: tasks }, (_, index) => rowOf(3 + index));
  writeFileSync(rows, all.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return {
    plugin: "environment-nemo-gym",
    conversations: counting("add"),
    config: () => ({ url: server.url, rows }),
    serve: (isFailing) => server.start(isFailing),
    kill: () => server.kill(),
    check: () => agentRun(join(place.folder, "agent"), server.python, all.slice(0, 2)),
    left() {
      server.kill();
      return 0;
    },
  };
}

function rowOf(target: number): JsonObject {
  const properties = { amount: { type: "integer" } };
  const parameters = { type: "object", properties, required: ["amount"], additionalProperties: false };
  const add = { type: "function", name: "add", description: "Add to the total.", parameters, strict: true };
  const input = [{ role: "user", content: `Reach ${target}.` }];
  return { responses_create_params: { input, tools: [add] }, start: 0, target };
}
