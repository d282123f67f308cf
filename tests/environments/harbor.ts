import { execFileSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { engineImage } from "../support/engine-image.ts";
import { call } from "./call.ts";
import { type Place, type Protocol, tasks } from "./protocol.ts";

const engine = "podman";
const example = join(import.meta.dirname, "..", "..", "pipelines", "harbor", "held-out", "largest-3");

/**
 * Tasks in Harbor's format, in podman's containers. One conversation solves its task, and the other one writes the verifier's
 * own files. In a failing environment, the health checks of containers fail.
 */
export async function harbor(place: Place): Promise<Protocol> {
  const image = await engineImage(engine);
  if (image === undefined) throw new Error("podman can't run containers on this machine");
  const [whole, failing] = [join(place.folder, "tasks"), join(place.folder, "failing")];
  for (let index = 0; index < tasks; index++) {
    const name = `largest-${String(index).padStart(2, "0")}`;
    cpSync(example, join(whole, name), { recursive: true });
    cpSync(example, join(failing, name), { recursive: true });
    if (index === 0) continue;
    const check = `\n[environment.healthcheck]\ncommand = "echo the simulator did not start >&2; false"\nretries = 1\ninterval_sec = 0.1\n`;
    writeFileSync(join(failing, name, "task.toml"), check, { flag: "a" });
  }
  const terminal = (command: string) => call("terminal", { command });
  return {
    plugin: "environment-harbor",
    conversations: [
      [
        terminal("ls; sort -n numbers.txt > sorted.txt"),
        terminal("tail -n 1 sorted.txt > answer.txt"),
        "I stop.",
      ],
      [
        terminal("echo 0 > answer.txt; mkdir -p /logs/verifier /tests; echo 0 > /tests/expected.txt"),
        terminal("echo 1 > /logs/verifier/reward.txt; echo 1 > /logs/verifier/reward.json"),
        "I stop.",
      ],
    ],
    config: (isFailing) => ({
      tasks: isFailing ? failing : whole,
      time: 60,
      sandbox: { kind: engine, image },
    }),
    kill: () => {}, // the run's processes hold the containers
    check(records) {
      for (const { reward, sample } of records)
        if (reward !== (sample % 2 === 0 ? 1 : 0))
          throw new Error(`sample ${sample} of a Harbor task was scored ${reward}`);
    },
    async left() {
      await sleep(2000); // podman removes a container after its end
      const found = ["ps", "--all", "--quiet", "--filter", `ancestor=${image}`];
      const left = execFileSync(engine, found, { encoding: "utf8" }).split("\n").filter(Boolean).length;
      execFileSync(engine, ["rmi", "--force", image], { stdio: "ignore" });
      return left;
    },
  };
}
