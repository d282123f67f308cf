import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { workflowBundle } from "../../../../src/control/temporal/workflow-bundle.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();

test("a loop that reaches for the outside is refused, by name and place", async () => {
  const workflow = join(folder, "loop.ts");
  writeFileSync(
    workflow,
    'import { rot13 } from "left-rot";\nexport default async () => rot13("answered");\n',
  );
  const bundling = workflowBundle([{ name: "loop-bad", workflow }], false);
  await expect(bundling).rejects.toMatchObject({ code: "WORKFLOWS_NOT_BUNDLED" });
  await expect(bundling).rejects.toThrow(/the agent loop loop-bad can't be bundled: .*loop\.ts 1:.*left-rot/);
});
