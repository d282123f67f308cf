import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const pageName = "docs/architecture.md";
const page = readFileSync(join(root, pageName), "utf8");

/** What the check of imports says of a house with these files and this page; undefined if it finds nothing. */
function complaint(files: Record<string, string>, text: string = page): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "everturn-house-"));
  for (const [name, content] of Object.entries({ ...files, [pageName]: text })) {
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

test("a folder of src imports what the page says it may", () => {
  const allowed = 'import type { Store } from "../store/store.ts";\nexport type Run = Store;\n';
  expect(complaint({ "src/store/store.ts": store, "src/runs/run.ts": allowed })).toBeUndefined();
});

test("the check of imports refuses a circle of folders, made of types though it is", () => {
  const circle = {
    "src/runs/run.ts": 'import type { Store } from "../store/store.ts";\nexport type Run = Store;\n',
    "src/runs/name.ts": "export type Name = string;\n",
    "src/store/store.ts": 'import type { Name } from "../runs/name.ts";\nexport type Store = Name;\n',
  };
  expect(complaint(circle)).toContain(
    "error store-sees-what-is-above-it: src/store/store.ts → src/runs/name.ts",
  );
});

test("the check of imports refuses modules of one folder that import each other's types", () => {
  const circle = {
    "src/store/key.ts": 'import type { Tree } from "./tree.ts";\nexport type Key = Tree[];\n',
    "src/store/tree.ts": 'import type { Key } from "./key.ts";\nexport type Tree = Key | string;\n',
  };
  expect(complaint(circle)).toContain("error no-cycles");
});

test("the check of imports refuses a folder that is not on the page, and a page whose order is not one", () => {
  const strange = 'import type { Store } from "../store/store.ts";\nexport type Strange = Store;\n';
  const files = { "src/store/store.ts": store, "src/attic/strange.ts": strange };
  expect(complaint(files)).toContain("each-folder-is-on-the-page: src/attic/strange.ts");
  const turned = page.replace(/^(\| `src\/files\/` .*) processes \|$/m, "$1 processes, runs |");
  expect(complaint({ "src/store/store.ts": store }, turned)).toContain("src/runs/ is not above src/files/");
});
