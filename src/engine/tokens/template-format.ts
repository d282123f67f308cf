import { detectFormat } from "../../chat/formats/detect-format.ts";
import type { FormatName } from "../../contracts/format-name.ts";
import { compileChatTemplate } from "./chat-template.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** The action format in which a tokenizer's chat template writes calls; undefined if it writes none, or in none that is known. */
export function templateFormat({ chatTemplate, specialTokens }: Tokenizer): FormatName | undefined {
  return detectFormat(compileChatTemplate(chatTemplate, specialTokens))?.name;
}
