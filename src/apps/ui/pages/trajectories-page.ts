import type { DuckDBValue } from "@duckdb/node-api";
import { isEverturnError } from "../../../base/errors/everturn-error.ts";
import { duration, grouped, number } from "../../../base/text/format.ts";
import { outcomes } from "../../../contracts/outcomes.ts";
import { trajectoryId } from "../../../contracts/trajectory-id.ts";
import { toolDefinitions } from "../../../plan/pipeline/resolve/tool-definitions.ts";
import { type Html, html, nothing, prose } from "../../../results/report/html.ts";
import { metricTitle } from "../../../results/report/metric-text.ts";
import { table } from "../../../results/report/table.ts";
import type { IndexRow } from "../../../results/table/run-index.ts";
import { sortTerms } from "../../../results/table/sort-terms.ts";
import { type QueryColumnName, queryColumns } from "../../../run/projections/query-columns.ts";
import type { TrajectoryName } from "../../../run/store/keys.ts";
import { choice, textField } from "../form.ts";
import { document, runHeading } from "../layout.ts";
import { runPath, trajectoryPath, withQuery } from "../paths.ts";
import { canSort, queryIndex } from "../query-index.ts";
import { link } from "../table.ts";
import { type AskedList, listFilter, rowsOfPage, tableQuery } from "../trajectory-query.ts";
import type { ShownRun, UiContext } from "../ui-context.ts";
import { indexNote } from "./index-note.ts";

/** A value of a row, from an index or from DuckDB. */
type Value = IndexRow[Exclude<keyof IndexRow, "tools">] | DuckDBValue;

/** A column of the list: its title, and how to write its values. */
type Column = [title: string, cell: (value: Value, run: ShownRun) => string | Html];

const columns = {
  trajectory: [
    "trajectory",
    (id, run) => link(trajectoryPath(String(id)), String(id).slice(run.id.length + 1)),
  ],
  outcome: ["outcome", String],
  reward: ["reward", (value) => number(Number(value))],
  success: ["solved", (value) => (value === true ? "yes" : "no")],
  version: ["version", (value) => (value === null ? "–" : String(value))],
  turns: ["turns", String],
  tool_calls: ["tool calls", String],
  tool: ["tools", String],
  tokens: ["tokens", (value) => grouped(Number(value))],
  seconds: ["time", (value) => duration(Number(value))],
  failure: ["failure", (value) => (value === null ? "" : html`<span class="long">${String(value)}</span>`)],
  metrics: ["parts of the reward", metricsText],
} satisfies Partial<Record<QueryColumnName & keyof IndexRow, Column>>;

type Shown = keyof typeof columns;

const names = Object.keys(queryColumns).filter((name): name is Shown => Object.hasOwn(columns, name));

/** Columns that are hidden if no trajectory on the page has a value in them. */
const optional: Shown[] = ["failure", "metrics"];

/**
 * A run's finished trajectories, filtered and sorted. Only conditions in SQL, and orders by columns that the index
 * lacks, need DuckDB. The page shows what is wrong with a condition next to it.
 */
export async function trajectoriesPage(context: UiContext, run: ShownRun, asked: AskedList): Promise<string> {
  const tools = toolDefinitions(run.plan).map(({ name }) => name);
  const form = html`<form class="filter" role="search">${textField("where", "condition, in SQL", { value: asked.where, hint: "reward < 0 and turns > 3", wide: true })}
${textField("stage", "stage", { value: asked.stage, hint: "step-0003" })}${textField("task", "task", { value: asked.task })}
${choice("outcome", "outcome", Object.keys(outcomes), asked.outcome, "any")}${choice("tool", "tool called", tools, asked.tool, "any")}
${textField("sort", "order", { value: asked.sort, hint: "reward desc, turns" })}<button>Filter</button></form>`;
  const help = html`<details><summary>Columns that conditions may name</summary>
<dl>${Object.entries(queryColumns).map(([name, { type, description }]) => html`<dt><code>${name}</code></dt><dd>${`${description} (${type})`}</dd>`)}</dl></details>`;
  const content = [runHeading(run.id, "Trajectories"), form, await found(context, run, asked), help];
  return document({ title: `Trajectories of ${run.id}`, content, unreadable: run.unreadable });
}

