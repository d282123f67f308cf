import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { AttentionForm } from "../models/graph/decoder.ts";
import type { LazyTensor, Tensor } from "../models/weights/safetensors.ts";
import { createSession } from "../onnx/create-session.ts";
import { cudaMemory } from "../onnx/cuda-memory.ts";
import { createLendingSession, type LendingSession } from "../onnx/lending-session.ts";
import { runtimeFunctions } from "../onnx/runtime-functions.ts";
import type { DeviceTensor, Session } from "../onnx/session.ts";
import type { Precision, Target } from "../onnx/target.ts";
import { createUsage } from "../onnx/usage.ts";
import { createAdamW } from "./adamw.ts";
import { batchFeeds, batchSequences, checkSequences } from "./batch.ts";
import type { TrainingEngine } from "./engine.ts";
import { gradientRooms } from "./gradient-rooms.ts";
import { heldMemory } from "./held-memory.ts";
import type { LearningRates } from "./learning-rates.ts";
import { bytesToLoad, loadedFor } from "./loaded-for.ts";
import { firstLossScale } from "./loss-scale.ts";
import { checkAvailable } from "./memory-room.ts";
import { type Objective, objectiveFeeds } from "./objective.ts";
import { runTokens } from "./run-splits.ts";
import { type Scoring, scoreActions } from "./score-actions.ts";
import { settleState } from "./settled-state.ts";
import { createStepPlanner, type PlannerOptions } from "./step-planner.ts";
import { sumRuns } from "./summed-runs.ts";
import { lengthStep, prefixLength } from "./token-runs.ts";
import { trainOnCard } from "./trained-on-card.ts";
import { checkReference, checkTrainerState, parametersOf, type TrainerState } from "./trainer-state.ts";
import {
  gradientName,
  type PolicyModel,
  scoringModel,
  type TrainedModel,
  trainingModel,
} from "./training-graphs.ts";
import { applyUpdate, type UpdateSettings } from "./update.ts";

/** What an engine works on, and how. */
export interface TrainingEngineOptions
  extends Omit<TrainedModel, "attention">,
    Omit<UpdateSettings, keyof LearningRates>,
    PlannerOptions {
  /** Fresh (`freshTrainerState`) or saved. The engine takes it over and changes it in place. */
  state: TrainerState;
  /** Of the policy, where this is its critic: it is in the process as well, as a state's critic is. */
  beside?: TrainerState;
  /**
   * Gives the weights that KL terms refer to (with an adapter: the adapter, over the same weights), when they are
   * first wanted. Lazy ones are read for each of the reference's scores, if there is memory for them, which is given back after it. Default: with an adapter the weights without one, else none.
   */
  reference?: () => Promise<Reference>;
  /** Threads an operator may use; default 1. */
  threads?: number;
  /** Where models run, and what their matrix products compute in; default float32 on the CPU. */
  precision?: Precision;
}

/** An engine that can be saved and closed. */
export interface OpenTrainingEngine extends TrainingEngine {
  /** The state as it is now, not a copy: the next update changes it. */
  readonly state: TrainerState;
  /** Brings the state up to date where a card keeps it; call it before the state is saved. */
  settle(): Promise<void>;
  /**
   * Frees the models, once the run that is under way has ended; the update or scores that it belongs to fail with
   * TRAINER_CLOSED, as all do that come later.
   */
  close(): Promise<void>;
}

type Reference = ReadonlyMap<string, Tensor | LazyTensor>;

type Parameters = ReadonlyMap<string, Tensor | DeviceTensor>;

type TrainingForm = [recomputed: number, attention: AttentionForm, adds: boolean];

/** A model with its session. */
interface Opened<Model extends PolicyModel> {
  model: Model;
  session: LendingSession;
}

