import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Segment } from "../../../../src/contracts/generated/segment.ts";
import { segmentRef } from "../../../../src/run/projections/segment-ref.ts";
import { turnKey } from "../../../../src/run/store/keys.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { readRows, readSegments } from "../../../../src/run/trajectory/segments.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeTurn } from "../../../support/written-turn.ts";

const folder = temporaryFolder();
const place = { stage: "step-0001", task: "task-00000", sample: 0 };
const prompt: Segment = { previous: null, origin: "prompt", text: "1 + 1 =", tokens: [5, 6, 7] };
const action = (previous: string): Segment => ({
  previous,
  origin: "action",
  text: "2",
  tokens: [8],
  logprobs: [-0.1234567890123],
  policyVersion: 3,
});

test("the last segment stands for the whole trajectory, number by number, also where a turn followed an earlier one", async () => {
  const store = openRunStore(folder);
  const first = action(segmentRef(prompt));
  await writeTurn(store, place, 1, [prompt, first]);
  const tried: Segment = { previous: segmentRef(first), origin: "observation", text: "no", tokens: [9] };
  await writeTurn(store, place, 2, [tried, action(segmentRef(tried))]);
  const other: Segment = { ...tried, text: "yes", tokens: [10] }; // back to the first turn
  const last = action(segmentRef(other));
  await writeTurn(store, place, 3, [other, last]);
  expect(await readSegments(openRunStore(folder), place, segmentRef(last))).toEqual([
    prompt,
    first,
    other,
    last,
  ]);
  expect(await readSegments(store, place, segmentRef(first))).toEqual([prompt, first]);
  expect(await readSegments(store, place, null)).toEqual([]);
  const { rows, actions } = await readRows(store, place, segmentRef(last));
  expect(rows).toEqual([
    [prompt, first, tried, action(segmentRef(tried))],
    [prompt, first, other, last],
  ]);
  expect(actions).toEqual([first, action(segmentRef(tried)), last]);
  expect(await readRows(store, place, null)).toEqual({ rows: [], actions: [] });
});

test("a segment of the released form has the name that it had there", () => {
  expect(segmentRef(prompt)).toBe("477e82159fadfa97c574ecce56fe7d36cab97e4a9a39ae5ae769a36179d85a15");
});

test("a segment whose turn is missing or was changed is refused by its name", async () => {
  const head = segmentRef(action(segmentRef(prompt)));
  const file = join(folder, turnKey(place, 1).path);
  appendFileSync(file, " ");
  const expected = { code: "SEGMENT_MISSING", params: { ref: head } };
  await expect(readSegments(openRunStore(folder), place, head)).rejects.toMatchObject(expected);
  rmSync(file);
  await expect(readSegments(openRunStore(folder), place, head)).rejects.toMatchObject(expected);
});
