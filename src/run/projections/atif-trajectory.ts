import { defined } from "../../base/records/defined.ts";
import type { Atif, AtifAgent, AtifStep, AtifTotals } from "../../contracts/generated/atif.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { JsonObject } from "../../contracts/json.ts";
import { atifMetrics, type NamedSegments, namedSegments, segmentsTo } from "./atif-metrics.ts";
import { type AtifBody, promptSteps, type StepSettings, turnSteps } from "./atif-steps.ts";
import type { Detail, TrajectoryDetail } from "./trajectory-detail.ts";

/** Facts about a run that its trajectories in ATIF contain. */
export interface AtifSettings extends StepSettings {
  agent: AtifAgent;
}

/** A turn with its number, from 1, among all turns of its trajectory. */
interface Numbered {
  turn: Detail;
  number: number;
}

/** A conversation of a sub-agent, by the text that it begins with. */
interface Conversation {
  agent: string;
  begins: string;
  turns: Numbered[];
}

/**
 * A finished trajectory in Harbor's Agent Trajectory Interchange Format (ATIF 1.8). The conversation of each sub-agent
 * is a trajectory of its own, and an event refers to it. Turns that a fork shares with its origin are copied context.
 */
export function atifTrajectory(
  { id, turns, segments }: TrajectoryDetail,
  record: Trajectory,
  settings: AtifSettings,
): Atif {
  const known = namedSegments(segments);
  /** An endpoint that exchanges only text reveals neither tokens nor log-probabilities, which then are all 0. */
  const hasTokens = segments.some(({ logprobs = [] }) => logprobs.some((logprob) => logprob !== 0));
  const bodiesOf = ({ turn, number }: Numbered) => {
    const metrics = hasTokens ? atifMetrics(segmentsTo(known, turn.generated?.head)) : undefined;
    const isCopied = number <= (record.origin?.turns ?? 0);
    return turnSteps(turn, number, { metrics, isCopied, extra: stepExtra(turn, number, record) }, settings);
  };
  const subagents: Conversation[] = [];
  const bodies = promptSteps(turns[0]?.generated?.prompt ?? record.task.prompt, settings).map(
    (body): AtifBody => defined<AtifBody>({ ...body, timestamp: record.startedAt }),
  );
  for (const [index, turn] of turns.entries()) {
    const numbered = { turn, number: index + 1 };
    if (turn.agent === undefined) {
      bodies.push(...bodiesOf(numbered));
      continue;
    }
    const read = segmentsTo(known, turn.generated?.head);
    const begins = read[0]?.text ?? "";
    const begun = subagents.findLast((one) => one.agent === turn.agent && one.begins === begins);
    if (begun !== undefined && read.length > 2) {
      begun.turns.push(numbered);
      continue;
    }
    subagents.push({ agent: turn.agent, begins, turns: [numbered] });
    const trajectory_id = subagentId(id, subagents.length);
    const observation = { results: [{ subagent_trajectory_ref: [{ trajectory_id }] }] };
    bodies.push({ source: "system", message: `The sub-agent ${turn.agent} begins.`, observation });
  }
  const { tool_definitions: _, ...agent } = settings.agent; // those of a sub-agent are not recorded
  const embedded = subagents.map((conversation, index): Atif => {
    const own = conversation.turns;
    const steps = numberedSteps(
      own.flatMap((one, at) => [...readBefore(one, own[at - 1], known), ...bodiesOf(one)]),
    );
    return {
      schema_version: "ATIF-v1.8",
      session_id: id,
      trajectory_id: subagentId(id, index + 1),
      agent: { ...agent, name: conversation.agent },
      steps,
      final_metrics: totalsOf(steps),
    };
  });
  const steps = numberedSteps(bodies);
  return defined({
    schema_version: "ATIF-v1.8",
    session_id: id,
    trajectory_id: id,
    agent: settings.agent,
    steps,
    final_metrics: { ...totalsOf(steps), extra: scoreOf(record) },
    extra: { everturn: identityOf(record) },
    subagent_trajectories: embedded.length === 0 ? undefined : embedded,
  });
}

function subagentId(id: string, number: number): string {
  return `${id}/sub-agent-${number}`;
}

/**
 * The text that a sub-agent read before a turn, as its chat template framed it, if the turn does not have its messages.
 * Answers to calls are in their step.
 */
function readBefore({ turn }: Numbered, previous: Numbered | undefined, known: NamedSegments): AtifBody[] {
  if (turn.said !== undefined || (previous !== undefined && previous.turn.toolCalls.length > 0)) return [];
  const appended = segmentsTo(known, turn.generated?.head).at(-2);
  return [{ source: "user", message: appended?.text ?? "", extra: { framed: true } }];
}

function numberedSteps(bodies: readonly AtifBody[]): AtifStep[] {
  return bodies.map((body, index) => ({ step_id: index + 1, ...body }));
}

function totalsOf(steps: readonly AtifStep[]): AtifTotals {
  const metrics = steps.flatMap((step) => step.metrics ?? []);
  const sum = (of: "prompt_tokens" | "completion_tokens") =>
    metrics.length === 0 ? undefined : metrics.reduce((total, one) => total + (one[of] ?? 0), 0);
  return defined({
    total_prompt_tokens: sum("prompt_tokens"),
    total_completion_tokens: sum("completion_tokens"),
    total_steps: steps.length,
  });
}

/** How the trajectory was scored. */
function scoreOf({ reward, success, metrics }: Trajectory): JsonObject {
  return defined<JsonObject>({ reward, success, metrics });
}

/** Identifies the trajectory, and tells how it ended. */
function identityOf({
  run,
  stage,
  step,
  taskId,
  sample,
  outcome,
  origin,
  seconds,
  task,
}: Trajectory): JsonObject {
  return defined<JsonObject>({
    run,
    stage,
    step,
    task: taskId,
    sample,
    group: `${run}/${stage}/${taskId}`,
    data_source: task.data_source,
    outcome,
    seconds,
    origin: origin && { trajectory: origin.trajectory, turns: origin.turns },
  });
}

function stepExtra({ generated }: Detail, number: number, record: Trajectory): JsonObject {
  return defined<JsonObject>({
    turn: number,
    finish_reason: generated?.finishReason,
    reward: record.turnRewards?.[number - 1],
    unanswered: record.turns[number - 1]?.unanswered,
  });
}
