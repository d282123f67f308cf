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

/** The filter in the fields of a list, without the condition. */
export function listFilter({ stage, task, outcome, tool }: AskedList): TrajectoryFilter {
  return defined({
    stage: stage === "" ? undefined : stage,
    task: task === "" ? undefined : task,
    outcome: isOutcome(outcome) ? outcome : undefined,
    tool: tool === "" ? undefined : tool,
  });
}

/** The query for a list's table in DuckDB. */
export function tableQuery(asked: AskedList): Query {
  const { where, sort, page } = asked;
  return defined({
    where: where === "" ? undefined : where,
    sort: sort === "" ? undefined : sort,
    only: conditions(listFilter(asked)),
    limit: rowsOfPage,
    skip: (page - 1) * rowsOfPage,
  });
}

function isOutcome(text: string): text is NonNullable<TrajectoryFilter["outcome"]> {
  return Object.hasOwn(outcomes, text);
}
