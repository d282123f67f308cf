import { defined } from "../../base/records/defined.ts";
import { outcomes } from "../../contracts/outcomes.ts";
import type { TrajectoryFilter } from "../../control/operations/list-trajectories.ts";
import { conditions } from "../../control/operations/query-trajectories.ts";
import type { Query } from "../../results/table/open-query.ts";

/** The query of a list of trajectories in its address; "" means none. */
export interface AskedList {
  where: string;
  stage: string;
  task: string;
  outcome: string;
  tool: string;
  sort: string;
  page: number;
}

/** Rows per page. */
export const rowsOfPage = 50;

/** Reads the query in a list's address. */
export function askedList(read: (name: string) => string | undefined): AskedList {
  const text = (name: string) => read(name)?.trim() ?? "";
  const page = Number(read("page") ?? "1");
  return {
    where: text("where"),
    stage: text("stage"),
    task: text("task"),
    outcome: text("outcome"),
    tool: text("tool"),
    sort: text("sort"),
    page: Number.isInteger(page) && page > 0 ? page : 1,
  };
}

/** The query for a list's table. */
export function tableQuery({ where, stage, task, outcome, tool, sort, page }: AskedList): Query {
  const filter: TrajectoryFilter = defined({
    stage: stage === "" ? undefined : stage,
    task: task === "" ? undefined : task,
    outcome: isOutcome(outcome) ? outcome : undefined,
    tool: tool === "" ? undefined : tool,
  });
  return defined({
    where: where === "" ? undefined : where,
    sort: sort === "" ? undefined : sort,
    only: conditions(filter),
    limit: rowsOfPage,
    skip: (page - 1) * rowsOfPage,
  });
}

function isOutcome(text: string): text is NonNullable<TrajectoryFilter["outcome"]> {
  return Object.hasOwn(outcomes, text);
}
