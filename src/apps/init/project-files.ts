import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import everturnPackage from "../../../package.json" with { type: "json" };
import toolPackage from "../../../templates/tool/package.json" with { type: "json" };
import { everturnFolder } from "../../base/processes/own-module.ts";

/** The packages of an agent of the AI SDK. */
const aiSdk = { "@ai-sdk/openai-compatible": "^3.0.92", ai: "^7.0.173", zod: "^4.6.7" };

/** The plugins for a training server. */
const trainingServer = { "@everturn/policy-tinker": "^0.1.0", "@everturn/trainer-tinker": "^0.1.0" };

/**
 * The folders of `templates/`, the scripts and the packages of each template. A later folder's file replaces an earlier
 * one's.
 */
const templates = {
  tool: { layers: ["tool"], scripts: {}, packages: {} },
  agent: { layers: ["tool", "agent"], scripts: {}, packages: aiSdk },
  loop: { layers: ["tool", "loop"], scripts: {}, packages: {} },
  library: { layers: ["tool", "library"], scripts: { start: "node train.ts" }, packages: {} },
  tinker: {
    layers: ["tool", "tinker"],
    scripts: { base: "everturn study base-study.yaml" },
    packages: trainingServer,
  },
};

/** The name of a template for a new project. */
export type Template = keyof typeof templates;

/** The names of the templates, the default first. */
export const templateNames: readonly string[] = Object.keys(templates);

/** The files of a new project, by their paths in it. `name` becomes its package's name. */
export function projectFiles(template: Template, name: string): Map<string, string> {
  const { layers, scripts: own, packages } = templates[template];
  const { scripts, dependencies } = toolPackage;
  const described = {
    ...toolPackage,
    name,
    scripts: { ...scripts, ...own },
    dependencies: { ...dependencies, everturn: `^${everturnPackage.version}`, ...packages },
  };
  return new Map([
    ...layers.flatMap(templateFiles),
    ...[...filesBelow(tokenizer)].map(([path, text]) => [join("tokenizer", path), text] as const),
    ["package.json", `${JSON.stringify(described, undefined, 2)}\n`],
  ]);
}

/** Byte-level: it can write any text. */
const tokenizer = join(everturnFolder, "pipelines", "calculator", "tokenizer");

/** The files of a folder of `templates/`, by their paths in a new project. */
export function templateFiles(folder: string): [string, string][] {
  return filesBelow(join(everturnFolder, "templates", folder));
}

/** `_name` becomes `.name` in a project, because npm publishes no .npmrc and no .gitignore. */
function filesBelow(folder: string): [string, string][] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    const named = relative(folder, path)
      .split(sep)
      .map((part) => part.replace(/^_/, "."));
    return [join(...named), readFileSync(path, "utf8")];
  });
}
