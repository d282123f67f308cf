import { cp, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { loadPlan } from "../../../src/pipeline/load-plan.ts";
import { loadTool } from "../../../src/plugins/registry.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const readme = await readFile(join(root, "README.md"), "utf8");

/** The code blocks of a language, in order. */
function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, code]) => code ?? "",
  );
}

test("the README's pipeline and tool work as they are written", async () => {
  const folder = await mkdtemp(join(tmpdir(), "everturn-readme-"));
  const plugin = join(folder, "plugins", "tool-length");
  const pipelines = join(folder, "pipelines");
  const [pipeline = ""] = blocks("yaml");
  const [task = "", manifest = ""] = blocks("json");
  const [tool = ""] = blocks("ts");
  expect(tool.trimEnd().split("\n").length).toBeLessThan(30);
  await mkdir(plugin, { recursive: true });
  await cp(join(root, "pipelines", "calculator", "tokenizer"), join(pipelines, "calculator", "tokenizer"), {
    recursive: true,
  });
  await writeFile(join(pipelines, "lengths.yaml"), pipeline);
  for (const split of ["train", "val"]) await writeFile(join(pipelines, `lengths.${split}.jsonl`), task);

  const file = join(pipelines, "lengths.yaml");
  await expect(loadPlan(file)).rejects.toThrow("there is no plugin “tool-length”");

  await writeFile(join(plugin, "index.ts"), tool);
  await writeFile(join(plugin, "everturn.plugin.json"), manifest);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const plan = await loadPlan(file);
  const [resolved] = plan.tools;
  expect(resolved).toMatchObject({ name: "tool-length", retry: { maximumAttempts: 3 } });
  if (resolved === undefined) throw new Error("the plan has no tool");
  const { execute } = await loadTool(resolved);
  const call = {
    instance: "",
    key: "",
    attempt: 1,
    config: {},
    signal: new AbortController().signal,
    isReplay: false,
  };
  expect(await execute({ value: 3, from: "km", to: "m" }, call, undefined)).toEqual({ text: "3000" });
  expect(await execute({ value: 3, from: "ell", to: "m" }, call, undefined)).toMatchObject({ error: true });
});

test("docs/dependencies.md has a line for each dependency, and no other", async () => {
  const page = await readFile(join(root, "docs", "dependencies.md"), "utf8");
  const tables = page.slice(0, page.indexOf("## Beside npm"));
  const listed = [...tables.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  expect(listed).toEqual([
    ...Object.keys(packageJson.dependencies),
    ...Object.keys(packageJson.optionalDependencies),
    ...Object.keys(packageJson.devDependencies),
  ]);
});

test("links of the documentation lead somewhere", async () => {
  const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"];
  const targets = await Promise.all(
    pages.map(async (page) => [...(await readFile(join(root, page), "utf8")).matchAll(/\]\(([^)#]+)\)/g)]),
  );
  const local = targets.flat().flatMap(([, target = ""]) => (target.startsWith("http") ? [] : [target]));
  expect(local.length).toBeGreaterThan(10);
  for (const target of local)
    await expect(readFile(join(root, target)).catch((error) => error.code)).resolves.not.toBe("ENOENT");
});
