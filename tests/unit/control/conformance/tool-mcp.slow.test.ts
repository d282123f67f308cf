import { pluginChecks } from "everturn/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { everythingByHttp } from "../../../support/mcp-servers.ts";

let server: Awaited<ReturnType<typeof everythingByHttp>>;
beforeAll(async () => {
  server = await everythingByHttp("streamableHttp");
});
afterAll(() => server.child.kill("SIGKILL"));

test("tool-mcp keeps its promises with the reference server", async () => {
  const checks = await pluginChecks("tool-mcp", {
    config: { url: server.url, recovery: "replay" },
    cases: [
      { function: "echo", arguments: { message: "a" }, text: "Echo: a", error: false },
      { function: "get-sum", arguments: { a: 1, b: 2 }, text: "The sum of 1 and 2 is 3." },
      { function: "get-tiny-image", arguments: {} },
    ],
  });
  for (const check of checks) await check.run();
  expect(checks.map(({ promise }) => promise)).toEqual(expect.arrayContaining(["snapshot", "release"]));
});

test("tool-ask keeps its promises", async () => {
  for (const check of await pluginChecks("tool-ask")) await check.run();
});

test("tool-finish keeps its promises", async () => {
  const cases = [{ arguments: { answer: "42" }, text: "42", done: true }];
  for (const check of await pluginChecks("tool-finish", { cases })) await check.run();
});
