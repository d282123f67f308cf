import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const pageName = "docs/architecture.md";
const page = readFileSync(join(root, pageName), "utf8");
const roomName = "src/run/README.md";
const roomPage = readFileSync(join(root, roomName), "utf8");

/** What the check of imports reports for a house with these files; undefined if it finds nothing. */
function complaint(files: Record<string, string>): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "everturn-house-"));
  const written = { [pageName]: page, [roomName]: roomPage, ...files };
  for (const [name, content] of Object.entries(written)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  for (const name of [".dependency-cruiser.cjs", "tsconfig.json"])
    cpSync(join(root, name), join(folder, name));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const cruiser = join(root, "node_modules", ".bin", "depcruise");
  const args = [cruiser, "--config", ".dependency-cruiser.cjs", "src"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  return status === 0 ? undefined : stdout + stderr;
}

const store = "export interface Store {}\n";

test("a folder imports the folders that its room's README allows", () => {
  const allowed = 'import type { Store } from "../store/store.ts";\nexport type Run = Store;\n';
  expect(complaint({ "src/run/store/store.ts": store, "src/run/folder/run.ts": allowed })).toBeUndefined();
});

test("a room imports the rooms above it", () => {
  const allowed = 'import type { Store } from "../../run/store/store.ts";\nexport type Tasks = Store;\n';
  expect(complaint({ "src/run/store/store.ts": store, "src/plan/tasks/tasks.ts": allowed })).toBeUndefined();
});

test("the check of imports refuses an import of a room below, even of a type", () => {
  const upward = {
    "src/run/store/store.ts":
      'import type { Name } from "../../plan/tasks/name.ts";\nexport type Store = Name;\n',
    "src/plan/tasks/name.ts": "export type Name = string;\n",
  };
  expect(complaint(upward)).toContain(
    "error run-imports-rooms-above-it: src/run/store/store.ts → src/plan/tasks/name.ts",
  );
});

test("the check of imports refuses an import that a room's README does not allow, even of a type", () => {
  const circle = {
    "src/run/folder/run.ts": 'import type { Store } from "../store/store.ts";\nexport type Run = Store;\n',
    "src/run/folder/name.ts": "export type Name = string;\n",
    "src/run/store/store.ts": 'import type { Name } from "../folder/name.ts";\nexport type Store = Name;\n',
  };
  expect(complaint(circle)).toContain(
    "error run/store-imports-what-its-room-says: src/run/store/store.ts → src/run/folder/name.ts",
  );
});

test("the check of imports refuses modules of one folder that import each other's types", () => {
  const circle = {
    "src/run/store/key.ts": 'import type { Tree } from "./tree.ts";\nexport type Key = Tree[];\n',
    "src/run/store/tree.ts": 'import type { Key } from "./key.ts";\nexport type Tree = Key | string;\n',
  };
  expect(complaint(circle)).toContain("error no-cycles");
});

test("the check of imports refuses a room that architecture.md does not list", () => {
  const strange = 'import type { Store } from "../run/store/store.ts";\nexport type Strange = Store;\n';
  expect(complaint({ "src/run/store/store.ts": store, "src/attic/strange.ts": strange })).toContain(
    "each-room-is-on-the-page: src/attic/strange.ts",
  );
});

test("the check of imports refuses a folder that its room's README does not list", () => {
  const strange = 'import type { Store } from "../store/store.ts";\nexport type Strange = Store;\n';
  expect(complaint({ "src/run/store/store.ts": store, "src/run/attic/strange.ts": strange })).toContain(
    "each-folder-is-in-its-rooms-table: src/run/attic/strange.ts",
  );
});

test("the check of imports refuses tables whose order has a cycle", () => {
  const upwardRoom = page.replace(/^(\| \[`src\/chat\/.*) contracts, base \|$/m, "$1 contracts, base, run |");
  expect(complaint({ "src/run/store/store.ts": store, [pageName]: upwardRoom })).toContain(
    "docs/architecture.md: run/ is not above chat/",
  );
  const upwardFolder = roomPage.replace(/^(\| `versions\/`.*) store \|$/m, "$1 store, folder |");
  expect(complaint({ "src/run/store/store.ts": store, [roomName]: upwardFolder })).toContain(
    "src/run/README.md: folder/ is not above versions/",
  );
});

test("every entry point in a room's README exists", () => {
  const named = globSync("src/*/README.md", { cwd: root }).flatMap((readme) =>
    [...readFileSync(join(root, readme), "utf8").matchAll(/^\| `([a-z/-]+\.ts)`/gm)].map(([, path = ""]) => ({
      readme,
      path,
    })),
  );
  expect(named.length).toBeGreaterThan(40);
  const missing = named.filter(({ readme, path }) => !existsSync(join(root, dirname(readme), path)));
  expect(missing).toEqual([]);
});
