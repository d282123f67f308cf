import type { AgentLoop } from "everturn/workflow";

// Where a clock goes on, this ends soon: in workflow code none does.
const end = Date.now() + 1;
while (Date.now() < end);

const waiting: AgentLoop = () => Promise.resolve("answered");

export default waiting;
