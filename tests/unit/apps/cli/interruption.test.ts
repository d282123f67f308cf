import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";

const module = join(
  import.meta.dirname,
  "..",
  "..",
  "..",
  "..",
  "src",
  "apps",
  "cli",
  "terminal",
  "interruption.ts",
);

/** A command that takes for ever to end after it was asked to. */
async function hesitating() {
  const code = `import { interruption } from ${JSON.stringify(module)};
    const { signal, code } = interruption(() => console.log("farewell"));
    signal.addEventListener("abort", () => console.log("ending", code()));
    console.log("up");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (text: Buffer) => (said += text));
  await once(child.stdout, "data");
  return { child, ended: once(child, "close"), said: () => said.trim().split("\n") };
}

/** Waits until the command has said that it ends. */
async function untilEnding(said: () => string[]): Promise<void> {
  await vi.waitUntil(() => said().length > 1, { timeout: 60_000, interval: 20 });
}

test("signals within a second are one; one that comes later ends the command at once, with its farewell", async () => {
  const { child, ended, said } = await hesitating();
  child.kill("SIGINT");
  await untilEnding(said);
  await sleep(200);
  child.kill("SIGINT");
  await sleep(1000);
  expect(said()).toEqual(["up", "ending 130"]);
  child.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
  expect(said()).toEqual(["up", "ending 130", "farewell"]);
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s ends a command as Ctrl-C does", async (signal, code) => {
  const { child, said } = await hesitating();
  child.kill(signal);
  await untilEnding(said);
  await sleep(100);
  expect(said()).toEqual(["up", `ending ${code}`]);
});
