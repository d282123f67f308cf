import { createRequire } from "node:module";
import packageJson from "../../../package.json" with { type: "json" };
import { EverturnError } from "../errors/everturn-error.ts";
import type { Telemetry } from "./open-telemetry.ts";

const signals = ["TRACES", "METRICS", "LOGS"] as const;

/** Whether the usual environment variables request an export by OTLP (over HTTP, protobuf). */
export function telemetryIsOn(): boolean {
  return signals.some(isExported);
}

function isExported(signal: (typeof signals)[number]): boolean {
  const { env } = process;
  const endpoint = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return env.OTEL_SDK_DISABLED !== "true" && env[`OTEL_${signal}_EXPORTER`] !== "none" && Boolean(endpoint);
}

/** Optional peer dependencies of Everturn, because most runs don't need them. */
const packages = Object.entries(packageJson.peerDependencies).filter(([name]) => /opentelemetry/.test(name));

/**
 * Throws TELEMETRY_PACKAGES_MISSING if a run has telemetry but its packages are not installed. `modules` is the URL
 * of the module that needs them; default: this one.
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
 * Starts OpenTelemetry for a process of a run that was created with telemetry (`isOn`). When such a run resumes
 * without the environment variables, it keeps its interceptors, so that histories stay the same, but exports
 * nothing. Without `isOwn`, the process belongs to someone else, and traces only travel through it. OpenTelemetry is
 * loaded here, because it takes a third of a process's load time. Throws TELEMETRY_PACKAGES_MISSING.
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
