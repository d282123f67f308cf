import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Language } from "./sandbox.ts";

/** Throws SANDBOX_LANGUAGE_MISSING if a kind of sandboxes has no interpreter of a program's language. */
export function checkLanguage<Known extends Language>(
  kind: string,
  languages: readonly Known[],
  language: Language,
): asserts language is Known {
  if (languages.some((known) => known === language)) return;
  throw new EverturnError("SANDBOX_LANGUAGE_MISSING", { kind, language, languages: languages.join(", ") });
}
