import { grouped } from "../../../base/text/format.ts";
import type { PricedUsage, ServerForecast } from "../../../plan/pipeline/explain/server-usage.ts";
import { type Column, tableLines } from "./table.ts";

/** Lines about a training server: the most that the limits allow, and, after a probe, what its trajectories need. */
export function usageText(atMost: ServerForecast, measured?: ServerForecast): string[] {
  const right = (title: string): Column => ({ title, align: "right" });
  const columns = [{ title: "" }, ...["requests", "prefill", "sample", "train", "cost"].map(right)];
  const rows = [
    usageRow("  a step, at most", atMost.step),
    usageRow("  the run, at most", atMost.run),
    ...(measured
      ? [
          usageRow("  a step, as in the probe", measured.step),
          usageRow("  the run, as in the probe", measured.run),
        ]
      : []),
  ];
  const isPriced = atMost.step.cost !== undefined;
  return [
    "Requests to the training server, and tokens",
    ...tableLines(isPriced ? columns : columns.slice(0, -1), rows),
  ];
}

function usageRow(title: string, { requests, prefill, sample, train, cost }: PricedUsage): string[] {
  return [title, ...[requests, prefill, sample, train].map(grouped), ...(cost ? [costText(cost)] : [])];
}

function costText({ amount, currency }: NonNullable<PricedUsage["cost"]>): string {
  const digits = amount !== 0 && amount < 0.095 ? 4 : 2;
  return `${amount.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${currency}`;
}
