import { EverturnError } from "../../base/errors/everturn-error.ts";
import { displayPath } from "../../base/validation/place.ts";
import { refusal } from "../../base/validation/problem.ts";
import type { Plan } from "../../contracts/plan.ts";
import type {
  EvaluationInput,
  EvaluationPlan,
  EvaluationRecord,
  StageProgress,
} from "../../contracts/run.ts";
import type { RunSettings } from "../../contracts/run-settings.ts";
import { imageProblems } from "../../plan/pipeline/check/image-problems.ts";
import { policyFraming, preflight } from "../../plan/pipeline/check/preflight.ts";
import { refusedTaskProblems } from "../../plan/pipeline/check/refused-tasks.ts";
import { sizedImages } from "../../plan/pipeline/check/sized-images.ts";
import { runSettings } from "../../plan/pipeline/resolve/run-settings.ts";
import { readTaskFile } from "../../plan/tasks/task-file.ts";
import { type OpenRun, openRunFolder } from "../../run/folder/open-runs.ts";
import type { RunReference } from "../../run/folder/run-reference.ts";
import { evaluationKey, evaluationPlanKey } from "../../run/store/keys.ts";
import { inPart } from "../../run/store/tree-part.ts";
import { policyPart } from "../../run/versions/version-parts.ts";
import type { SupervisedRun } from "../supervision/supervised-run.ts";
import { terminate } from "../supervision/terminate.ts";
import { withSupervisedRun } from "../supervision/with-supervised-run.ts";
import { workflowResult } from "../supervision/workflow-result.ts";
import { type AskedEvaluation, evaluationPlan } from "./evaluation-plan.ts";
import { serverEvent, type Told, telling } from "./events.ts";

/** The listeners of a run's evaluations, and how to run them. */
export interface EvaluateRun extends Told {
  /** Receives the record of each as it ends. */
  onRecord?: (record: EvaluationRecord) => void;
  temporal?: string | undefined;
  isGuest?: boolean;
}

/** An evaluation that is ready to run. */
interface Prepared {
  plan: EvaluationPlan;
  settings: RunSettings;
  workflowId: string;
  queuePrefix: string;
}

/**
 * Evaluates a run's policy on tasks, in one or several ways. Evaluations run one after the other, so
 * server and workers start once. Recorded ones are not repeated. Throws POLICY_NOT_FOUND, problems of names or
 * tasks, EVALUATION_FAILED, errors of the server or a worker, and INTERRUPTED.
 */
export function evaluateRun(
  { runs, run }: RunReference,
  asked: readonly AskedEvaluation[],
  options: EvaluateRun = {},
): Promise<EvaluationRecord[]> {
  const { temporal, isGuest = false, onRecord = () => {} } = options;
  return telling(options, async ({ tell, signal }) => {
    const note = (text: string) => tell({ type: "note", text });
    const opened = await openRunFolder(runs, run, ({ notice }) => note(notice));
    const { store } = opened;
    const records: EvaluationRecord[] = [];
    const end = (record: EvaluationRecord) => {
      records.push(record);
      onRecord(record);
    };
    /** The first evaluation without a record, on these queues unless it has begun on others. */
    const next = async (queuePrefix?: string): Promise<Prepared | undefined> => {
      for (;;) {
        const one = asked[records.length];
        if (one === undefined) return undefined;
        const plan = await evaluationPlan(opened, one, queuePrefix);
        const recorded = await store.read(evaluationKey(plan.name));
        if (recorded !== undefined) {
          end(recorded);
          continue;
        }
        await refuseTasks(opened, plan);
        await store.record(evaluationPlanKey(plan.name), plan, { flush: true });
        note(`evaluation ${plan.name}`);
        const settings = runSettings(await withRecordings(opened.plan, one, note));
        const workflowId = `${run}/${plan.name}`;
        return { plan, settings, workflowId, queuePrefix: plan.queuePrefix ?? `${workflowId}/` };
      }
    };
    let current = await next();
    while (current !== undefined) {
      const { queuePrefix } = current;
      const onInterrupt = (supervised: SupervisedRun) =>
        terminate(supervised, current ? [current.workflowId] : []);
      const opening = { runs, run, opened, temporal, queuePrefix, note, isGuest };
      await withSupervisedRun({ ...opening, signal, onInterrupt }, async (supervised) => {
        tell(serverEvent(supervised));
        while (current?.queuePrefix === queuePrefix) {
          const result = await evaluateIn(supervised, current, note);
          end((await store.read(evaluationKey(result.name))) ?? result); // includes its measures by source and tag
          current = await next(queuePrefix);
        }
      });
    }
    return records;
  });
}

async function evaluateIn(
  supervised: SupervisedRun,
  { plan, settings, workflowId }: Prepared,
  note: (text: string) => void,
): Promise<EvaluationRecord> {
  const { client, queues, run } = supervised;
  const input: EvaluationInput = { run, plan, settings, queues };
  const handle = await client.workflow.start("evaluation", {
    workflowId,
    taskQueue: queues.orchestration,
    args: [input],
    workflowIdConflictPolicy: "USE_EXISTING", // begun before its server moved to another port
  });
  const failed = (reason: string) =>
    new EverturnError("EVALUATION_FAILED", { evaluation: workflowId, reason });
  let quarters = 0;
  const tellQuarter = ({ done, of }: StageProgress) => {
    const now = of === 0 ? 0 : Math.floor((4 * done) / of);
    if (now > quarters && now < 4) note(`${plan.name}: ${done} of ${of} trajectories`);
    quarters = now;
  };
  const asking = setInterval(() => {
    // It is not answered while workers start, and the result reports every failure.
    handle.query<StageProgress>("progress").then(tellQuarter, () => {});
  }, betweenQueries);
  try {
    return await workflowResult(supervised, handle, failed);
  } finally {
    clearInterval(asking);
  }
}

/** The time between queries about the progress of an evaluation, in ms. */
const betweenQueries = 1000;

/** Throws the problems of the file, and WRONG_CONFIGURATION if its tasks leave no room for an action. */
async function refuseTasks(
  { plan, store }: OpenRun,
  { taskFile: file, withoutTools = false }: EvaluationPlan,
): Promise<void> {
  if (file === undefined) return;
  const taskFile = await readTaskFile(file);
  const tools = plan.tools.filter(({ manifest }) => !withoutTools || manifest.tool?.forLoops === true);
  const framing = await inPart(store, policyPart(plan, 0), (folder) => policyFraming(plan.policy, folder));
  const { prompts: _, ...rollout } = plan.rollout; // a named file of tasks is used completely
  const sized = await sizedImages(plan, { taskFile });
  const { problems } = preflight({ ...plan, rollout, tools }, { taskFile }, framing, sized);
  const refused = [
    ...problems,
    ...(await refusedTaskProblems({ plan: { tools }, data: { taskFile } })),
    ...(await imageProblems({ plan, data: { taskFile } })),
  ];
  if (refused.length > 0) throw refusal(displayPath(file), refused);
}

/** The run's plan with tools that answer from another run's records. Throws RUN_NOT_FOUND. */
async function withRecordings(
  plan: Plan,
  { recordings }: AskedEvaluation,
  note: (text: string) => void,
): Promise<Plan> {
  if (recordings === undefined) return plan;
  const { folder } = await openRunFolder(recordings.runs, recordings.run, ({ notice }) => note(notice));
  return { ...plan, rollout: { ...plan.rollout, toolRecordings: folder.root } };
}
