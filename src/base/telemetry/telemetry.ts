import { createRequire } from "node:module";
import packageJson from "../../../package.json" with { type: "json" };
import { EverturnError } from "../errors/everturn-error.ts";
import type { Telemetry } from "./open-telemetry.ts";

const signals = ["TRACES", "METRICS", "LOGS"] as const;

/** Whether the usual environment variables ask for an export by OTLP (over HTTP, protobuf). */
export function telemetryIsOn(): boolean {
  return signals.some(isExported);
}

function isExported(signal: (typeof signals)[number]): boolean {
  const { env } = process;
  const endpoint = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return env.OTEL_SDK_DISABLED !== "true" && env[`OTEL_${signal}_EXPORTER`] !== "none" && Boolean(endpoint);
}

/** Optional peers of Everturn: most runs do without them. */
const packages = Object.entries(packageJson.peerDependencies).filter(([name]) => /opentelemetry/.test(name));

/**
 * Throws TELEMETRY_PACKAGES_MISSING if a run has telemetry and its packages are not installed. `modules` is the URL of the module
 * that needs them; default: this one.
 */
export function checkTelemetry(isOn: boolean, modules: string = import.meta.url): void {
  if (!isOn) return;
  const { resolve } = createRequire(modules);
  const missing = packages.filter(([name]) => !isFound(resolve, name));
  if (missing.length === 0) return;
  throw new EverturnError("TELEMETRY_PACKAGES_MISSING", {
    missing: missing.map(([name]) => name).join(", "),
    install: missing.map(([name, range]) => `${name}@${range.replace("^", "")}`).join(" "),
  });
}

function isFound(resolve: NodeJS.RequireResolve, name: string): boolean {
  try {
    resolve(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts OpenTelemetry for a process of a run that was created with telemetry (`isOn`). Such a run keeps its
 * interceptors when it is resumed without the environment variables, and then exports nothing: histories stay the same.
 * Without `isOwn` the process is somebody else's, and traces are only carried. It is loaded only then: it takes a third of what else a process loads. Throws TELEMETRY_PACKAGES_MISSING.
 */
export async function startTelemetry(service: string, isOn: boolean, isOwn = true): Promise<Telemetry> {
  if (!isOn) return { plugins: [], exportsLogs: false, stop: async () => {} };
  checkTelemetry(isOn);
  const { openTelemetry } = await import("./open-telemetry.ts");
  return openTelemetry(service, {
    traces: isOwn && isExported("TRACES"),
    metrics: isOwn && isExported("METRICS"),
    logs: isOwn && isExported("LOGS"),
  });
}
