import pipelineSchema from "../../../../schemas/pipeline.schema.json" with { type: "json" };
import { defined } from "../../../base/records/defined.ts";
import type { Host } from "../../../contracts/generated/pipeline.ts";
import type { HostSettings, Plan } from "../../../contracts/plan.ts";
import { parseDuration } from "../read/duration.ts";

const { failures, pause, longestPause, patience } = pipelineSchema.definitions.Host.properties;

/** Converts the settings of a tool host in a pipeline. Times become milliseconds. */
export function hostSettings({ concurrency, rate, ...host }: Host): HostSettings {
  return defined({
    concurrency,
    rate,
    failures: host.failures,
    pause: parseDuration(host.pause),
    longestPause: parseDuration(host.longestPause),
    patience: parseDuration(host.patience),
  });
}

/** The plan's settings for a tool host, or the schema's defaults. */
export function settingsOfHost({ hosts }: Pick<Plan, "hosts">, name: string): HostSettings {
  return (
    hosts[name] ??
    hostSettings({
      failures: failures.default,
      pause: pause.default,
      longestPause: longestPause.default,
      patience: patience.default,
    })
  );
}
