import { pluginChecks } from "everturn/testing";
import { test } from "vitest";

test("it keeps what loops promise", async () => {
  const cases = [{ actions: ["#### 1", "#### 2"], outcome: "answered" as const }];
  for (const { run } of await pluginChecks("loop-interaction", { cases })) await run();
});
