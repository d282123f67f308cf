import { expect, onTestFinished, test, vi } from "vitest";
import { killIfRunning, startWith } from "../../../support/command.ts";
import { oddTargets, rawRequest } from "../../../support/raw-request.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const patience = 60_000;

/** The pages of an empty folder of runs, and the address that the command prints. */
async function pages(env: Record<string, string> = {}, ...options: string[]) {
  const command = startWith(env, "ui", "--runs", temporaryFolder(), "--port", "0", ...options);
  onTestFinished(() => {
    killIfRunning(command);
  });
  await vi.waitFor(() => expect(command.stdout()).toContain("Ctrl-C"), patience);
  const printed = /http:\S+/.exec(command.stdout())?.[0] ?? "";
  return { command, printed, url: new URL(printed).origin };
}

const navigation = { "sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-site": "none" };

test("pages open to whoever has the token of the printed address", { timeout: 2 * patience }, async () => {
  const { printed, url } = await pages();
  expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}$/);
  const token = new URL(printed).searchParams.get("token") ?? "";
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { headers, redirect: "manual" });
  for (const path of ["/", "/compare", "/assets/style.css", "/?token=", "/?token=wrong", `/#${token}`])
    expect([path, (await ask(path)).status]).toEqual([path, 401]);
  expect((await ask("/", { cookie: `everturn-1=${token}` })).status).toBe(401);
  expect((await ask("/", { authorization: `Bearer ${token}` })).status).toBe(200);
  expect((await ask(`/?token=${token}`)).status).toBe(200);
  const opened = await ask(`/compare?first=a&token=${token}&second=b`, navigation);
  expect([opened.status, opened.headers.get("location")]).toEqual([303, "/compare?first=a&second=b"]);
  const elsewhere = await ask(`//other.example/?token=${token}`, navigation);
  expect([elsewhere.status, elsewhere.headers.get("location")]).toEqual([303, "/other.example/"]);
  const [cookie = "", ...attributes] = opened.headers.get("set-cookie")?.split("; ") ?? [];
  expect(attributes).toEqual(["Path=/", "HttpOnly", "SameSite=Strict"]);
  expect((await ask("/", { ...navigation, cookie: `other=1; ${cookie}` })).status).toBe(200);
});

test("pages of other sites can ask for nothing, and orders come by forms of the pages alone", {
  timeout: 2 * patience,
}, async () => {
  const { url } = await pages({}, "--no-token");
  const ask = async (path: string, headers: Record<string, string>, method = "GET") =>
    (await fetch(url + path, { method, headers, redirect: "manual" })).status;
  expect(await ask("/", navigation)).toBe(200);
  expect(await ask("/", { "sec-fetch-site": "same-origin" })).toBe(200);
  const query = "/runs/x/trajectories?where=reward%20%3E%200";
  for (const site of ["cross-site", "same-site"])
    expect([site, await ask(query, { "sec-fetch-site": site })]).toEqual([site, 403]);
  expect(await ask(query, { origin: "http://evil.example" })).toBe(403);
  const replay = "/runs/x/trajectories/step-0001/task-00000/0/replay";
  for (const type of ["application/json", "text/plain", "text/x-form"])
    expect([type, await ask(replay, { "content-type": type, origin: url }, "POST")]).toEqual([type, 415]);
  expect(await ask(replay, { origin: url }, "POST")).toBe(415);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect(await ask(replay, { ...form, origin: url }, "POST")).toBe(404);
  expect(await ask(replay, form, "POST")).toBe(403);
  expect(await ask(replay, { ...form, origin: "http://127.0.0.1:1" }, "POST")).toBe(403);
});

test("odd targets are answered by what is wrong with them", { timeout: 2 * patience }, async () => {
  const { command, url } = await pages({}, "--no-token");
  for (const target of oddTargets) {
    const { status } = await rawRequest(url, target);
    if (target.startsWith("/?")) expect([target, status]).toEqual([target, 200]);
    else expect([target, [400, 403, 404, 431].includes(status)]).toEqual([target, true]);
  }
  const { status } = await rawRequest(url, "/", { headers: { host: "rebound.example" } });
  expect(status).toBe(403);
  expect(command.stderr()).toBe("");
});
