import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isThere } from "../../base/files/is-there.ts";
import { isObject } from "../../contracts/json.ts";
import { invalidTokenizer } from "./json-file.ts";

/** The folder in which transformers keeps templates in addition to chat_template.jinja. */
const folderOfOthers = "additional_chat_templates";

/**
 * Reads a folder's chat template, chosen as transformers does. chat_template.jinja takes precedence over the template
 * in tokenizer_config.json, which may be a list of named ones. If there are several, returns one template that renders
 * `tool_use` with tools and `default` without. Throws TOKENIZER_INVALID.
 */
export async function readChatTemplate(folder: string, config: Record<string, unknown>): Promise<string> {
  const templates = namedTemplates(config.chat_template);
  const file = join(folder, "chat_template.jinja");
  if (isThere(file)) templates.set("default", await readFile(file, "utf8"));
  if (isThere(join(folder, folderOfOthers))) {
    for (const name of await readdir(join(folder, folderOfOthers))) {
      if (!name.endsWith(".jinja")) continue;
      templates.set(
        name.slice(0, -".jinja".length),
        await readFile(join(folder, folderOfOthers, name), "utf8"),
      );
    }
  }
  const [usual, withTools] = [templates.get("default"), templates.get("tool_use")];
  if (usual !== undefined && withTools !== undefined) return eitherTemplate(withTools, usual);
  const only = usual ?? withTools;
  if (only !== undefined) return only;
  const reason =
    templates.size === 0
      ? "there is no chat template in tokenizer_config.json or chat_template.jinja"
      : `of the chat templates ${[...templates.keys()].join(", ")} none is named default or tool_use`;
  throw invalidTokenizer(folder, reason);
}

function namedTemplates(value: unknown): Map<string, string> {
  if (typeof value === "string") return new Map([["default", value]]);
  const entries = Array.isArray(value) ? value.filter(isObject) : [];
  return new Map(entries.map(({ name, template }) => [String(name), String(template)]));
}

/** The tags remove the line break after them, and + keeps the white space before them. */
function eitherTemplate(withTools: string, usual: string): string {
  const [first, second] = [withTools, usual].map((template) =>
    template.replace(/\r\n?|\n$/g, (end, at: number) => (at + end.length === template.length ? "" : "\n")),
  );
  return `{% if tools is not none %}\n${first}{%+ else %}\n${second}{%+ endif %}`;
}
