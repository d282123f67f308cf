import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { keepBundle, keptBundle } from "../../../../src/control/temporal/bundle-cache.ts";
import { workflowBundle } from "../../../../src/control/temporal/workflow-bundle.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..", "..");
const folder = temporaryFolder();
const cache = join(folder, "cache");
const own = join(folder, "own");
const loop = { name: "loop-own", workflow: join(own, "loop", "loop.ts") };

/** Files of a loop that names a module without its ending, one by a link, and one of a package in a folder above. */
const files = {
  "loop/loop.ts": `
    import { near } from "./near";
    import { linked } from "./linked/index.js";
    import { packed } from "packed";
    export default async () => [near, linked, packed].join();`,
  "loop/near.js": 'export const near = "near 1";',
  "one/index.js": 'export { linked } from "./named.js";',
  "one/named.js": 'export const linked = "linked 1";',
  "one/searching.js": 'export default (name) => import(/* webpackMode: "eager" */ "./" + name + ".js");',
  "other/index.js": 'export { linked } from "./named.js";',
  "other/named.js": 'export const linked = "linked 2";',
  "node_modules/packed/package.json": '{"name": "packed", "version": "1.0.0", "main": "packed.js"}',
  "node_modules/packed/packed.js": 'exports.packed = "packed 1";',
};

function write(name: string, text: string): void {
  mkdirSync(join(own, name, ".."), { recursive: true });
  writeFileSync(join(own, name), text);
}

function link(target: string): void {
  rmSync(join(own, "loop", "linked"), { force: true });
  symlinkSync(target, join(own, "loop", "linked"));
}

const workflows = join(cache, "everturn", "workflows");
const saved = join(folder, "saved");
let made = "";
let kept = "";

beforeAll(async () => {
  vi.stubEnv("XDG_CACHE_HOME", cache);
  for (const [name, text] of Object.entries(files)) write(name, text);
  link(join(own, "one"));
  await sleep(2200); // what is younger than its bundling might be newer than what was read: it isn't kept
  made = await workflowBundle([loop], false);
  const names = readdirSync(workflows);
  expect(names).toHaveLength(1);
  kept = join(workflows, names[0] ?? "");
  cpSync(kept, saved);
});
afterAll(() => vi.unstubAllEnvs());
beforeEach(() => cpSync(saved, kept));

test("workflow code is bundled once, and taken from the user's cache after that", async () => {
  const [head = ""] = readFileSync(saved, "utf8").split("\n", 1);
  const digest = createHash("sha256").update("// kept").digest("hex");
  writeFileSync(kept, `${JSON.stringify({ ...JSON.parse(head), code: digest })}\n// kept`);
  expect(await workflowBundle([loop], false)).toBe("// kept");
});

test("what it was made from is all that the bundler looked at, and the bundler", () => {
  const [head = ""] = readFileSync(saved, "utf8").split("\n", 1);
  const inputs: string[] = JSON.parse(head).inputs;
  const within = inputs.map((path) => relative(root, path));
  const bundler = ["@temporalio/worker", "webpack", "swc-loader", "@swc/core", "source-map-loader"];
  expect(within).toEqual(
    expect.arrayContaining([
      ...bundler.map((name) => `node_modules/${name}/package.json`),
      "src/control/temporal/bundle-workflows.ts",
      "workflows/entry.ts",
      "workflows/training.ts",
      "package.json",
      "node_modules/@temporalio/workflow/package.json",
      "node_modules/@temporalio/workflow/lib/index.js",
      relative(root, join(own, "loop", "linked", "index.js")),
      relative(root, join(own, "one", "index.js")),
      relative(root, join(own, "loop", "near.ts")),
      relative(root, join(own, "loop", "node_modules")),
    ]),
  );
});

const nearer = join(own, "loop/near.ts");
const changes: [string, () => void, () => void][] = [
  [
    "a module that was imported has other text",
    () => write("loop/near.js", 'export const near = "near 2";'),
    () => write("loop/near.js", files["loop/near.js"]),
  ],
  [
    "a module appears that would be found before the one that was",
    () => writeFileSync(nearer, 'export const near = "near of another file";'),
    () => rmSync(nearer),
  ],
  [
    "a package appears in a nearer folder",
    () => write("loop/node_modules/packed/index.js", 'exports.packed = "packed nearer";'),
    () => rmSync(join(own, "loop/node_modules"), { recursive: true }),
  ],
  [
    "a package names another file as its main one",
    () => write("node_modules/packed/package.json", '{"name": "packed", "main": "other.js"}'),
    () => write("node_modules/packed/package.json", files["node_modules/packed/package.json"]),
  ],
  [
    "a folder of modules becomes a package",
    () => write("loop/package.json", '{"sideEffects": false, "type": "module"}'),
    () => rmSync(join(own, "loop/package.json")),
  ],
  [
    "a link leads to another folder, where the module itself is the same",
    () => link(join(own, "other")),
    () => link(join(own, "one")),
  ],
  [
    "a module is gone",
    () => renameSync(join(own, "one/named.js"), join(own, "one/gone.js")),
    () => renameSync(join(own, "one/gone.js"), join(own, "one/named.js")),
  ],
];

