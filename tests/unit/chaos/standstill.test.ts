import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { failOnStandstill } from "../../chaos/standstill.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const log = join(temporaryFolder(), "cli.log");
writeFileSync(log, "step 1\nwaiting for train-step (trainer) of step-0001: running for 5 min\n");

test("a chaos run without a record for too long fails, and the error says what stood still", async () => {
  const { signal } = new AbortController();
  const watching = failOnStandstill({ what: "The run r", reached: () => 7, log, ended: signal, limit: 1000 });
  await expect(watching).rejects.toThrow(
    "The run r stands still: no progress for 1 s after 7 records and strikes. The command said last:\n  step 1\n  waiting for train-step",
  );
});

test("a chaos run that gets further is left alone until it ends", async () => {
  const ended = new AbortController();
  const began = Date.now();
  const reached = () => Math.floor((Date.now() - began) / 100);
  const watching = failOnStandstill({ what: "The run r", reached, log, ended: ended.signal, limit: 500 });
  await sleep(1200);
  ended.abort();
  await watching;
});
