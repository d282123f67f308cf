import { trace } from "@opentelemetry/api";
import {
  type ActivityInterceptorsFactory,
  DefaultLogger,
  Runtime,
  type WorkerPlugin,
} from "@temporalio/worker";
import { defined } from "../../base/records/defined.ts";
import { tellLog } from "../../base/telemetry/logs.ts";

/**
 * Exports the logs of Temporal's SDK in this process in addition to writing them. Call it before the SDK's first
 * connection. The returned plugin must be a worker's last one, and adds the span to an activity's lines.
 */
export function exportSdkLogs(): WorkerPlugin {
  const written = new DefaultLogger("INFO");
  const logger = new DefaultLogger("INFO", ({ level, message, meta }) => {
    written.log(level, message, meta);
    tellLog(defined({ level, message, attributes: meta }));
  });
  Runtime.install({ logger });
  return {
    name: "everturn-logs",
    configureWorker: ({ interceptors, ...options }) => ({
      ...options,
      interceptors: { ...interceptors, activity: [...(interceptors?.activity ?? []), remembersSpan] },
    }),
  };
}

/** Remembers the span, because the SDK logs the end of an activity when its span is no longer active. */
const remembersSpan: ActivityInterceptorsFactory = () => {
  let span: Record<string, string> = {};
  return {
    inbound: {
      execute(input, next) {
        const { traceId, spanId, traceFlags } = trace.getActiveSpan()?.spanContext() ?? {};
        if (traceId !== undefined && spanId !== undefined)
          span = { trace_id: traceId, span_id: spanId, trace_flags: `0${traceFlags?.toString(16)}` };
        return next(input);
      },
    },
    outbound: { getLogAttributes: (input, next) => next({ ...span, ...input }) },
  };
};
