/** The run's agent loops by the names of their plugins, which the bundler puts here (src/control/temporal/bundle-workflows.ts). */
declare module "@everturn/agent-loops" {
  const loops: Record<string, import("../src/contracts/loop.ts").AgentLoop>;
  export default loops;
}
