import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { Vocabulary } from "../tokens/vocabulary.ts";
import type { TokenConstraint } from "./token-constraint.ts";
import { loadXgrammar } from "./xgrammar.ts";

/** Creates the constraint of an action from the tools that it may call. */
export type ToolCallGrammar = (tools: readonly ToolDefinition[]) => Promise<TokenConstraint>;

const open = "<tool_call>";

/**
 * Constrains tool calls in Hermes' format. Text is free up to <tool_call>. Then only a call of one of the tools can
 * follow, with arguments that its schema accepts, up to </tool_call>. Special tokens other than the stop tokens never
 * occur. Without tools, <tool_call> is plain text.
 */
export async function createToolCallGrammar(
  vocabulary: Vocabulary,
  size: number,
  stopTokens: readonly number[],
): Promise<ToolCallGrammar> {
  const { TokenizerInfo, GrammarCompiler, GrammarMatcher } = loadXgrammar();
  // The library never allows tokens that it considers empty, except stop tokens.
  const tokens = vocabulary.tokens.map((token, id) => (vocabulary.special.has(id) ? "" : token));
  for (const [id, token] of vocabulary.tokens.entries()) {
    if (token === open || token === "</tool_call>") tokens[id] = token;
  }
  const info = await TokenizerInfo.createTokenizerInfo(tokens, vocabulary.encoding, false, size, [
    ...stopTokens,
  ]);
  const compiler = await GrammarCompiler.createGrammarCompiler(info);

  return async (tools) => {
    // The compiler caches its results.
    const grammar = await compiler.compileStructuralTag(toolCallFormat(tools)).catch((cause: unknown) => {
      const names = tools.map(({ name }) => name).join(", ");
      const reason = messageOf(cause);
      throw new EverturnError("TOOL_GRAMMAR_FAILED", { tools: names, reason }, { cause });
    });
    const matcher = await GrammarMatcher.createGrammarMatcher(grammar);
    let disposed = false;
    return {
      allowed: () => matcher.getNextTokenBitmask(),
      accept: (token) => void matcher.acceptToken(token),
      dispose() {
        if (!disposed) matcher.dispose();
        disposed = true;
      },
    };
  };
}

/** Returns the library's structural tag for actions with calls of these tools. */
function toolCallFormat(tools: readonly ToolDefinition[]) {
  if (tools.length === 0) return { type: "structural_tag", format: { type: "any_text" } };
  const tags = tools.map(({ name, parameters }) => ({
    type: "tag",
    begin: `${open}\n{"name": ${JSON.stringify(name)}, "arguments": `,
    content: { type: "json_schema", json_schema: parameters },
    end: "}\n</tool_call>",
  }));
  return { type: "structural_tag", format: { type: "triggered_tags", triggers: [open], tags } };
}
