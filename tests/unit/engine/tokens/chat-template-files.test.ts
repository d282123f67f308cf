import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compileChatTemplate } from "../../../../src/engine/tokens/chat-template.ts";
import { loadTokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const work = temporaryFolder();
const fixture = join(import.meta.dirname, "fixtures/tokenizer");
const tool = { name: "search", description: "", parameters: {} };
const [ends, message] = ["<|im_end|>", { role: "user", content: "hi" }];

/** A copy of the tokenizer with another tokenizer_config.json and more files. */
async function folderWith(name: string, config: object, files: Record<string, string> = {}): Promise<string> {
  const folder = join(work, name);
  await cp(fixture, folder, { recursive: true });
  await rm(join(folder, "special_tokens_map.json"), { force: true });
  await writeFile(join(folder, "tokenizer_config.json"), JSON.stringify(config));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(folder, file, ".."), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}

async function rendered(folder: string) {
  const { chatTemplate, specialTokens } = await loadTokenizer(folder);
  const render = compileChatTemplate(chatTemplate, specialTokens);
  return { alone: render([message], [], false), tools: render([message], [tool], false) };
}

test("line breaks of a template file are those of Python's text mode", async () => {
  const template = "{% for m in messages %}\r\n<{{ m.role }}>\r\n{{ m.content }}\r\n{% endfor %}\r\n";
  const folder = await folderWith("crlf", { eos_token: ends }, { "chat_template.jinja": template });
  expect((await rendered(folder)).alone).toBe("<user>\nhi\n");
});

test("of named templates tool_use is rendered with tools and default without", async () => {
  const chat_template = [
    { name: "default", template: "\nplain {{ messages[0].content }}\n  \n" },
    { name: "tool_use", template: "tools {{ tools|length }}\r\n  " },
    { name: "rag", template: "{{ documents }}" },
  ];
  const folder = await folderWith("named", { eos_token: ends, chat_template });
  expect(await rendered(folder)).toEqual({ alone: "\nplain hi\n  ", tools: "tools 1\n  " });
});

test("templates in additional_chat_templates stand beside chat_template.jinja", async () => {
  const files = { "chat_template.jinja": "plain", "additional_chat_templates/tool_use.jinja": "with tools" };
  const folder = await folderWith("additional", { eos_token: ends, chat_template: "old" }, files);
  expect(await rendered(folder)).toEqual({ alone: "plain", tools: "with tools" });
});

test("named templates without default or tool_use are refused by their names", async () => {
  const folder = await folderWith("rag", { eos_token: ends, chat_template: [{ name: "rag", template: "" }] });
  await expect(loadTokenizer(folder)).rejects.toThrow(
    "of the chat templates rag none is named default or tool_use",
  );
});

test.each([ends, { content: ends, special: true }])(
  "eos_token may stand in special_tokens_map.json alone: %j",
  async (eos) => {
    const name = `map-${typeof eos}`;
    const map = JSON.stringify({ eos_token: eos });
    const folder = await folderWith(
      name,
      { chat_template: "{{ messages }}" },
      { "special_tokens_map.json": map },
    );
    const { specialTokens } = await loadTokenizer(folder);
    expect(specialTokens.eos_token).toBe(ends);
    expect(await readFile(join(folder, "tokenizer_config.json"), "utf8")).not.toContain(ends);
  },
);
