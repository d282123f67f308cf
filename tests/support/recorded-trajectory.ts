import { type Endpoint, startEndpoint } from "../../src/chat/openai/endpoint-server.ts";
import { agentCallsRow } from "../../src/run/store/keys.ts";
import { openRunStore } from "../../src/run/store/open-run-store.ts";
import { readRow } from "../../src/run/store/row.ts";
import { type KeptResults, openAgentCalls } from "../../src/work/agents/agent-calls.ts";
import { recordedCallPaths } from "../../src/work/agents/recorded-call-paths.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const place = { id: "r/step-0001/t/0", run: "r", stage: "step-0001", step: 1, task: "t", sample: 0 };

/** A trajectory whose calls are recorded. This process plays its agent's processes, one after the other; the test calls `stopAgent` after each. */
export function recordedTrajectory() {
  const store = openRunStore(temporaryFolder());
  return {
    records: () => readRow(store, agentCallsRow(place)),
    /** Starts a process of the agent after `turns` recorded turns. */
    start: async (turns = 0) => {
      await stopAgent();
      const calls = await openAgentCalls(place, store, turns);
      let now = turns;
      const session = {
        begin: calls.begin,
        end: (id: End[0], outcome: End[1]) => calls.end(id, outcome, now),
      };
      endpoint = await startEndpoint({
        answer: async () => Promise.reject(new Error("no model here")),
        authenticate: (key) => key,
        models: [],
        log: () => {},
        others: recordedCallPaths(() => session),
      });
      const { url: OPENAI_BASE_URL } = endpoint;
      Object.assign(process.env, { OPENAI_BASE_URL, OPENAI_API_KEY: "key", EVERTURN_TRAJECTORY: place.id });
      return { ...calls, url: OPENAI_BASE_URL, onTurn: () => void now++ };
    },
  };
}

type End = Parameters<KeptResults["end"]>;

let endpoint: Endpoint | undefined;

/** Ends the process that `start` began. */
export async function stopAgent(): Promise<void> {
  await endpoint?.close();
  endpoint = undefined;
  for (const name of ["OPENAI_BASE_URL", "OPENAI_API_KEY", "EVERTURN_TRAJECTORY"]) delete process.env[name];
}
