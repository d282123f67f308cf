import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test, vi } from "vitest";
import { servedPlan } from "../../../../src/apps/cli/commands/tools/served-plan.ts";
import { processIdentity } from "../../../../src/base/processes/process-identity.ts";
import { everturn, killIfRunning, startWith } from "../../../support/command.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const state = temporaryFolder();
const root = join(import.meta.dirname, "..", "..", "..", "..");
const notes = `${join(root, "tests", "one-file", "notes.ts")}#restored`;
const patience = 120_000;

async function served(env: Record<string, string> = {}, ...options: string[]) {
  const more = ["--port", "0", ...options];
  const command = startWith({ XDG_STATE_HOME: state, ...env }, "tools", "serve", notes, ...more);
  onTestFinished(() => {
    killIfRunning(command);
  });
  await vi.waitFor(() => expect(command.stdout()).toContain("Ctrl-C"), patience);
  const [, url] = /verl-tool: (\S+)/.exec(command.stdout()) ?? [];
  const ask = async (text: string) => {
    const actions = [JSON.stringify({ name: "restored", arguments: { line: text } })];
    const body = JSON.stringify({ trajectory_ids: ["a"], actions });
    const headers = { "content-type": "application/json" };
    return JSON.parse(await (await fetch(String(url), { method: "POST", headers, body })).text());
  };
  const [, mcp] = /MCP: (\S+)/.exec(command.stdout()) ?? [];
  return { command, ask, url: String(url), mcp: String(mcp) };
}

/** Processes that instances noted as theirs. */
function noted(): number[] {
  const files = readdirSync(state, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".json"),
  );
  return files.map((name) => Number(JSON.parse(readFileSync(join(state, name), "utf8")).handle.pid));
}

test("a server that is killed leaves what the next one frees; one that is interrupted ends with all that it holds", {
  timeout: 3 * patience,
}, async () => {
  const killed = await served();
  expect((await killed.ask("first")).valids).toEqual([true]);
  const [pid = 0] = noted();
  expect(processIdentity(pid)).toBeDefined();
  killed.command.child.kill("SIGKILL");
  await killed.command.end();
  expect(processIdentity(pid)).toBeDefined();
  const next = await served();
  await vi.waitFor(() => expect(noted()).toEqual([]), patience);
  await vi.waitFor(() => expect(processIdentity(pid)).toBeUndefined(), patience);
  expect((await next.ask("second")).observations[0]).toContain("second");
  const session = new Client({ name: "test", version: "1.0.0" });
  await session.connect(new StreamableHTTPClientTransport(new URL(next.mcp)));
  await session.callTool({ name: "restored", arguments: { line: "third" } });
  const later = noted();
  expect(later.map((one) => processIdentity(one) !== undefined)).toEqual([true, true]);
  next.command.child.kill("SIGINT");
  expect(await next.command.end()).toMatchObject({ code: 0, stderr: "" });
  expect(noted()).toEqual([]);
  for (const one of later) await vi.waitFor(() => expect(processIdentity(one)).toBeUndefined(), patience);
});

test("whoever lacks the token is refused, whatever is asked", { timeout: 2 * patience }, async () => {
  const [random, own, open] = await Promise.all([
    served(),
    served({ EVERTURN_TOKEN: "a secret&more" }),
    served({}, "--no-token"),
  ]);
  expect(random.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/get_observation\?token=[\w-]{32}$/);
  expect(own.url).toMatch(/\?token=a%20secret%26more$/);
  expect(own.mcp).toMatch(/\/mcp\?token=a%20secret%26more$/);
  expect(open.url).toMatch(/\/get_observation$/);
  const status = async (url: string, headers: Record<string, string> = {}) =>
    (await fetch(url, { headers })).status;
  const bare = (path: string) => new URL(path, own.url).href;
  for (const path of ["/health", "/get_observation", "/mcp", "/nothing", "/health?token=", "/health?token=a"])
    expect([path, await status(bare(path))]).toEqual([path, 401]);
  expect(await status(bare("/health"), { authorization: "Bearer wrong" })).toBe(401);
  expect(await status(bare("/health"), { authorization: "Bearer a secret&more" })).toBe(200);
  expect(await status(bare("/health?token=a%20secret%26more"))).toBe(200);
  expect(await status(new URL("/health", open.url).href)).toBe(200);
  expect((await own.ask("told")).valids).toEqual([true]);
  const wide = await everturn("tools", "serve", notes, "--port", "0", "--host", "0.0.0.0", "--no-token");
  expect([wide.code, wide.stderr]).toEqual([1, expect.stringContaining("other machines can reach 0.0.0.0")]);
});

test("an MCP client speaks with it by standard input and output", { timeout: patience }, async () => {
  const main = join(root, "src", "apps", "cli", "main.ts");
  const args = [main, "tools", "serve", notes, "--stdio"];
  const env = { ...process.env, XDG_STATE_HOME: state } as Record<string, string>;
  const transport = new StdioClientTransport({ command: process.execPath, args, env });
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  const answers = [];
  for (const line of ["a", "b"])
    answers.push((await client.callTool({ name: "restored", arguments: { line } })).content);
  expect(answers).toEqual([[{ type: "text", text: "a" }], [{ type: "text", text: "a, b" }]]);
  const [pid = 0] = noted();
  expect(processIdentity(pid)).toBeDefined();
  await client.close();
  await vi.waitFor(() => expect(processIdentity(pid)).toBeUndefined(), patience);
});

test("what can't be served is refused, by what is wrong", async () => {
  const length = join(root, "tests", "one-file", "length.ts");
  await expect(servedPlan(["reward-exact-match"])).rejects.toThrow(
    "reward-exact-match is a reward, and no tool",
  );
  await expect(servedPlan([length, length])).rejects.toThrow("two of the tools have a function length");
  await expect(servedPlan([length, notes], {})).rejects.toThrow("--config is for one tool");
  await expect(servedPlan(["a.yaml", length])).rejects.toThrow("name it alone");
  await expect(servedPlan(["no-such-tool"])).rejects.toThrow("there is no plugin");
});
