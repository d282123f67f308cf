import { grouped } from "../../../base/text/format.ts";
import type { SamplingForecast } from "../../../contracts/policy.ts";
import type { UpdateForecast } from "../../../contracts/trainer.ts";
import { type Column, tableLines } from "./table.ts";

/** A line about the memory for sampling. */
export function samplingText({ weights, images, keyValues }: SamplingForecast): string {
  const [least, most] = [megabytes(keyValues.least), megabytes(keyValues.most)];
  const seen = images === undefined ? "" : ` images ${megabytes(images)},`;
  return `Memory of the policy, about, in MB: weights ${megabytes(weights)},${seen} keys and values ${least === most ? most : `${least} to ${most}`}`;
}

/** Lines about the memory for updates, with a row for each length. */
export function forecastText(forecasts: readonly UpdateForecast[]): string[] {
  const [first] = forecasts;
  if (first === undefined) return [];
  const { of, count } = first;
  const rows = forecasts.map(({ tokens, usual, least }) => [
    `  ${grouped(tokens)}`,
    megabytes(least.bytes),
    usual === undefined ? "doesn't fit" : megabytes(usual.bytes),
    (usual ?? least).text,
  ]);
  const columns: Column[] = [
    { title: "  tokens of each" },
    { title: "at least", align: "right" },
    { title: "as memory is now", align: "right" },
    { title: "how" },
  ];
  return [
    `Memory of the trainer for an update on ${grouped(count)} ${of}, about, in MB`,
    ...tableLines(columns, rows),
    ...partsLine(first),
  ];
}

function partsLine({ tokens, usual, least }: UpdateForecast): string[] {
  const parts = Object.entries((usual ?? least).parts).map(([part, bytes]) => `${part} ${megabytes(bytes)}`);
  return [`  of which, with ${grouped(tokens)} tokens of each: ${parts.join(", ")}`];
}

function megabytes(bytes: number): string {
  return grouped(Math.ceil(bytes / 1e6));
}
