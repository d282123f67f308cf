import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Plan } from "../../contracts/plan.ts";

/** Returns the error that a plan's trainer lacks a method that its examples need. */
export function trainerLacks({ trainer: { name } }: Plan, method: string): EverturnError {
  return new EverturnError("TRAINER_LACKS", { name, method });
}
