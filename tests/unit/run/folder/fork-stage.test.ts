import { expect, test } from "vitest";
import { takeForkStage } from "../../../../src/run/folder/fork-stage.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

test("each fork has a stage of its own, also of those that are begun at one moment", async () => {
  const folder = temporaryFolder();
  const stages = await Promise.all(Array.from({ length: 5 }, () => takeForkStage(openRunStore(folder))));
  expect(stages.sort()).toEqual(["fork-0001", "fork-0002", "fork-0003", "fork-0004", "fork-0005"]);
  expect(await takeForkStage(openRunStore(folder))).toBe("fork-0006");
});
