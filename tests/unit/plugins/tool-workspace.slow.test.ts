import { pluginChecks } from "everturn/testing";
import { describe, expect, test } from "vitest";
import { bubblewrapHere } from "../../support/bubblewrap.ts";

const here = await bubblewrapHere();
await here?.close();

describe.runIf(here !== undefined)("tool-workspace in bubblewrap", () => {
  test("keeps its promises", async () => {
    const checks = await pluginChecks("tool-workspace", {
      config: { sandbox: "bubblewrap", time: 5 },
      cases: [
        {
          function: "create",
          arguments: { path: "a.txt", text: "one\n" },
          text: "wrote a.txt",
          error: false,
        },
        { function: "run", arguments: { command: "echo two >> a.txt" }, error: false },
        { function: "view", arguments: { path: "a.txt" }, text: "1\tone\n2\ttwo", error: false },
        { function: "view", arguments: { path: "../a.txt" }, error: true },
      ],
    });
    for (const check of checks) await check.run();
    expect(checks.map(({ promise }) => promise)).toContain("snapshot");
  });
});
