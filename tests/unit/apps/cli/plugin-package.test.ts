import { join } from "node:path";
import { pluginChecks } from "everturn/testing";
import { test } from "vitest";
import { folder, plugin } from "./new-packages.ts";

test.concurrent.for(["reward", "dataset", "loop", "loss", "policy", "trainer"])(
  "a new %s keeps what its other promises rest on",
  async (kind, { expect }) => {
    await plugin("", "new", kind, "own");
    const checks = await pluginChecks(join(folder, `${kind}-own`, "src", "index.ts"));
    for (const { isBasis, run } of checks) if (isBasis) await run();
    expect(checks.filter(({ isBasis }) => isBasis).length).toBeGreaterThan(1);
  },
);
