import { test } from "vitest";
import { interruptedRun, untilSaid } from "../support/interrupted-run.ts";

const { pipeline, everturn, expectQuietEnd } = interruptedRun();

test("Ctrl-C ends a run quietly and leaves no process", async () => {
  const command = everturn("run", pipeline);
  await untilSaid(command, "reinforcement learning");
  command.signalGroup("SIGINT");
  await expectQuietEnd(command, 130);
});
