import type { Approval } from "../../contracts/approval.ts";

/** What became of a call that waited for a person, as it is told. */
export const approvalText: Record<Approval["decision"], string> = {
  approved: "approved by a person",
  edited: "edited by a person",
  answered: "answered by a person",
  denied: "denied by a person",
  "timed-out": "not decided in time",
};
