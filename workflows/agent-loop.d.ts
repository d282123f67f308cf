/** The run's agent loop, which the bundler puts here (src/temporal/bundle-workflows.ts). */
declare module "@everturn/agent-loop" {
  const loop: import("../src/contracts/loop.ts").AgentLoop;
  export default loop;
}

/** The name of its plugin. */
declare const AGENT_LOOP: string;
