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
 * Has what Temporal's SDK logs in this process exported as well as written. To be called before the SDK's first connection. The plugin
 * that it gives is a worker's last one: it names the span in the lines of an activity.
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

/** How an activity ended is logged when its span is no longer active. */
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
