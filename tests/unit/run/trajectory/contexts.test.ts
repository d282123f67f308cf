import { expect, test } from "vitest";
import type { Segment } from "../../../../src/contracts/generated/segment.ts";
import { segmentRef } from "../../../../src/run/projections/segment-ref.ts";
import { turnKey } from "../../../../src/run/store/keys.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { openContexts } from "../../../../src/run/trajectory/contexts.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const store = openRunStore(temporaryFolder());
const elsewhere = openRunStore("/nowhere");
const place = { stage: "step-0001", task: "task-00000", sample: 0 };
const one = "1".repeat(64);
const appended: Segment = {
  previous: null,
  origin: "prompt",
  text: "a",
  tokens: [1, 2],
  images: [{ sha256: one, start: 1 }],
};
const plain = (...ids: number[]) => ({ tokens: ids, images: [] });
const action: Segment = {
  previous: segmentRef(appended),
  origin: "action",
  text: "b",
  tokens: [3],
  policyVersion: 1,
};
const head = segmentRef(action);
const tokens = { prompt: 2, action: 1, observation: 0 };
await store.record(turnKey(place, 1), {
  callsBefore: 0,
  appended,
  action,
  head,
  tokens,
  finishReason: "stop",
  seconds: 0,
  workSeconds: 0,
});

test("a context is read from the store once, then known", async () => {
  const contexts = openContexts();
  expect(await contexts.get(store, place, null)).toEqual(plain());
  const context = await contexts.get(store, place, head);
  expect(context).toEqual({ tokens: [1, 2, 3], images: [{ sha256: one, start: 1 }] });
  expect(await contexts.get(elsewhere, place, head)).toBe(context);
});

test("the context that a turn ends with takes the place of the one before", async () => {
  const contexts = openContexts();
  contexts.set("next", plain(1, 2, 3, 4), head);
  expect(await contexts.get(elsewhere, place, "next")).toEqual(plain(1, 2, 3, 4));
  contexts.set("last", plain(1, 2, 3, 4, 5), "next");
  await expect(contexts.get(elsewhere, place, "next")).rejects.toMatchObject({ code: "SEGMENT_MISSING" });
});

test("the least recently used context goes first when there are more tokens than may stay", async () => {
  const contexts = openContexts(6);
  contexts.set("a", plain(1, 2), null);
  contexts.set("b", plain(3, 4), null);
  await contexts.get(elsewhere, place, "a");
  contexts.set("c", plain(5, 6, 7), null);
  expect(await contexts.get(elsewhere, place, "a")).toEqual(plain(1, 2));
  await expect(contexts.get(elsewhere, place, "b")).rejects.toMatchObject({ code: "SEGMENT_MISSING" });
});
