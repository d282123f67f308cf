import { expect, test } from "vitest";
import { openContexts } from "../../../src/trajectory/contexts.ts";
import { openStore } from "../../../src/trajectory/store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const store = openStore(temporaryFolder());
const prompt = await store.put({ previous: null, origin: "prompt", text: "a", tokens: [1, 2] });
const head = await store.put({ previous: prompt, origin: "action", text: "b", tokens: [3] });

test("a context is read from the store once, then known", async () => {
  const contexts = openContexts();
  expect(await contexts.get(store, null)).toEqual([]);
  const tokens = await contexts.get(store, head);
  expect(tokens).toEqual([1, 2, 3]);
  expect(await contexts.get(openStore("/nowhere"), head)).toBe(tokens);
});

test("the context that a turn ends with takes the place of the one before", async () => {
  const contexts = openContexts();
  contexts.set("next", [1, 2, 3, 4], head);
  const elsewhere = openStore("/nowhere");
  expect(await contexts.get(elsewhere, "next")).toEqual([1, 2, 3, 4]);
  contexts.set("last", [1, 2, 3, 4, 5], "next");
  await expect(contexts.get(elsewhere, "next")).rejects.toMatchObject({ code: "SEGMENT_MISSING" });
});

test("the least recently used context goes first when there are more tokens than may stay", async () => {
  const contexts = openContexts(6);
  const elsewhere = openStore("/nowhere");
  contexts.set("a", [1, 2], null);
  contexts.set("b", [3, 4], null);
  await contexts.get(elsewhere, "a");
  contexts.set("c", [5, 6, 7], null);
  expect(await contexts.get(elsewhere, "a")).toEqual([1, 2]);
  await expect(contexts.get(elsewhere, "b")).rejects.toMatchObject({ code: "SEGMENT_MISSING" });
});
