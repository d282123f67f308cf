import { detectFormat } from "../../chat/formats/detect-format.ts";
import type { FormatName } from "../../contracts/format-name.ts";
import { compileChatTemplate } from "./chat-template.ts";
import type { Tokenizer } from "./tokenizer.ts";

/**
 * Returns the action format in which a tokenizer's chat template writes calls; undefined if it writes none, or in an
 * unknown format.
 */
export function templateFormat({ chatTemplate, specialTokens }: Tokenizer): FormatName | undefined {
  return detectFormat(compileChatTemplate(chatTemplate, specialTokens))?.name;
}
