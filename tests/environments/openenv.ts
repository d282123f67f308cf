import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../../src/contracts/json.ts";
import { serverVariable } from "../../src/control/servers/kept-process.ts";
import { serverKey, serverStart } from "../../src/control/servers/server-start.ts";
import { processesMarked, processesWith } from "../support/processes.ts";
import { call } from "./call.ts";
import { failingTasks, type Place, type Protocol } from "./protocol.ts";

/** Seconds until an unused server must be gone. */
const patience = 60;

/** Episodes of the environment in count_env.py, in a server of the published package that Everturn installs and starts. */
export function openenv({ folder }: Place): Protocol {
  const startOf = (isFailing: boolean): JsonObject => ({
    requirements: ["openenv==0.10.0"],
    command: ["uvicorn", "count_env:app", "--port", "{port}", "--log-level", "warning"],
    folder: import.meta.dirname,
    // The folder makes these servers this program's own.
    environment: { FAILING: isFailing ? failingTasks : "", PROGRAM: folder },
  });
  const keys = [false, true].map((isFailing) => serverKey(serverStart(startOf(isFailing), "/health")));
  const keepers = () => keys.flatMap((key) => [...processesWith(`keeper-main.ts ${key}`).keys()]);
  const servers = () => keys.flatMap((key) => processesMarked(serverVariable, key));
  return {
    plugin: "environment-openenv",
    conversations: [
      [call("step", { amount: 1 }), call("step", { amount: 2 }), "I stop."],
      [call("step", { amount: 1 }), call("step", { amount: 5 }), "I stop."],
    ],
    config: (isFailing) => ({ start: startOf(isFailing) }),
    kill() {
      for (const keeper of keepers()) process.kill(keeper, "SIGKILL"); // its server ends with it
    },
    async left() {
      const isLeft = () => keepers().length + servers().length;
      for (const end = Date.now() + patience * 1000; isLeft() > 0 && Date.now() < end; ) await sleep(500);
      return isLeft();
    },
  };
}