/** Makes an engine on ONNX Runtime. Throws MODEL_WEIGHTS_MISMATCH or TRAINING_STATE_INVALID if the state doesn't fit. */
export function createTrainingEngine(options: TrainingEngineOptions): OpenTrainingEngine {
  const { config, lora, base, critic = false, state } = options;
  const { threads = 1, maxTokensPerRun, device = "cpu" } = options;
  const target: Target = { device, precision: options.precision ?? "float32" };
  const frozen = base && { base };
  const trained: TrainedModel = { config, critic, ...(lora && { lora }), ...frozen };
  checkTrainerState(trained, state);
  if (target.precision === "float16") state.lossScale ??= firstLossScale;
  else delete state.lossScale;
  const optimizer = createAdamW(threads);
  const planning = once(async () => {
    const cardMemory = device === "cuda" ? await cudaMemory() : undefined;
    const held = () => heldMemory(state, base, options.beside);
    return createStepPlanner({ ...options, ...(cardMemory && { available: cardMemory.available }) }, held);
  });
  const tokens = runTokens(device, maxTokensPerRun);
  const usage = createUsage(() => new EverturnError("TRAINER_CLOSED", {}));
  const open = async <Model extends PolicyModel>(
    model: Model,
    keptOnDevice: readonly string[] = [],
  ): Promise<Opened<Model>> => {
    const runtime = device === "cpu" ? await runtimeFunctions() : undefined;
    const settings = { threads, ...(base?.folder !== undefined && { weightsFolder: base.folder }) };
    const session: LendingSession = runtime
      ? await createLendingSession(runtime, model.graph, model.bytes, { ...settings, sharesMemory: true })
      : lendsNothing(await createSession(model.bytes, { ...settings, device, keptOnDevice }));
    const run: LendingSession["run"] = async (...given) => {
      usage.check(); // whoever closes the engine waits for a run, not for all that belong to an update
      return session.run(...given);
    };
    return { model, session: { ...session, run } };
  };
  /** Where the parameters are, if not in the state. */
  const card = once(async () => (device === "cpu" ? undefined : await trainOnCard(device, state, options)));
  /** Where gradients of several runs are added up: nowhere in particular on a card, or where the C API can't be called. */
  const settled = once(async () => {
    const runtime = device === "cpu" ? await runtimeFunctions() : undefined;
    const rooms = runtime && (await settleState(state, optimizer, runtime.memoryAdvice));
    return gradientRooms(rooms ?? new Map(), state, lora !== undefined);
  });
  const policy = remembered((attention: AttentionForm) =>
    open(scoringModel({ ...trained, attention }, { values: true }, target)),
  );
  const reference = once(() => referenceWeights(options));
  const references = remembered(async (attention: AttentionForm) => {
    const model = { config, attention, ...frozen, ...(lora && (await reference.get()) && { lora }) };
    return open(scoringModel(model, { values: false }, target));
  });
  const trainingForms = (objective: Objective) => {
    const models = remembered((...[recompute, attention, adds]: TrainingForm) =>
      trainingModel({ ...trained, recompute, attention, adds }, objective, target),
    );
    const opened = remembered((...form: TrainingForm) => {
      const model = models.get(...form);
      return open(model, device !== "cpu" ? model.trains.map(gradientName) : []);
    });
    return { model: models.get, open: opened.get, made: opened.made };
  };
  const trainings = new Map<Objective, ReturnType<typeof trainingForms>>();
  const formsOf = (objective: Objective) => {
    const forms = trainings.get(objective) ?? trainingForms(objective);
    trainings.set(objective, forms);
    return forms;
  };
  const work: TrainingEngine = {
    async check(objective, samples) {
      const lengths = samples.map((rows) => rows.reduce((total, { tokens }) => total + tokens.length, 0));
      const sequences = samples[lengths.indexOf(Math.max(...lengths))];
      if (!sequences) return;
      const planner = await planning.get();
      planner.check([{ sequences, columns: {} }], (recomputed, attention) => {
        return formsOf(objective).model(recomputed, attention, false).graph; // one sample is one run
      });
    },
    async score(sequences, weights, temperature = 1, onShare) {
      checkSequences(sequences, config);
      const isPolicy = weights === "policy";
      const opened = isPolicy ? policy : references;
      const onCard = (await card.get())?.parameters();
      const scored = isPolicy
        ? (onCard ?? parametersOf(state))
        : new Map<string, Tensor | DeviceTensor | LazyTensor>([
            ...state.weights,
            ...((await reference.get()) ?? onCard ?? []),
          ]);
      checkAvailable(bytesToLoad(scored.values()), sequences, options.available);
      return loadedFor(scored, (found) => {
        const run: Scoring["run"] = async (form, batch) => {
          const { model, session } = await opened.get(form);
          return session.run({ ...select(found, model.reads), ...batch });
        };
        const gives = { values: isPolicy, logProbabilities: !critic };
        const scoring = { config, run, forms: device === "cpu", ...gives, temperature, tokens };
        return scoreActions(scoring, sequences, onShare);
      });
    },
    async update({ objective, samples, scalars, temperature = 1, onShare, ...rates }) {
      // To settle takes memory, too.
      if (!settled.made())
        await work.check(
          objective,
          Array.from(samples, ({ sequences }) => sequences),
        );
      const onCard = await card.get();
      const { into, canAdd, zeros } = await settled.get();
      const forms = formsOf(objective);
      const found = onCard?.parameters() ?? parametersOf(state);
      const lossScale = state.lossScale?.scale;
      const scaling = lossScale !== undefined && {
        lossScale: { shape: [], data: Float32Array.of(lossScale) },
      };
      const planner = await planning.get();
      const chosen = planner.plan(samples, (recomputed, attention, isSummed) => {
        return forms.model(recomputed, attention, isSummed && canAdd).graph;
      });
      const runs = chosen.runs.map((run, number) => {
        const part = run.map((index) => samples[index]!);
        return { run, part, form: chosen.forms[number]! };
      });
      // Those of a single run are lent: in the runtime's memory they take the place of activations.
      const isSummed = runs.length > 1;
      const adds = isSummed && canAdd;
      const first = forms.model(chosen.recomputed, runs[0]?.form ?? "kept", adds);
      const parameters = select(found, first.reads);
      const sums = adds ? zeros() : {};
      let computed = 0;
      const sum = sumRuns(onCard ? { ...first, trains: [] } : first, samples, optimizer, adds);
      try {
        for (const { run, part, form } of runs) {
          const { model, session } = await forms.open(chosen.recomputed, form, adds);
          const sequences = part.flatMap((sample) => sample.sequences);
          const prefix = prefixLength(form, sequences);
          const batch = batchSequences(sequences, config, lengthStep(form), prefix);
          const given = objectiveFeeds(objective, part, scalars);
          const feeds = { ...parameters, ...sums, ...batchFeeds(batch, temperature), ...given, ...scaling };
          const isWritten = adds || (isSummed && computed === 0);
          const outputs = await session.run(feeds, isWritten ? into : undefined);
          await onCard?.add(outputs, model.trains);
          await sum.add(outputs, run, feeds);
          computed += run.length;
          onShare?.(computed / samples.length);
        }
        const { gradients, ...measured } = sum.total();
        const outcome = onCard
          ? await onCard.update(rates)
          : await applyUpdate(optimizer, state, measured.loss, gradients, { ...options, ...rates });
        return { ...measured, ...outcome, ...(lossScale !== undefined && { lossScale }) };
      } finally {
        sum.release();
      }
    },
  };

  const free = async () => {
    await optimizer.close();
    // What could not be made has said so to whoever wanted it.
    const [onCard] = await Promise.allSettled([card.made()]);
    if (onCard.status === "fulfilled") await onCard.value?.close();
    const all = [policy, references, ...trainings.values()].flatMap(({ made }) => made());
    for (const one of await Promise.allSettled(all))
      if (one.status === "fulfilled") await one.value.session.close();
  };

  return {
    state,
    check: (...given) => usage.during(() => work.check(...given)),
    score: (...given) => usage.during(() => work.score(...given)),
    update: (request) => usage.during(() => work.update(request)),
    settle: () => usage.during(async () => (await card.made())?.read()),
    close: () => usage.end(free),
  };
}

