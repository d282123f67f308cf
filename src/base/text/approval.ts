import type { Approval } from "../../contracts/approval.ts";

/** How texts describe a person's decision about a call. */
export const approvalText: Record<Approval["decision"], string> = {
  approved: "approved by a person",
  edited: "edited by a person",
  answered: "answered by a person",
  denied: "denied by a person",
  "timed-out": "not decided in time",
};
