/** What a Temporal server has done so far. */
export interface ServerCounts {
  /** Requests of clients and workers. */
  requests: number;
  /** Transactions that wrote the state of workflows. */
  writes: number;
  /** Operations that Temporal Cloud would charge for. */
  actions: number;
}

/** Reads the counts of the dev server that printed `log`, from its metrics. */
export function serverCounts(log: string): () => Promise<ServerCounts> {
  const address = /Metrics:\s+(http\S+)/.exec(log)?.[1];
  if (address === undefined) throw new Error(`the server does not say where its metrics are: ${log}`);
  return async () => {
    const text = await (await fetch(address)).text();
    return {
      requests: sum(text, /^service_requests\{.*service_name="frontend".*\} (\S+)$/gm),
      writes: sum(
        text,
        /^persistence_requests\{.*operation="(?:Create|Update)WorkflowExecution".*\} (\S+)$/gm,
      ),
      actions: sum(text, /^action\{.*\} (\S+)$/gm),
    };
  };
}

function sum(text: string, counter: RegExp): number {
  return [...text.matchAll(counter)].reduce((total, [, value]) => total + Number(value), 0);
}
