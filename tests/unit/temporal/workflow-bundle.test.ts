import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundleWorkflows } from "../../../src/temporal/workflow-bundle.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const toolAgent = join(import.meta.dirname, "../../../plugins/loop-tool-agent/workflow.ts");

test("the workflow code is small, and holds no plugin machinery, YAML or ajv", async () => {
  const file = join(folder, "workflows.js");
  await bundleWorkflows(file, { name: "loop-tool-agent", workflow: toolAgent }, false);
  const code = readFileSync(file, "utf8");
  expect(code.length).toBeLessThan(4_000_000);
  const modules = [...code.matchAll(/^\/\*\*\*\/ "([^"]+)"/gm)].map(([, module]) => module ?? "");
  expect(modules.length).toBeGreaterThan(20);
  expect(modules.filter((module) => /ajv|yaml|onnx|src\/(?!contracts|errors)/.test(module))).toEqual([]);
});

test("a loop that reaches for the outside is refused, by name and place", async () => {
  const workflow = join(folder, "loop.ts");
  writeFileSync(
    workflow,
    'import { rot13 } from "left-rot";\nexport default async () => rot13("answered");\n',
  );
  const bundling = bundleWorkflows(join(folder, "bad.js"), { name: "loop-bad", workflow }, false);
  await expect(bundling).rejects.toMatchObject({ code: "WORKFLOWS_NOT_BUNDLED" });
  await expect(bundling).rejects.toThrow(/the agent loop loop-bad can't be bundled: .*loop\.ts 1:.*left-rot/);
});
