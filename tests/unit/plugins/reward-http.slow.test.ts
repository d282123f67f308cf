import { pluginChecks } from "everturn/testing";
import { test } from "vitest";
import { jsonServer } from "../../support/json-server.ts";

test("it keeps its promises", async () => {
  const { url } = await jsonServer(({ body }) => ({ value: { reward: body.answer === "42" ? 1 : 0 } }));
  const cases = [
    { answer: "42", reward: 1, success: true },
    { answer: "41", reward: 0, success: false },
  ];
  for (const check of await pluginChecks("reward-http", { config: { url }, cases })) await check.run();
});