async function found(context: UiContext, run: ShownRun, asked: AskedList): Promise<Html> {
  try {
    const terms = asked.sort === "" ? [] : sortTerms(asked.sort);
    if (asked.where !== "" || !canSort(terms)) {
      const { rows, total } = await context.tables.use(run, (opened) => opened.ask(tableQuery(asked), names));
      return list(run, asked, rows, total);
    }
    const index = await context.indexes.of(run);
    if (!index.isComplete) return indexNote(run.id, index);
    const part = { skip: (asked.page - 1) * rowsOfPage, limit: rowsOfPage };
    const { rows, total } = await queryIndex(index.rows, listFilter(asked), terms, part);
    const cells = rows.map((row) => names.map((name) => row[name]));
    return html`${list(run, asked, cells, total)}${unfinished(run, index.running)}`;
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    return html`<p class="problem" role="alert">${prose(error.message)}</p>`;
  }
}

function isFiltered({ where, stage, task, outcome, tool }: AskedList): boolean {
  return [where, stage, task, outcome, tool].some((value) => value !== "");
}

/** The most trajectories in progress to link to. */
const mostUnfinished = 50;

/** Links to the trajectories in progress, which the list lacks. */
function unfinished(run: ShownRun, running: readonly TrajectoryName[]): Html {
  if (running.length === 0) return nothing;
  const links = running.slice(0, mostUnfinished).map((name) => {
    const id = trajectoryId({ ...name, run: run.id });
    return link(trajectoryPath(id), id.slice(run.id.length + 1));
  });
  const rest = running.length - links.length;
  const more = rest > 0 ? `and ${grouped(rest)} more` : "";
  const title = run.isLive ? "Running now" : "Not finished";
  return html`<h2>${title}: ${grouped(running.length)}</h2><p class="pages">${links}${more}</p>`;
}

function list(run: ShownRun, asked: AskedList, rows: readonly Value[][], total: number): Html {
  const to = (change: Partial<AskedList>) =>
    withQuery(runPath(run.id, "trajectories"), { ...asked, page: 1, ...change });
  const from = (asked.page - 1) * rowsOfPage;
  const shown = `${grouped(Math.min(from + 1, total))} to ${grouped(from + rows.length)} of ${grouped(total)}`;
  const pages = (label: string) =>
    html`<nav class="pages" aria-label="${label}"><span role="status">${shown}</span>${asked.page > 1 ? [link(to({ page: asked.page - 1 }), "← previous")] : []}${from + rows.length < total ? [link(to({ page: asked.page + 1 }), "next →")] : []}</nav>`;
  const filled = names.filter(
    (name, index) => !optional.includes(name) || rows.some((values) => !isEmpty(values[index])),
  );
  const titles = filled.map((name) => {
    const [title] = columns[name];
    if (name === "metrics") return title;
    const isUp = asked.sort === name || asked.sort === `${name} asc`;
    const mark = isUp ? " ↑" : asked.sort === `${name} desc` ? " ↓" : "";
    return link(to({ sort: isUp ? `${name} desc` : name }), `${title}${mark}`);
  });
  const cells = rows.map((values) =>
    filled.map((name) => {
      const [, cell]: Column = columns[name];
      return cell(values[names.indexOf(name)] ?? null, run);
    }),
  );
  if (total === 0)
    return html`<p class="empty">${isFiltered(asked) ? "No finished trajectory matches. Try fewer filters." : "No trajectory has ended yet."}</p>`;
  return html`${pages("Pages")}${table("Trajectories", titles, cells)}${pages("Pages, below the table")}`;
}

function isEmpty(value: Value | undefined): boolean {
  return value === undefined || value === null;
}

function metricsText(value: Value): string {
  return partsOf(value)
    .map(([name, part]) => `${metricTitle(name)} ${number(part)}`)
    .join(" · ");
}

/** Names and values of metrics. DuckDB has a list of entries, and an index has an object. */
function partsOf(value: Value): [string, number][] {
  if (typeof value !== "object" || value === null) return [];
  if ("entries" in value && Array.isArray(value.entries))
    return value.entries.map((entry) => [String(entry.key), Number(entry.value)]);
  return Object.entries(value).map(([name, part]) => [name, Number(part)]);
}
