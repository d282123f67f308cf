// Writes src/contracts/generated/*.ts from schemas/*.schema.json, and config.ts of a plugin from its manifest; with
// --check, fails if a file is not up to date.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compile, type JSONSchema } from "json-schema-to-typescript";

const root = join(import.meta.dirname, "..");
const schemas = join(root, "schemas");
const target = join(root, "src", "contracts", "generated");
/** Plugins with a type of their configuration, by their folder. */
const plugins = new Map([
  ["trainer-onnx", "TrainerConfig"],
  ["trainer-tinker", "TrainerConfig"],
]);

/** Types that a generated file may import, and from where. */
const imports = new Map([
  ["JsonObject", "../json.ts"],
  ["JsonValue", "../json.ts"],
  ["Task", "./task.ts"],
  ["DemonstrationMessage", "./demonstration.ts"],
]);

/** What references to other schemas stand for. */
const others = new Map([
  ["task.schema.json", "Task"],
  ["demonstration.schema.json#/definitions/DemonstrationMessage", "DemonstrationMessage"],
]);

/**
 * JSON.parse's reviver: free-form values become the types of src/contracts/json.ts, a reference to another schema
 * an import, what has a default is there (the types describe validated values), and titles, which serve editors,
 * are dropped: interfaces are named after their definition.
 */
function prepare(key: string, value: unknown): unknown {
  if (key === "title" && typeof value === "string") return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if ("if" in value) return eitherOf(value);
  if ("$ref" in value) {
    const {
      title: _title,
      description: _description,
      ...reference
    } = { title: "", description: "", ...value };
    const type = others.get(String(value.$ref));
    return type === undefined ? reference : { tsType: type };
  }
  const open = "additionalProperties" in value && value.additionalProperties === true;
  if (isInterface(value)) {
    if ("allOf" in value) delete value.allOf; // what it requires besides is checked, and no type
    const required = [...(value.required ?? []), ...defaulted(value.properties)];
    const further = "$id" in value ? "unknown" : "JsonValue"; // of a whole row: columns of any kind
    return { ...value, required, additionalProperties: open ? { tsType: further } : false };
  }
  if (!open) return value;
  const free = "type" in value && Array.isArray(value.type) ? "JsonObject | string" : "JsonObject";
  return { description: "description" in value ? value.description : undefined, tsType: free };
}

/** A name alone, or what is said of it, is read in the second form: names are expanded. A list, or one, stays either. */
function eitherOf(node: object): unknown {
  const [form, one, other] = ["if", "then", "else"].map((key) => Reflect.get(node, key));
  if (!isReference(other)) return {};
  const isEither = form?.type === "array" || form?.required !== undefined;
  return isEither && isReference(one) ? { anyOf: [one, other] } : other;
}

function isReference(node: unknown): node is { $ref: string } {
  return typeof node === "object" && node !== null && "$ref" in node;
}

function isInterface(node: object): node is { properties: Record<string, unknown>; required?: string[] } {
  return "properties" in node && typeof node.properties === "object";
}

function defaulted(properties: Record<string, unknown>): string[] {
  return Object.entries(properties).flatMap(([name, node]) =>
    typeof node === "object" && node !== null && "default" in node ? [name] : [],
  );
}

async function generate(file: string): Promise<string> {
  const text = await readFile(join(schemas, file), "utf8");
  const { title }: { title: string } = JSON.parse(text);
  const types = await typesOf(text, title);
  const used = [...imports].filter(
    ([name]) => new RegExp(`[:|=] ${name}\\b`).test(types) && !new RegExp(`interface ${name}\\b`).test(types),
  );
  const lines = used.map(([name, from]) => `import type { ${name} } from "${from}";\n`);
  return `${bannerOf(`schemas/${file}`)}${lines.join("")}\n${types}\n`;
}

/** The type of a plugin's configuration, and its defaults, which a plan of an earlier release may lack. */
async function generateConfig(plugin: string, title: string): Promise<string> {
  const file = `plugins/${plugin}/everturn.plugin.json`;
  const { config } = JSON.parse(await readFile(join(root, file), "utf8"));
  const types = await typesOf(JSON.stringify(config), title);
  const lines = Object.entries<{ default?: unknown }>(config.properties).flatMap(([name, node]) =>
    node.default === undefined ? [] : [`  ${name}: ${JSON.stringify(node.default)},\n`],
  );
  const defaults = `/** What the schema fills in. */\nexport const defaults = {\n${lines.join("")}} satisfies Partial<${title}>;\n`;
  return `${bannerOf(file)}\n${types}\n\n${defaults}`;
}

async function typesOf(text: string, title: string): Promise<string> {
  const schema: JSONSchema = JSON.parse(text, prepare);
  delete schema.$id;
  delete schema.allOf;
  const types = await compile(schema, title, {
    bannerComment: "",
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    style: { printWidth: 110 },
  });
  return types.trim();
}

function bannerOf(source: string): string {
  return `// Generated from ${source} by scripts/generate-types.ts: change the schema instead.\n`;
}

const check = process.argv.includes("--check");
const stale: string[] = [];
await mkdir(target, { recursive: true });
const files = [
  ...(await readdir(schemas)).sort().map((file) => ({
    path: join(target, file.replace(".schema.json", ".ts")),
    text: () => generate(file),
  })),
  ...[...plugins].map(([plugin, title]) => ({
    path: join(root, "plugins", plugin, "config.ts"),
    text: () => generateConfig(plugin, title),
  })),
];
for (const { path, text } of files) {
  const wanted = await text();
  if (wanted === (await readFile(path, "utf8").catch(() => ""))) continue;
  stale.push(path);
  if (!check) await writeFile(path, wanted);
}
for (const path of stale) console.log(`${check ? "not up to date" : "written"}: ${path}`);
if (check && stale.length > 0) {
  console.error("Run `node scripts/generate-types.ts` and commit what it writes.");
  process.exitCode = 1;
}