test.each(changes)("kept code is not used once %s", (_, change, back) => {
  expect(keptBundle(kept)).toBe(made);
  change();
  try {
    expect(keptBundle(kept)).toBeUndefined();
  } finally {
    back();
  }
  expect(keptBundle(kept)).toBe(made);
});

test("code that was made from what has just changed is new, and not kept yet", async () => {
  writeFileSync(nearer, 'export const near = "near of another file";');
  const later = Date.now() / 1000 + 60; // however long it takes to look for kept code
  utimesSync(nearer, later, later);
  try {
    expect((await workflowBundle([loop], false)).includes("near of another file")).toBe(true);
    expect(keptBundle(kept)).toBeUndefined();
  } finally {
    rmSync(nearer);
  }
  expect(keptBundle(kept)).toBe(made);
});

test("a loop that imports by computed names is bundled each time", async () => {
  const workflow = join(own, "one", "searching.js");
  expect((await workflowBundle([{ name: "loop-searching", workflow }], false)).includes("linked 1")).toBe(
    true,
  );
  expect(readdirSync(workflows)).toHaveLength(1);
});

test("what is kept for another loop, or with telemetry, is another bundle", async () => {
  const other = await workflowBundle([{ ...loop, name: "loop-of-another-name" }], true);
  expect(other === made).toBe(false);
  expect(other.includes("loop-of-another-name")).toBe(true);
  expect(await workflowBundle([loop], false)).toBe(made);
});

test.each<[string, (text: string) => string]>([
  ["empty", () => ""],
  ["cut", (text) => text.slice(0, -1)],
  ["cut in its first line", (text) => text.slice(0, 100)],
  ["of another form", () => '{"code": 1}\n'],
  ["changed by a letter", (text) => text.replace("linked 1", "linked 2")],
])("a kept bundle that is %s counts as absent", (_, broken) => {
  writeFileSync(kept, broken(readFileSync(saved, "utf8")));
  expect(keptBundle(kept)).toBeUndefined();
  rmSync(kept);
  expect(keptBundle(kept)).toBeUndefined();
});

test("processes that begin at once, in folders with settings of their own, make the same code", async () => {
  const elsewhere = join(folder, "elsewhere");
  mkdirSync(elsewhere);
  const settings = { ".swcrc": '{"minify": true}', ".browserslistrc": "ie 11\n" };
  for (const [name, text] of Object.entries(settings)) {
    writeFileSync(join(elsewhere, name), text);
    write(`loop/${name}`, text);
  }
  writeFileSync(join(elsewhere, "package.json"), '{"name": "elsewhere", "browserslist": "ie 11"}');
  write("tsconfig.json", '{"compilerOptions": {"target": "es5", "paths": {"./near": ["./other/index.js"]}}}');
  const shared = join(folder, "shared");
  const module = pathToFileURL(join(root, "src", "control", "temporal", "workflow-bundle.ts")).href;
  const script = `const { workflowBundle } = await import(${JSON.stringify(module)});
    process.stdout.write(await workflowBundle([${JSON.stringify(loop)}], false));`;
  const bundleElsewhere = async () => {
    const env = { ...process.env, XDG_CACHE_HOME: shared, NODE_ENV: "production" };
    const options = { cwd: elsewhere, env, maxBuffer: 2 ** 26 };
    return (await run(process.execPath, ["--input-type=module", "-e", script], options)).stdout;
  };
  const codes = await Promise.all([bundleElsewhere(), bundleElsewhere()]);
  expect(codes.map((code) => code === made)).toEqual([true, true]);
  const names = readdirSync(join(shared, "everturn", "workflows"));
  expect(names).toEqual([basename(kept)]);
  expect(keptBundle(join(shared, "everturn", "workflows", basename(kept)))).toBe(made);
});

test("no more bundles are kept than a few, and those that are used stay", () => {
  const inputs = { found: [], missed: [], searched: [] };
  const paths = Array.from({ length: 40 }, (_, index) => join(folder, "many", String(index)));
  for (const [index, file] of paths.entries()) {
    keepBundle(file, { code: `// ${index}`, inputs });
    const used = new Date(Date.now() - 60_000 + index);
    utimesSync(file, used, used);
    if (index >= 5) expect(keptBundle(paths[3] ?? "")).toBe("// 3");
  }
  const left = readdirSync(join(folder, "many"));
  expect(left).toHaveLength(32);
  expect(left).toEqual(expect.arrayContaining(["3", "39", "38", "20"]));
});

test("where nothing can be written, nothing is kept and nothing fails", () => {
  writeFileSync(join(folder, "file"), "");
  const file = join(folder, "file", "kept");
  expect(() => keepBundle(file, { code: "", inputs: { found: [], missed: [], searched: [] } })).not.toThrow();
  expect(keptBundle(file)).toBeUndefined();
});
