import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Segment } from "../../../src/contracts/generated/segment.ts";
import { openStore } from "../../../src/trajectory/store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const prompt: Segment = { previous: null, origin: "prompt", text: "1 + 1 =", tokens: [5, 6, 7] };

/** A prompt and an action after it, in the store. */
async function putTwo() {
  const store = openStore(folder);
  const first = await store.put(prompt);
  const action: Segment = {
    ...{
      previous: first,
      origin: "action",
      text: "2",
      tokens: [8],
      logprobs: [-0.1234567890123],
      policyVersion: 3,
    },
  };
  return { first, head: await store.put(action), action };
}

const pathOf = (ref: string) => join(folder, ref.slice(0, 2), `${ref}.json`);

test("the last segment stands for the whole trajectory, number by number", async () => {
  const { head, action } = await putTwo();
  expect(await openStore(folder).chain(head)).toEqual([prompt, action]);
  expect(await openStore(folder).chain(null)).toEqual([]);
});

test("what is the same has the same name and is kept once", async () => {
  const again = await putTwo();
  expect(await putTwo()).toEqual(again);
  const other = await openStore(folder).put({ ...prompt, tokens: [5, 6, 8] });
  expect(other).not.toBe(again.first);
});

test("a segment that is missing or was changed is refused by its name", async () => {
  const { first, head } = await putTwo();
  appendFileSync(pathOf(first), " ");
  await expect(openStore(folder).chain(head)).rejects.toMatchObject({
    code: "SEGMENT_CORRUPT",
    params: { ref: first },
  });
  rmSync(pathOf(first));
  await expect(openStore(folder).chain(head)).rejects.toMatchObject({
    code: "SEGMENT_MISSING",
    params: { ref: first, folder },
  });
});
