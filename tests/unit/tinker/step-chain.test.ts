import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { stepChain } from "../../tinker/step-chain.ts";

const folder = temporaryFolder();

/** A database of SkyRL 0.4.0 with these requests: model, type, data, and whether it failed. */
function databaseOf(requests: [model: string, type: string, data?: object, failed?: true][]): string {
  const file = join(folder, `${requests.length}.sqlite`);
  const database = new DatabaseSync(file);
  database.exec(
    "CREATE TABLE futures (request_id INTEGER PRIMARY KEY, request_type TEXT, model_id TEXT, request_data TEXT, status TEXT)",
  );
  const insert = database.prepare(
    "INSERT INTO futures (request_type, model_id, request_data, status) VALUES (?, ?, ?, ?)",
  );
  for (const [model, type, data = {}, failed] of requests)
    insert.run(type, model, JSON.stringify(data), failed ? "FAILED" : "COMPLETED");
  database.close();
  return file;
}

test("optimizer steps are counted along the checkpoints that the weights descend from", () => {
  const database = databaseOf([
    ["a", "OPTIM_STEP"],
    ["a", "OPTIM_STEP"],
    ["a", "SAVE_WEIGHTS", { path: "one" }],
    ["a", "OPTIM_STEP"], // of an attempt that did not count
    ["a", "SAVE_WEIGHTS", { path: "lost" }],
    ["b", "LOAD_WEIGHTS", { source_model_id: "a", checkpoint_id: "one" }],
    ["b", "OPTIM_STEP", {}, true],
    ["b", "OPTIM_STEP"],
    ["b", "SAVE_WEIGHTS", { path: "two" }],
    ["c", "OPTIM_STEP"], // of another model
    ["b", "OPTIM_STEP"],
    ["b", "OPTIM_STEP"],
    ["b", "SAVE_WEIGHTS", { path: "three" }],
  ]);
  expect(stepChain(database, "tinker://b/weights/three")).toEqual([
    { path: "tinker://a/weights/one", steps: 2 },
    { path: "tinker://b/weights/two", steps: 1 },
    { path: "tinker://b/weights/three", steps: 2 },
  ]);
  expect(() => stepChain(database, "tinker://b/weights/four")).toThrow("has not saved");
});
