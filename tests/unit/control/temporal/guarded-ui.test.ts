import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DevServer, startDevServer } from "../../../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../../../src/control/temporal/server-binary.ts";
import { rawRequest } from "../../../support/raw-request.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

let server: DevServer;

beforeAll(async () => {
  const folder = temporaryFolder();
  const paths = { database: join(folder, "temporal.db"), log: join(folder, "temporal.log") };
  server = await startDevServer({ binary: await findServerBinary(), ...paths });
}, 120_000);

afterAll(() => server.stop());

const ask = async (target: string, headers: Record<string, string> = {}, method = "GET") =>
  (await rawRequest(server.ui, target, { headers, method })).status;

test("Temporal's UI answers the names of this machine, and no other site's requests", async () => {
  const { port } = new URL(server.ui);
  const workflows = "/api/v1/namespaces/default/workflows";
  expect((await fetch(server.ui)).status).toBe(200);
  expect(await (await fetch(`${server.ui}/api/v1/namespaces/default`)).json()).toMatchObject({
    namespaceInfo: { name: "default" },
  });
  expect(await ask(workflows, { host: `localhost:${port}` })).toBe(200);
  for (const host of ["rebound.example", `rebound.example:${port}`, "127.0.0.1.example", "0.0.0.0"])
    expect([host, await ask(workflows, { host })]).toEqual([host, 403]);
  expect(await ask(workflows, { "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await ask(workflows, { origin: "http://evil.example" }, "POST")).toBe(403);
  expect(await ask("http://rebound.example/")).toBe(403);
  const link = { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate" };
  expect(await ask("/namespaces/default/workflows", link)).toBe(200);
  expect(await ask("/namespaces/default/workflows", { ...link, host: "rebound.example" })).toBe(403);
});

test("the UI goes with its server", async () => {
  const { ui } = server;
  await server.stop();
  await expect(fetch(ui)).rejects.toThrow();
});
