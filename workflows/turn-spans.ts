import { context, type Span, trace } from "@opentelemetry/api";

/** A span for each turn, as the parent of its activities' spans. Does nothing without telemetry. */
export interface Spans {
  begin(turn: number): void;
  within<T>(work: () => T): T;
  end(): void;
}

/** The spans of a trajectory's turns. */
export function turnSpans(): Spans {
  const outer = context.active();
  let span: Span | undefined;
  return {
    begin: (turn) => {
      span?.end();
      span = trace.getTracer("everturn").startSpan(`turn ${turn}`, { attributes: { turn } }, outer);
    },
    within: (work) => (span === undefined ? work() : context.with(trace.setSpan(outer, span), work)),
    end: () => span?.end(),
  };
}
