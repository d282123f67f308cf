import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { loadTokenizer } from "../../engine/tokens/tokenizer.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { inPart } from "../../run/store/tree-part.ts";
import { policyPart } from "../../run/versions/version-parts.ts";

/**
 * Returns a function that decodes single tokens with version 0's tokenizer, which all versions share; undefined if
 * it can't be read.
 */
export async function tokenTexts({
  plan,
  store,
}: Pick<OpenRun, "plan" | "store">): Promise<((token: number) => string) | undefined> {
  try {
    const tokenizer = await inPart(store, policyPart(plan, 0), loadTokenizer);
    return (token) => tokenizer.decode([token]);
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    return undefined;
  }
}
