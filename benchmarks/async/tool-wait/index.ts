import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ToolPlugin } from "everturn/plugin";

/** Takes a time drawn from a log-normal distribution: the same for the same call of any run. */
const plugin: ToolPlugin = {
  execute: async (_, { key, config }) => {
    const call = key.split("/").slice(1).join("/"); // without the run's id
    if (call.startsWith("step-")) {
      await sleep(Number(config.median) * Math.exp(Number(config.sigma) * normal(call)) * 1000);
    }
    return { text: "done" };
  },
};

export default plugin;

/** A standard normal number for a name (Box–Muller). */
function normal(name: string): number {
  const hash = createHash("sha256").update(name).digest();
  const uniform = (at: number) => (hash.readUInt32LE(at) + 0.5) / 2 ** 32;
  return Math.sqrt(-2 * Math.log(uniform(0))) * Math.cos(2 * Math.PI * uniform(4));
}
