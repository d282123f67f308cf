// Builds what is published: `node scripts/build.ts [folder]` writes a folder for each package (`dist/` unless said).
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { publishedPage } from "./build/links.ts";
import { type Package, published, publishedManifest } from "./build/published.ts";

const root = join(import.meta.dirname, "..");
const target = resolve(process.argv[2] ?? join(root, "dist"));
const compiled = join(target, ".compiled");

rmSync(target, { recursive: true, force: true });
const compiler = join(root, "node_modules", "typescript-7", "bin", "tsc");
// Types are not checked again: `npm run check` does that.
const options = ["--project", join(root, "tsconfig.build.json"), "--noCheck", "--outDir", compiled];
const compile = (...others: string[]) =>
  execFileSync(process.execPath, [compiler, ...options, ...others], { stdio: "inherit" });
// Comments are for whoever reads types in an editor.
compile("--declaration", "false", "--removeComments");
compile("--emitDeclarationOnly");
const smaller = ["packages", "plugins"].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => join(folder, name)),
);
for (const folder of ["", ...smaller]) build(folder);
rmSync(compiled, { recursive: true });

/** A package in `folder` of the clone: what its `files` name, JavaScript in the place of TypeScript. */
function build(folder: string): void {
  const from = join(root, folder);
  const description: Package = readJson(join(from, "package.json"));
  const into = join(target, folder === "" ? description.name : basename(folder));
  mkdirSync(into, { recursive: true });
  const named = [...(description.files ?? []), "README.md", "LICENSE"];
  for (const name of named.filter((one) => existsSync(join(from, one))))
    cpSync(join(from, name), join(into, name), { recursive: true, filter: isNoSource });
  const modules = folder === "" ? named : ["."];
  for (const name of modules.filter((one) => existsSync(join(compiled, folder, one))))
    cpSync(join(compiled, folder, name), join(into, name), { recursive: true });
  if (folder !== "") cpSync(join(root, "LICENSE"), join(into, "LICENSE"));
  writeJson(join(into, "package.json"), published(description, folder, readJson(join(root, "package.json"))));
  const manifest = join(into, "everturn.plugin.json");
  if (existsSync(manifest)) writeJson(manifest, publishedManifest(readJson(manifest)));
  for (const page of globSync("**/*.md", { cwd: into })) {
    const text = readFileSync(join(into, page), "utf8");
    writeFileSync(
      join(into, page),
      publishedPage(text, page, (path) => existsSync(join(into, path))),
    );
  }
}

/** Templates and examples are published as TypeScript, because users copy them into their projects. */
function isNoSource(path: string): boolean {
  if (["templates", "pipelines"].some((folder) => path.startsWith(join(root, folder)))) return true;
  return !/\.(ts|wat)$/.test(path) && basename(path) !== "node_modules";
}

function readJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, "utf8"));
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
