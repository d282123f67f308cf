import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { claimInStore } from "../../../../src/control/supervision/store-claim.ts";
import { runFolder } from "../../../../src/run/folder/run-folder.ts";
import { openFolderStore } from "../../../../src/run/store/open-run-store.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const usual = { silence: 800 };

/** Machines that share a store and nothing else. */
function machines() {
  const store = openFolderStore(temporaryFolder());
  return () => {
    const folder = runFolder(temporaryFolder(), "run");
    mkdirSync(folder.root);
    writeFileSync(folder.database, "histories");
    const identity = randomUUID();
    const claim = (options: { silence: number; note?: (text: string) => void } = usual) =>
      claimInStore("run", store, { folder, identity }, options);
    return { folder, claim };
  };
}

test("one machine holds a run, and another may hold it once it was released", async () => {
  const machine = machines();
  const [first, second] = [machine(), machine()];
  const held = await first.claim();
  await expect(second.claim()).rejects.toMatchObject({ code: "RUN_HELD_ELSEWHERE" });
  await held.release();
  const notes: string[] = [];
  const later = await second.claim({ silence: 60_000, note: (text) => notes.push(text) });
  expect(notes, "it does not wait").toEqual([expect.stringContaining("empty database")]);
  await later.release();
});

test("a machine that gives no sign of life loses the run, and ends when it does", async () => {
  const machine = machines();
  const [first, second] = [machine(), machine()];
  const stopped = await first.claim({ silence: 20_000 }); // its first sign is due in five seconds
  const held = await second.claim({ silence: 400 });
  await expect(stopped.taken).rejects.toMatchObject({ code: "RUN_TAKEN_OVER" });
  await stopped.release();
  await expect(first.claim(), "the release of a lost run releases nothing").rejects.toMatchObject({
    code: "RUN_HELD_ELSEWHERE",
  });
  await held.release();
});

test("a machine that was stopped while it waited for a sign of life keeps waiting", async () => {
  const machine = machines();
  const [first, second] = [machine(), machine()];
  const held = await first.claim({ silence: 400 });
  const claim = second.claim({ silence: 400 });
  setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600), 15); // both are stopped
  await expect(claim).rejects.toMatchObject({ code: "RUN_HELD_ELSEWHERE" });
  await held.release();
});

test("a folder's database is removed only after another folder held the run", async () => {
  const machine = machines();
  const [first, second] = [machine(), machine()];
  for (let times = 0; times < 2; times++) await (await first.claim()).release();
  expect(existsSync(first.folder.database)).toBe(true);
  await (await second.claim()).release();
  await (await first.claim()).release();
  expect(existsSync(first.folder.database)).toBe(false);
});

test("of machines that race for a released run one gets it", async () => {
  const machine = machines();
  await (await machine().claim()).release();
  const claims = await Promise.allSettled([machine(), machine(), machine()].map(({ claim }) => claim()));
  expect(claims.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const claim of claims) if (claim.status === "fulfilled") await claim.value.release();
});
