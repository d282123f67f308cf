import demonstrationSchema from "../../../../schemas/demonstration.schema.json" with { type: "json" };
import { isEverturnError } from "../../../base/errors/everturn-error.ts";
import { parseJsonLines, standsAs } from "../../../base/validation/json-lines.ts";
import { displayPath } from "../../../base/validation/place.ts";
import { type Problem, refusal } from "../../../base/validation/problem.ts";
import { readText } from "../../../base/validation/read-text.ts";
import { validatorOf } from "../../../base/validation/validator.ts";
import type { Demonstration } from "../../../contracts/generated/demonstration.ts";
import { type DemonstratedChat, demonstratedChat } from "./demonstrated-chat.ts";
import { placeOfRow } from "./row-problems.ts";
import { noRowTools, type RowTools } from "./row-tools.ts";

const validator = validatorOf<Demonstration>(demonstrationSchema);

/**
 * Reads a demonstrations file (JSON Lines), by default without the tools of its rows. Throws WRONG_CONFIGURATION with
 * line and column of each bad row.
 */
export async function readDemonstrations(
  path: string,
  rowTools: RowTools = noRowTools,
): Promise<DemonstratedChat[]> {
  const rows = parseJsonLines(readText(path), path, validator());
  const problems: Problem[] = [];
  const chats = rows.flatMap((row) => {
    const place = placeOfRow(row, displayPath(path));
    try {
      return [standsAs(row, demonstratedChat(row, place.text, rowTools))];
    } catch (error) {
      if (!isEverturnError(error)) throw error;
      problems.push({ place, error });
      return [];
    }
  });
  if (problems.length > 0) throw refusal(displayPath(path), problems);
  return chats;
}
