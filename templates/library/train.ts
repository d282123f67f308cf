// npm start: trains the pipeline of this folder and reads the recorded trajectories.
import { createRun, loadPipeline } from "everturn";

const pipeline = await loadPipeline("pipeline.yaml");
const run = await createRun(pipeline);

const result = await run.train({
  onEvent(event) {
    if (event.type === "note") console.log(event.text);
    if (event.type === "evaluation") console.log(`held-out tasks: ${percent(event.record.accuracy)} right`);
    if (event.type === "step") {
      const { step, successRate = 0, toolCallRate = 0 } = event.record;
      console.log(
        `step ${step}: ${percent(successRate)} right, ${percent(toolCallRate)} looked the price up`,
      );
    }
  },
});
console.log(`held-out accuracy: ${percent(result.accuracyBefore)} → ${percent(result.accuracyAfter)}`);

// One of the trajectories that called the tool and earned the reward, turn by turn.
for await (const { id } of run.trajectories({ tool: "price", minReward: 1 })) {
  const { turns } = await run.trajectory(id);
  console.log(id);
  for (const { action, toolCalls } of turns)
    console.log(`  ${action}`, ...toolCalls.map(({ observation }) => `→ ${observation}`));
  break;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