function lendsNothing({ run, close }: Session): LendingSession {
  return { run: (feeds) => run(feeds), close };
}

async function referenceWeights(options: TrainingEngineOptions): Promise<Reference | undefined> {
  const weights = await options.reference?.();
  if (weights) checkReference(options, weights);
  else if (!options.lora) {
    const reason = "a reference policy is wanted, but none was given";
    throw new EverturnError("TRAINING_STATE_INVALID", { reason });
  }
  return weights;
}

function select(parameters: Parameters, names: readonly string[]): Record<string, Tensor | DeviceTensor> {
  return Object.fromEntries(names.map((name) => [name, parameters.get(name)!]));
}

/** Makes things, each when it is first wanted. */
function remembered<Key extends readonly unknown[], Thing>(make: (...key: Key) => Thing) {
  const made = new Map<string, Thing>();
  return {
    get(...key: Key): Thing {
      const name = key.join();
      const thing = made.get(name) ?? make(...key);
      made.set(name, thing);
      return thing;
    },
    made: () => [...made.values()],
  };
}

/** Makes a thing when it is first wanted. */
function once<Thing>(make: () => Promise<Thing>) {
  let made: Promise<Thing> | undefined;
  return {
    get: () => {
      made ??= make();
      return made;
    },
    made: () => made,
  };
}
