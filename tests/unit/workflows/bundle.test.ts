import { join } from "node:path";
import { expect, test } from "vitest";
import { workflowBundle } from "../../../src/control/temporal/workflow-bundle.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** The modules in a bundle, from its inline source map. */
function modulesOf(code: string): string[] {
  const [, encoded = ""] = /sourceMappingURL=data:application\/json;[^,]*base64,(\S+)/.exec(code) ?? [];
  const { sources } = JSON.parse(Buffer.from(encoded, "base64").toString());
  return sources.map((source: string) => source.replace(/^webpack:\/\/[^/]*\//, ""));
}

test("the workflow bundle holds workflows, contracts, errors, formats, JSON, records, projections and a mean, and nothing that validates, reads or computes", async () => {
  const workflow = join(root, "plugins", "loop-tool-agent", "workflow.ts");
  const code = await workflowBundle([{ name: "loop-tool-agent", workflow }], false);
  expect(code.length).toBeLessThan(3_300_000);
  const modules = modulesOf(code);
  const packages = modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  expect([...new Set(packages)].sort()).toMatchInlineSnapshot(`
      [
        "@opentelemetry/api",
        "@temporalio/common",
        "@temporalio/workflow",
        "long",
        "ms",
        "nexus-rpc",
      ]
    `);
  const own = modules.filter((path) => !path.includes("node_modules") && /\.ts$/.test(path));
  const rooms = own.flatMap(
    (path) =>
      /(?:^|\/)(workflows|src\/(?:contracts|\w+\/\w+)|plugins\/[\w-]+)\/[^/]+\.ts$/.exec(path)?.[1] ?? [],
  );
  expect([...new Set(rooms)].sort()).toMatchInlineSnapshot(`
      [
        "plugins/loop-tool-agent",
        "src/base/errors",
        "src/base/json",
        "src/base/records",
        "src/base/statistics",
        "src/chat/formats",
        "src/contracts",
        "src/run/projections",
        "workflows",
      ]
    `);
});
