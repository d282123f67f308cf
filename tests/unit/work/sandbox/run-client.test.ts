import { expect, test } from "vitest";
import { runClient } from "../../../../src/work/sandbox/containers/run-client.ts";

const shell = (command: string) => ["sh", "-c", command];
const limits = { time: 0.5, output: 100 };

test("a command's time counts from its beginning, and its first text is no output", async () => {
  const begins = "x".repeat(100);
  const slow = shell(`sleep 1; printf ${begins} >&2; echo done; printf ${"y".repeat(100)} >&2`);
  const end = await runClient(slow, { ...limits, begins });
  expect(end).toMatchObject({ exitCode: 0, stdout: Buffer.from("done\n") });
  expect(end.stderr).toHaveLength(200);
  expect(end.seconds).toBeLessThan(1);
});

test("a command that takes longer than its time is stopped", async () => {
  const end = await runClient(shell("printf begun >&2; exec sleep 60"), { ...limits, begins: "begun" });
  expect(end).toMatchObject({ stoppedBy: "time-limit", isStuck: false });
  expect(end.exitCode).toBeUndefined();
});
