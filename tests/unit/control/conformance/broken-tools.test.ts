import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PluginCheckOptions, type PromiseName, pluginChecks } from "everturn/testing";
import { describe, test } from "vitest";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const tools = join(import.meta.dirname, "..", "..", "..", "broken-plugins", "tools.ts");
const folder = temporaryFolder();
const log = join(folder, "effects");
const logged: PluginCheckOptions = { config: { log }, effects: log };
const calls = (...texts: string[]): PluginCheckOptions => ({
  cases: texts.map((text) => ({ arguments: { text } })),
});

/** What a check of a plugin says of one promise; undefined if it is kept. */
async function broken(plugin: string, promise: PromiseName, options: PluginCheckOptions = {}) {
  const check = (await pluginChecks(plugin, options)).find((one) => one.promise === promise);
  if (check === undefined) throw new Error(`${plugin} has no promise “${promise}”.`);
  return check.run().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

test.concurrent.for<[string, PromiseName, string, PluginCheckOptions?]>([
  ["neverAnswers", "time-out", "raise `timeout`"],
  ["wrongExample", "schema", "Correct the example"],
  [
    "counts",
    "answers",
    "Correct the tool, or the case",
    { cases: [{ arguments: { text: "a" }, text: "7" }] },
  ],
  ["throwsAtTheModel", "odd values", "Return { text, error: true } for the model's mistakes"],
  ["mistake", "odd values", "Correct the error: it would end a run"],
  ["answersNothing", "odd values", "“text” must be text"],
  ["halfACharacter", "output", "Cut texts between code points"],
  ["bytesAsText", "output", "Describe bytes that are not text in another way"],
  ["megabytes", "output", "Cut it in the tool"],
  ["counts", "retry", "no random numbers, no state in the module"],
  ["twice", "idempotency key", "Pass `key` to the service", logged],
  ["ignoresItsSignal", "signal", "Pass `signal` on"],
  ["keepsALock", "cancellation", "Release in `finally`", calls("a")],
  ["mixesCalls", "concurrency", "Keep no state of a call in the module", calls("a", "b")],
  ["remembers", "death of a worker", "needs state (`create`)", calls("open", "look")],
  ["releasesOnce", "release", "a call may have ended halfway", calls("a")],
  ["leavesAProcess", "reap", "killProcess(handle)"],
  ["holdsWithoutReap", "reap", "Add `reap(handle)`"],
  ["snapshotsChange", "snapshot", "must not change the state"],
  ["partOfTheState", "death of a worker", "Put all state into the snapshot"],
  ["replaysItsEffect", "replay", "Check `isReplay`", logged],
])("%s: %s", async ([name, promise, advice, options], { expect }) => {
  const plugin = `${tools}#${name}`;
  const said = await broken(plugin, promise, options);
  expect(said).toContain(`breaks the promise “${promise}”`);
  expect(said).toContain(advice);
});

describe("a package", () => {
  const manifest = {
    name: "tool-it",
    kind: "tool",
    version: "1.0.0",
    engines: { everturn: "*" },
    entry: "./index.js",
    tool: { name: "it", description: "It.", parameters: { type: "object" } },
  };
  const description = {
    name: "tool-it",
    version: "1.0.0",
    type: "module",
    peerDependencies: { everturn: "*" },
  };

  function packaged(
    name: string,
    { said = {}, about = {}, code = "export default { execute: () => 1 };" },
  ): string {
    const home = join(folder, name);
    mkdirSync(home);
    writeFileSync(join(home, "everturn.plugin.json"), JSON.stringify({ ...manifest, ...said }));
    writeFileSync(join(home, "package.json"), JSON.stringify({ ...description, ...about }));
    writeFileSync(join(home, "index.js"), code);
    return home;
  }

  test.concurrent.for<[string, Parameters<typeof packaged>[1], PromiseName, string]>([
    ["unknown-key", { said: { timeout: "3s" } }, "manifest", "unknown key “timeout”"],
    ["other-version", { about: { version: "1.1.0" } }, "manifest", "Use the same version in both"],
    ["own-everturn", { about: { dependencies: { everturn: "*" } } }, "manifest", "peerDependencies"],
    ["no-range", { about: { peerDependencies: {} } }, "manifest", 'Add "peerDependencies"'],
    ["left-out", { about: { files: ["dist"] } }, "manifest", 'Add "everturn.plugin.json"'],
    ["common-js", { about: { type: "commonjs" } }, "manifest", 'Add "type": "module"'],
    ["no-execute", { code: "export default {};" }, "loading", "lacks execute()"],
    ["cannot-load", { code: "import 'nothing-there';" }, "loading", "build it first"],
  ])("%s", async ([name, files, promise, advice], { expect }) => {
    const said = await broken(packaged(name, files), promise);
    expect(said).toContain(`breaks the promise “${promise}”`);
    expect(said).toContain(advice);
  });
});
