/**
 * What the table holds for one error code. `{name}` in `message` and `help` is filled from the error's
 * parameters. `retryable` says whether trying the same thing again can succeed.
 */
export interface ErrorEntry {
  /** What was wrong and where. */
  readonly message: string;
  readonly retryable: boolean;
  /** What to do about it. */
  readonly help: string;
}

/**
 * Every error Everturn throws on purpose. A code is also the failure type in Temporal and a heading in
 * docs/errors.md; a test holds them together. Workflow code imports this file, so it imports nothing.
 */
export const errorTable = {
  // Text of a pipeline, manifest, or data file. {at} is file:line:column.
  YAML_SYNTAX: { message: "{at}: not valid YAML: {reason}.", retryable: false, help: "{hint}" },
  JSON_SYNTAX: { message: "{at}: not valid JSON: {reason}.", retryable: false, help: "{hint}" },
  NUMBER_INEXACT: {
    message: "{at}: the number {number}{holder} cannot be kept exactly.",
    retryable: false,
    help: "Numbers keep 15 digits and end at about 1.8e308. Put this one in quotes, as text.",
  },
  DUPLICATE_KEY: {
    message: "{at}: the key “{key}” is written twice in one mapping.",
    retryable: false,
    help: "It is already on line {line}; remove one of the two.",
  },
  UNKNOWN_KEY: { message: "{at}: unknown key “{key}” in {where}.", retryable: false, help: "{hint}" },
  MISSING_KEY: { message: "{at}: {where} lacks “{key}”.", retryable: false, help: "Add “{key}”: {hint}" },
  WRONG_TYPE: {
    message: "{at}: {where} must be {expected}, but is {actual}.",
    retryable: false,
    help: "{hint}",
  },
  WRONG_VALUE: { message: "{at}: {where} is {actual}, but {expected}.", retryable: false, help: "{hint}" },
  WRONG_COMBINATION: { message: "{at}: {where} {reason}.", retryable: false, help: "{hint}" },
  WRONG_CONFIGURATION: {
    message: "{file}: refused, {count}:\n{problems}",
    retryable: false,
    help: "Correct it and run again.",
  },

  // A pipeline
  PIPELINE_NOT_FOUND: { message: "There is no pipeline {file}.", retryable: false, help: "{hint}" },
  PIPELINE_EMPTY: {
    message: "{at}: the pipeline is empty.",
    retryable: false,
    help: "Start from pipelines/calculator.yaml.",
  },
  PIPELINE_NOT_A_MAPPING: {
    message: "{at}: a pipeline is a mapping of keys to values, but this is {actual}.",
    retryable: false,
    help: "Start with `name: my-pipeline`, or from pipelines/calculator.yaml.",
  },
  PIPELINE_MANY_DOCUMENTS: {
    message: "{at}: a second YAML document starts here, but a pipeline is one.",
    retryable: false,
    help: "Remove the `---` or move what follows it to a file of its own.",
  },
  VARIABLE_UNSET: {
    message: "{at}: the variable {name} of the environment is not set.",
    retryable: false,
    help: "Set it, or give it a default: docs/pipelines.md says how.",
  },
  EXTENDS_INVALID: {
    message: "{at}: “extends” can't be followed: {reason}.",
    retryable: false,
    help: "Name a pipeline that lies beside this one, such as base.yaml.",
  },
  BLOCK_INVALID: {
    message: "{at}: “use” can't be followed: {reason}.",
    retryable: false,
    help: "{hint}",
  },
  OVERRIDE_INVALID: {
    message: "The override “{override}” {reason}.",
    retryable: false,
    help: "Write it as path.to.key=value, for example rollout.batchSize=32.",
  },
  BATCH_NOT_DIVISIBLE: {
    message: "{at}: {where} is {value}, which {divisorName} ({divisor}) doesn't divide.",
    retryable: false,
    help: "{hint}",
  },
  DATASET_EMPTY: {
    message: "{at}: the data set has no tasks.",
    retryable: false,
    help: "Add rows to it, or name another one.",
  },
  DEMONSTRATIONS_EMPTY: {
    message: "{at}: the file has no demonstrations.",
    retryable: false,
    help: "Add rows to it, or leave out warmStart.",
  },
  EXAMPLES_EMPTY: { message: "{at}: the file has no rows.", retryable: false, help: "Add rows to it." },
  EXAMPLES_CHANGED: {
    message: "{file} is not what it was when the run's plan was made, or is gone.",
    retryable: false,
    help: "Put back what it was: which of its rows were trained on and held out, and what the reference says of pairs, is recorded by their numbers. To train on other rows, start a new run.",
  },
  ROWS_TOO_LONG: {
    message: "{at}: {rows} {need}: {list}.",
    retryable: false,
    help: "Shorten or remove them, or make room: a longer context (policy-onnx: architecture.max_position_embeddings, or another model), a higher limit, fewer tools in the prompt.",
  },
  ROWS_NOT_FRAMED: {
    message: "{at}: {rows} can't be turned into tokens: {list}. {reason}",
    retryable: false,
    help: "Correct these rows, or the policy's chat template.",
  },
  DEMONSTRATED_ACTION_TOO_LONG: {
    message:
      "{at}: {rows} of the {counted} demonstrations that were counted show an action of more than {limit} tokens (rollout.maxActionTokens), up to {longest}.",
    retryable: false,
    help: "In a rollout the policy would be cut before its end each time. Raise rollout.maxActionTokens to {longest} or more, or show shorter ones.",
  },
  DEMONSTRATED_CALL_INVALID: {
    message: "{at}: a demonstrated call of “{tool}” is wrong{more}. {reason}",
    retryable: false,
    help: "Correct the row: the policy would learn calls that are refused.",
  },
  DUPLICATE_TOOL: {
    message: "{at}: {plugin} offers the tool “{tool}”, a name that {other} has already.",
    retryable: false,
    help: "The two can't be told apart; leave one out, or give it another `name` there: of the tool, or of one of its `functions`.",
  },
  FILE_NOT_FOUND: {
    message: "{at}: {where} names {path}, which doesn't exist.",
    retryable: false,
    help: "{hint}",
  },

  // Plugins
  PLUGIN_NOT_FOUND: { message: "{at}: there is no plugin “{name}”.", retryable: false, help: "{hint}" },
  PLUGIN_WRONG_KIND: {
    message: "{at}: {where} wants a {expected} plugin, but {name} is a {actual} plugin.",
    retryable: false,
    help: "{hint}",
  },
  PLUGIN_ENGINE_MISMATCH: {
    message: "{at}: {name} {version} works with everturn {range}, but this is everturn {engine}.",
    retryable: false,
    help: "Install a version of {name} made for everturn {engine}, or an everturn that fits {range}.",
  },
  PLUGIN_AMBIGUOUS: {
    message: "{at}: two plugins are named “{name}”: {first} and {second}.",
    retryable: false,
    help: "Rename one, or name the plugin by the path of its folder.",
  },
  PLUGIN_SCHEMA_INVALID: {
    message: "{at}: {where} is not a valid JSON Schema (draft-07): {reason}.",
    retryable: false,
    help: "{hint}",
  },
  PLUGIN_PATH_MISSING: {
    message: "{at}: {where} names {path}, which doesn't exist.",
    retryable: false,
    help: "Create it, or correct the path; it is relative to the manifest's folder.",
  },
  PLUGIN_UNUSABLE: {
    message: "{at}: the plugin can't be used. {reason}",
    retryable: false,
    help: "",
  },
  PLUGIN_FILE_INVALID: { message: "{at}: {reason}.", retryable: false, help: "{hint}" },
  PLUGIN_ENTRY_FAILED: {
    message: "{name}: its entry {file} can't be imported: {reason}.",
    retryable: false,
    help: "Run `node {file}` to see the error by itself.",
  },
  PLUGIN_EXPORT_INVALID: {
    message: "{name}: the default export of {file} {reason}.",
    retryable: false,
    help: "A {kind} plugin's default export is {expected}.",
  },
  PLUGIN_BROKEN: {
    message: "The plugin {plugin} has a mistake at {place}: {reason}.",
    retryable: false,
    help: "The run ends, since trying again would not help. Correct it, then `npx everturn resume` the run: what has finished is kept.",
  },
  PLUGIN_ANSWER_INVALID: {
    message: "The plugin {plugin} answered {given} from {name}(), but {expected}.",
    retryable: false,
    help: "The run ends, since trying again would not help. Correct it, then `npx everturn resume` the run: what has finished is kept.",
  },
  PLUGIN_THREAD_ENDED: {
    message: "The thread of the plugin {plugin} ended: {reason}.",
    retryable: true,
    help: "What it was doing is done again in a fresh thread. The worker's log names the call that ended it.",
  },
  PLUGIN_PROMISE_BROKEN: {
    message: "{plugin} breaks the promise “{promise}”: {seen}.",
    retryable: false,
    help: "{advice}",
  },
  PLUGIN_BUILD_FAILED: {
    message: "The plugin in {folder} can't be built: {reason}.",
    retryable: false,
    help: "{hint}",
  },
  PLUGIN_CASE_INVALID: {
    message: "{plugin} can't be checked with {what}: {reason}.",
    retryable: false,
    help: "{hint}",
  },

  // Policies: weights, tokenizers, sampling
  SAFETENSORS_INVALID: {
    message: "{path} can't be read as safetensors: {reason}.",
    retryable: false,
    help: "Copy the file again, or save it in F32, F16 or BF16.",
  },
  CHECKPOINT_INVALID: {
    message: "The weights in {folder} can't be read: {reason}.",
    retryable: false,
    help: "Name a folder with model.safetensors, or with model.safetensors.index.json and every shard it names.",
  },
  ADAPTER_INVALID: {
    message: "The adapter in {folder} can't be used: {reason}.",
    retryable: false,
    help: "Name a folder with a LoRA adapter's adapter_config.json and adapter_model.safetensors as PEFT writes them.",
  },
  GGUF_INVALID: {
    message: "{path} can't be read as GGUF: {reason}.",
    retryable: false,
    help: "Copy the file again; it must be little-endian GGUF of version 2 or 3.",
  },
  GGUF_UNSUPPORTED: {
    message: "{path} can't be imported: {reason}.",
    retryable: false,
    help: "docs/models.md lists what can; or convert the model with its own tools to a Hugging Face folder.",
  },
  GGUF_EXPORT_FAILED: {
    message: "The model in {folder} can't be written as GGUF: {reason}.",
    retryable: false,
    help: "Export it to a folder instead: safetensors holds any model that Everturn loads.",
  },
  MODEL_NOT_FOUND: {
    message: "There is no model {source}.",
    retryable: false,
    help: "Name a GGUF file, a folder of Hugging Face's files, or one of the models known by name: {known}.",
  },
  ADAPTER_NOT_MERGED: {
    message: "{folder} holds an adapter, which a GGUF file can't.",
    retryable: false,
    help: "Add --merge: the file then holds the base model with the adapter inside.",
  },
  TARGET_NOT_EMPTY: {
    message: "{path} exists already.",
    retryable: false,
    help: "Name a new folder or file; nothing is overwritten.",
  },
  TOKENIZER_INVALID: {
    message: "The tokenizer in {folder} can't be used: {reason}.",
    retryable: false,
    help: "Name a folder with tokenizer.json and tokenizer_config.json as Hugging Face writes them.",
  },
  CHAT_TEMPLATE_FAILED: {
    message: "The chat template can't be rendered: {reason}.",
    retryable: false,
    help: "Correct the template (chat_template.jinja, or chat_template in tokenizer_config.json), or the messages it refuses. Rewrite what is not supported in plainer Jinja.",
  },
  TEMPLATE_NOT_FOUND: {
    message: "There is no folder and no file {path}.",
    retryable: false,
    help: "Name a model's folder with tokenizer.json and tokenizer_config.json, or a file with a Jinja template.",
  },
  CHAT_TEMPLATE_UNUSABLE: {
    message: "The chat template can't frame turns: {reason}.",
    retryable: false,
    help: "Use a template whose text only grows with each message, and which ends an assistant's message with a token of its own, such as eos_token.",
  },
  TEMPLATE_VARIABLE_UNKNOWN: {
    message: "The chat template reads no variable “{variable}”. {hint}",
    retryable: false,
    help: "Correct policy.config.templateVariables; `npx everturn template` lists what a template reads.",
  },
  TEMPLATE_WITHOUT_DATE: {
    message: "The chat template can't be told that it is {date}: it asks for no date, or it is no day.",
    retryable: false,
    help: "Take policy.config.templateDate away, or say the date to a variable of the template: policy.config.templateVariables.",
  },
  STOP_TOKEN_UNKNOWN: {
    message: "policy.config.stopTokens names “{token}”, which is no token of the vocabulary.",
    retryable: false,
    help: "Name a token as tokenizer.json writes it; for a text of several tokens there is sampling.stop.",
  },
  LOGITS_NOT_FINITE: {
    message: "The policy's logits are not finite (at token {token}).",
    retryable: false,
    help: "Training diverged: go back to an earlier version, and lower the learning rate.",
  },
  POLICY_VERSION_NOT_LOADED: {
    message: "Version {version} of the policy is not loaded.",
    retryable: true,
    help: "Load it before generating with it; versions long unused are let go.",
  },
  ENGINE_FAILED: {
    message: "{engine} at {url} {reason}.",
    retryable: true,
    help: "Look at the engine's own log. Nothing is lost: the turn is generated again, by another replica if there is one.",
  },
  ENGINE_REFUSED: {
    message: "{engine} at {url} {reason}.",
    retryable: false,
    help: "Start the engine as docs/engines.md says; it reads weights from the run's folder, by the same path.",
  },
  ENGINE_SAMPLING: {
    message:
      "{engine} can't draw actions at temperature {temperature}: it says log-probabilities of one temperature alone.",
    retryable: false,
    help: "Set `rollout.temperature` to 1, or to 0 for greedy actions.",
  },
  TOOL_GRAMMAR_FAILED: {
    message: "Calls of the tools {tools} can't be constrained: {reason}.",
    retryable: false,
    help: "Simplify the parameters' schema, or leave tool calls free: `toolCalls: free`.",
  },
  SAMPLER_FAILED: {
    message: "The sampler failed, and with it all that it was generating for this version: {reason}.",
    retryable: true,
    help: "This is a mistake in the sampler, not in the request. Report it with the worker's log.",
  },
  SAMPLING_MEMORY_SHORT: {
    message:
      "Sampling needs {weights} of weights and {keyValues} of keys and values, but only {available} are free.",
    retryable: true,
    help: "Lower `keyValueMemory` or `slots` in the policy's configuration, free memory, or take a smaller model.",
  },
  KEY_VALUES_NOT_ROUNDED: {
    message: "Keys and values can't be kept in 8 bits here: {reason}.",
    retryable: false,
    help: "Remove `keyValues` from the policy's configuration.",
  },
  KEY_VALUE_MEMORY_TOO_SMALL: {
    message: "An action needs {needed} for its keys and values, but the policy may use {available}.",
    retryable: false,
    help: "Raise `keyValueMemory` in the policy's configuration, or lower the tokens that an action may have.",
  },
  POLICY_CLOSED: {
    message: "The policy was closed while it was generating.",
    retryable: true,
    help: "Nothing is lost: the turn is generated again with the same tokens.",
  },
  TOKENS_INVALID: {
    message: "The context to generate from {reason}.",
    retryable: false,
    help: "Take its tokens from the tokenizer of the policy that generates.",
  },
  TRAINER_LACKS: {
    message: "The trainer {name} has no {method}, which the pipeline's sft or dpo needs.",
    retryable: false,
    help: "Name a trainer that has it, such as trainer-onnx; sft without heldOut needs no score.",
  },
  DEMONSTRATION_WITHOUT_ACTION: {
    message: "A demonstration of {messages} messages has none of the assistant's.",
    retryable: false,
    help: "Add the assistant's answer, or remove the row.",
  },
  // Downloads and devices
  PACKAGE_FETCH_FAILED: {
    message: "{package} could not be fetched: {reason}.",
    retryable: true,
    help: "Check that `{command}` is installed, up to date, and reaches its package registry.",
  },
  DEVICE_UNAVAILABLE: {
    message: "The device “{device}” can't be used here: {reason}.",
    retryable: false,
    help: "{hint}",
  },

  NATIVE_FILES_MISSING: {
    message: "{files} can't be loaded on {machine}: {reason}.",
    retryable: false,
    help: "{hint}",
  },

  // Numbers: graphs, models, training
  ONNX_GRAPH_INVALID: {
    message: "A computation graph is built wrongly: {reason}.",
    retryable: false,
    help: "This is a mistake in the code that builds the graph, not in the pipeline.",
  },
  ONNX_SESSION_FAILED: {
    message: "ONNX Runtime refuses a model: {reason}.",
    retryable: false,
    help: "Check that onnxruntime-node is the version that package.json names.",
  },
  ONNX_API_UNREACHABLE: {
    message: "ONNX Runtime's C API can't be called: {reason}.",
    retryable: false,
    help: "This is a warning: models run by onnxruntime-node's own way, which takes more time and memory. Install koffi with its prebuilt package, and let nothing else in the process lower its limits.",
  },
  ONNX_RUNS_BLOCK: {
    message: "Something else in this process has loaded koffi with small stacks for calls in other threads.",
    retryable: false,
    help: "This is a warning: training blocks its thread while a model runs. Set koffi's async_stack_size to 8388608 before its first library is loaded.",
  },
  ONNX_OUT_OF_MEMORY: {
    message: "Running a model failed for want of memory: {reason}.",
    retryable: true,
    help: "The worker is started again and tries once more. Give it more memory, or let it hold less (rollout.concurrency, policy.config.slots and keyValueMemory, the trainer's minibatchSize).",
  },
  ONNX_RUN_FAILED: {
    message: "Running a model failed: {reason}.",
    retryable: false,
    help: "Check that the weights belong to the config.json beside them.",
  },
  MODEL_CONFIG_INVALID: {
    message: "A model's configuration can't be used: {reason}.",
    retryable: false,
    help: "docs/models.md lists the model families and what is supported of them.",
  },
  MODEL_WEIGHTS_MISMATCH: {
    message: "Weights don't fit the model's configuration: {reason}.",
    retryable: false,
    help: "Take config.json and model.safetensors from the same checkpoint.",
  },
  TRAINING_BATCH_INVALID: {
    message: "A batch can't be trained on: {reason}.",
    retryable: false,
    help: "Nothing was updated. Check the trajectory's tokens, mask and log-probabilities.",
  },
  TRAINER_CLOSED: {
    message: "The trainer was closed while it was training.",
    retryable: true,
    help: "Nothing is lost: the step is taken again from the state that was saved last.",
  },
  TRAINING_MEMORY_SHORT: {
    message:
      "Training on {tokens} tokens at once needs about {needed} MB more memory, but {available} MB are available.",
    retryable: false,
    help: "Raise the trainer's memory where it is set, lower maxTokensPerRun where that is, train an adapter (lora) instead of all weights, or end other programs.",
  },
  TRAINING_NOT_FINITE: {
    message: "Training stopped at update {step}: {quantity} is {value}.",
    retryable: false,
    help: "Nothing was updated. Lower the learning rate, or resume from an earlier checkpoint.",
  },
  TRAINING_DIVERGED: {
    message: "Training stopped at update {step}: {quantity} is {value}. The batch is saved in {file}.",
    retryable: false,
    help: "Nothing was saved of the step. Take it again from the file (docs/algorithms.md), lower the learning rate, or resume from an earlier checkpoint.",
  },
  TRAINING_STATE_INVALID: {
    message: "The trainer's saved state can't be restored: {reason}.",
    retryable: false,
    help: "Take the trainer state that belongs to this policy.",
  },

  // Temporal
  TEMPORAL_BINARY_NOT_FOUND: {
    message: "There is no Temporal CLI at {path}.",
    retryable: false,
    help: "Correct EVERTURN_TEMPORAL or --temporal, or leave it out to use the one on PATH or a download.",
  },
  TEMPORAL_BINARY_MISSING: {
    message: "No Temporal CLI was found and none could be downloaded ({tried}).",
    retryable: true,
    help: "Install the `temporal` CLI so that it is on PATH, name it with --temporal, or join a server with --address.",
  },
  TEMPORAL_SERVER_FAILED: {
    message: "The Temporal dev server failed: {reason}.",
    retryable: true,
    help: "Its log is {log}.",
  },
  TEMPORAL_DATABASE_DAMAGED: {
    message: "The Temporal server cannot read its database {database}: {reason}.",
    retryable: false,
    help: "Move {database} and the files whose names begin with it out of the run's folder, then resume the run. It continues from the files of its folder, after the last recorded step; only the histories in the Temporal UI are lost.",
  },
  TEMPORAL_SERVER_ENDED: {
    message: "The run's Temporal server ended {times} ({reason}). Its log {log} ends with:\n{lines}",
    retryable: true,
    help: "Nothing that was finished is lost: correct the cause (where another program has taken its port, a new start takes another one), then `npx everturn resume {run}`.",
  },
  TEMPORAL_RUN_FORGOTTEN: {
    message:
      "The Temporal server at {address} no longer knows the run {run}: its database was replaced, or it deleted the run's workflow.",
    retryable: true,
    help: "Nothing that was finished is lost: `npx everturn resume {run}` continues on that server, from the files of the run's folder.",
  },
  TEMPORAL_UNREACHABLE: {
    message: "No Temporal server answers at {address}: {reason}.",
    retryable: true,
    help: "Check the address, or leave --address out to start a dev server. {hint}",
  },
  TEMPORAL_OTHER_SERVER: {
    message:
      "What answers at {address} is not the run's Temporal server: another server has taken its port, or its database was replaced.",
    retryable: true,
    help: "Nothing that was finished is lost: `npx everturn resume` starts the run's server again, on another port if need be.",
  },
  TEMPORAL_LOST: {
    message: "The Temporal server at {address} no longer answers: {reason}.",
    retryable: true,
    help: "Nothing that was finished is lost: when it is back, `npx everturn resume {run}`.",
  },
  TEMPORAL_REFUSED: {
    message: "The Temporal server at {address} refuses the namespace {namespace}: {reason}.",
    retryable: false,
    help: "Create the namespace, or have Everturn's search attributes added to it by one who may.",
  },
  TEMPORAL_SETTINGS_INVALID: {
    message: "Temporal's environment settings can't be used: {reason}.",
    retryable: false,
    help: "Correct TEMPORAL_PROFILE, TEMPORAL_CONFIG_FILE or the file it names.",
  },
  WORKFLOWS_NOT_BUNDLED: {
    message: "The run's workflows with the agent loop {loop} can't be bundled: {reason}.",
    retryable: false,
    help: "A loop's workflow file may import types and pure code, but no Node modules and no packages that use them.",
  },
  TEMPORAL_TOO_OLD: {
    message: "The Temporal server at {address} knows no worker deployments: {reason}.",
    retryable: false,
    help: "Use Temporal 1.32 or later: by its worker versioning a run's workflows end on the code they began with.",
  },
  NO_FREE_PORT: {
    message: "No port of 127.0.0.1 is free ({preferred} was tried first).",
    retryable: true,
    help: "End what holds the ports and run again.",
  },

  // Runs
  RUN_COPIED: {
    message: "The folder {folder} is a copy of the run {run}, whose own folder is {original}.",
    retryable: false,
    help: "Only one of the two may continue. Work on the run in its own folder, or move that folder away first.",
  },
  RUN_NOT_FOUND: { message: "There is no run {run} in {folder}.", retryable: false, help: "{hint}" },
  BENCHMARK_FILE_INVALID: {
    message: "{file} gives no tasks of {benchmark}: {reason}.",
    retryable: false,
    help: "Give the file as it was published: {columns}.",
  },
  BENCHMARK_ROWS_INVALID: {
    message: "{places}: no task of {benchmark}: something that it wants is missing there.",
    retryable: false,
    help: "Wanted is {columns}. With --skip-bad these rows are left out.",
  },
  STUDY_JOB_UNKNOWN: {
    message: "{at}: the job {job}: {reason}.",
    retryable: false,
    help: "{hint}",
  },
  STUDY_RUN_DIFFERS: {
    message: "The run {run} was made by a study or a pipeline that said something else.",
    retryable: false,
    help: "Give the study, or the job, another name; or move that run away to do it again.",
  },
  STUDY_COMMAND_FAILED: {
    message: "The job {job}: `{command}` {reason}.",
    retryable: false,
    help: "Correct the program; the study goes on from this job.",
  },
  RUN_WITHOUT_TRACKERS: {
    message: "The pipeline of {run} names no trackers.",
    retryable: false,
    help: "Say them in the pipeline of the next run: `trackers: [tracker-tensorboard]` (docs/trackers.md).",
  },
  TRACKER_FAILED: {
    message: "The trackers of {run} were not told of {untold} of its results.",
    retryable: true,
    help: "The lines above say why; `everturn track {run}` tries it again.",
  },
  RUN_PLAN_LOST: {
    message: "The run {run} cannot be opened: its plan {file} is missing or damaged.",
    retryable: false,
    help: "Restore the file from a copy. No other file says what the run was to do. Its versions are still in {folder}, in Hugging Face's format: a new run may start from one.",
  },
  RUN_OF_EARLIER_RELEASE: {
    message: "The run {run} was begun by Everturn 0.3 or earlier, which kept runs in another form.",
    retryable: false,
    help: "Go on with it, and look at it, with the Everturn that began it. Its policies are in Hugging Face's format: a new run may start from one.",
  },
  PLAN_NOT_CHANGEABLE: {
    message: "{at}: {key} of a run can't change: {reason}.",
    retryable: false,
    help: "Begin a new run for it. What may change: {changeable}.",
  },
  POLICY_NOT_FOUND: {
    message: "The run {run} has no policy version {version}.",
    retryable: false,
    help: "`npx everturn versions {run}` lists those that there are; older ones are deleted except at checkpoints.",
  },
  TASKS_NOT_FOUND: {
    message: "There is no task file {file}.",
    retryable: false,
    help: "Name a file of JSON lines, a task on each, as in pipelines/calculator.",
  },
  TASKS_EMPTY: {
    message: "The task file {file} has no tasks.",
    retryable: false,
    help: "Add a task a line to it, or name another file.",
  },
  TASK_NOT_FOUND: {
    message: "There is no task {task} in {place}.",
    retryable: false,
    help: "Put the data back as it was when the run began: a run names its tasks by their rows.",
  },
  RUN_HAS_NO_SERVER: {
    message: "The run {run} has a Temporal server of its own, which is not up.",
    retryable: true,
    help: "`npx everturn resume {run}` or `npx everturn dev {run}` starts it; or name another server with --address.",
  },
  EVALUATION_FAILED: {
    message: "The evaluation {evaluation} failed: {reason}.",
    retryable: true,
    help: "The logs in the run's folder under logs/ may say more.",
  },
  EVALUATION_NAME_INVALID: {
    message: "{name} is no name for an evaluation.",
    retryable: false,
    help: "Take letters, digits, points, hyphens and underscores, 60 at most, and not v and digits alone, as in v0021: a run names its own evaluations so.",
  },
  EVALUATION_SAMPLES_ALIKE: {
    message: "{samples} samples of each task at temperature 0 would all be the same.",
    retryable: false,
    help: "Give a temperature above 0 (default with several samples: the one that the run trains with), or take one sample.",
  },
  EVALUATION_DIFFERS: {
    message: "The evaluation {evaluation} was begun otherwise: {differences}.",
    retryable: false,
    help: "Ask for the same to go on with it, or take another name.",
  },
  STEP_NOT_FOUND: {
    message: "The run {run} has no step {step}.",
    retryable: false,
    help: "Its page lists its steps; one is there when its trajectories have been trained on.",
  },
  EVALUATION_NOT_FOUND: {
    message: "The run {run} has no evaluation {evaluation}. {known}",
    retryable: false,
    help: "Name one as RUN/EVALUATION, or make one by `npx everturn evaluate {run}`.",
  },
  EVALUATIONS_INCOMPARABLE: {
    message: "{first} and {second} can't be compared: {reason}.",
    retryable: false,
    help: "Evaluate both policies on the same tasks, by `npx everturn evaluate RUN --tasks FILE`, and compare these evaluations.",
  },
  RUN_ALREADY_ACTIVE: {
    message: "The run {run} is being worked on by process {pid}.",
    retryable: true,
    help: "Wait for it, or end that process first.",
  },
  RUN_HELD_ELSEWHERE: {
    message:
      "The run {run} is being worked on by process {pid} of {host}, whose processes this machine or container can't see.",
    retryable: true,
    help: "Run the command there, or end that process first. Should {host} be gone, {file} does not change any more: `npx everturn resume` watches it for 20 seconds and then takes the run over.",
  },
  RUN_TAKEN_OVER: {
    message:
      "The run {run} was taken over by process {pid} of {host}, which saw no sign of life of this one.",
    retryable: false,
    help: "Nothing that was finished is lost, and the run goes on there. Both must see {run}'s folder change: look at the shared disk.",
  },
  RUN_FAILED: {
    message: "The run {run} failed: {reason}.",
    retryable: true,
    help: "Nothing that was finished is lost: correct the cause, then `npx everturn resume {run}`.",
  },
  INTERRUPTED: {
    message: "The work on {run} was interrupted, and all of it has ended.",
    retryable: false,
    help: "Nothing that was finished is lost: `npx everturn resume {run}` goes on with the training, and so does `train()` of the library.",
  },
  WORKER_ENDED: {
    message: "The {role} worker ended {times} ({reason}). Its log {log} ends with:\n{lines}",
    retryable: true,
    help: "Nothing that was finished is lost: correct the cause, then `npx everturn resume {run}`.",
  },
  WORKER_OUT_OF_MEMORY: {
    message: "The {role} worker ran out of memory {times}: {reason}. Its log {log} ends with:\n{lines}",
    retryable: true,
    help: "Nothing that was finished is lost. Give it more (a full heap: NODE_OPTIONS=--max-old-space-size=<MiB>; else: memory for the machine or container) or let it hold less (rollout.concurrency, policy.config.slots and keyValueMemory, the trainer's minibatchSize), then `npx everturn resume {run}`.",
  },
  TRAJECTORY_NOT_DETERMINISTIC: {
    message:
      "Today's workflow code doesn't make the commands that the history of {trajectory} holds: {reason}",
    retryable: false,
    help: "Keep the run on the code it began with, or put the change behind `patched` of @temporalio/workflow.",
  },
  QUERY_INVALID: {
    message: "The {what} “{text}” can't be used: {reason}.",
    retryable: false,
    help: 'Write what stands behind WHERE or ORDER BY, such as --where "reward < 0 and tool = \'python\'" or --sort "reward desc". The columns: {columns}.',
  },
  QUERY_DRIVER_MISSING: {
    message: "Conditions on trajectories need the package {missing}, which is not installed.",
    retryable: false,
    help: "`npm install {missing}` in your project; --min-reward, --tool and the like do without.",
  },
  TELEMETRY_PACKAGES_MISSING: {
    message: "This run has telemetry, which needs packages that are not installed: {missing}.",
    retryable: false,
    help: "Run `npm install {install}` in your project. To start a run without telemetry, set OTEL_SDK_DISABLED=true.",
  },
  TRAJECTORY_NOT_FOUND: {
    message: "There is no trajectory {trajectory}.",
    retryable: false,
    help: "{hint}",
  },
  TRAJECTORY_AMBIGUOUS: {
    message: "{count} trajectories end in {trajectory}.",
    retryable: false,
    help: "Write more of the id: {matches}.",
  },
  TRAJECTORY_NOT_LIVE: {
    message: "The trajectory {trajectory} takes no orders: {reason}.",
    retryable: false,
    help: "`npx everturn show {trajectory}` prints it; `npx everturn fork` starts another one from its turns.",
  },
  ORDER_REFUSED: {
    message: "The trajectory {trajectory} refuses the order {order}: {reason}.",
    retryable: false,
    help: "",
  },
  ORDER_UNANSWERED: {
    message: "No worker took the order {order} for {trajectory} within {seconds} s.",
    retryable: true,
    help: "Nothing has happened; send it again when the run's workers are up.",
  },
  MESSAGE_NOT_FRAMED: {
    message: "The policy's chat template has no place for a {role} message between two actions: {reason}.",
    retryable: false,
    help: "Say it in another role.",
  },
  TURN_NOT_FORKABLE: {
    message: "The trajectory {trajectory} can't be forked after turn {turn}: it has {turns}.",
    retryable: false,
    help: "--turn says how many of its turns the fork keeps: 0 keeps its prompt alone, {last} is the most.",
  },
  TRAJECTORY_UNDER_WAY: {
    message: "The trajectory {trajectory} is under way.",
    retryable: true,
    help: "Fork it when it has ended.",
  },
  FORK_FAILED: {
    message: "The fork {fork} failed: {reason}.",
    retryable: true,
    help: "Correct the cause and fork again; the trajectory it came from is as it was.",
  },
  TURN_MISSING: {
    message: "Turn {turn} of {trajectory} is not in its journal.",
    retryable: true,
    help: "The worker must see the run's folder; check that it is the one the run was started with.",
  },
  SEGMENT_MISSING: {
    message: "The segment {ref} is in no turn of {trajectory} that can be read.",
    retryable: true,
    help: "The worker must see the run's folder; check that it is the one the run was started with. `npx everturn ledger` names what is broken.",
  },
  RECORD_CORRUPT: {
    message: "{file} can't be read: {reason}.",
    retryable: false,
    help: "The file was changed or cut; restore it from a copy, or delete it to have it made again.",
  },

  STEP_NOT_FOLDED: {
    message: "The trajectories of step {step} are not in one file: {reason}.",
    retryable: true,
    help: "Nothing is lost: their single records stay, and the next step, or `npx everturn prune`, tries again.",
  },

  DISK_FULL: {
    message: "{file} can't be written: the disk is full.{wanted} {free} are free.",
    retryable: true,
    help: "Make room on that disk: what waits to be written then goes on by itself. If the run has stopped, `npx everturn resume` it; nothing that was finished is lost.",
  },
  PATH_UNUSABLE: {
    message: "{path} can't be used: {reason}.",
    retryable: false,
    help: "Name another path, or mend this one.",
  },
  FILES_IN_THE_WAY: {
    message: "{folder} has {files} already. Nothing was written.",
    retryable: false,
    help: "Name another folder, or move what is in the way: nothing is overwritten.",
  },
  TEXT_ENCODING_WRONG: { message: "{at}: not UTF-8 text.", retryable: false, help: "{hint}" },
  STORE_NOT_WRITABLE: {
    message: "{file} can't be written: {reason}.",
    retryable: true,
    help: "Mend that (make the run's folder writable, raise the limit): what waits to be written then goes on by itself. If the run has stopped, `npx everturn resume` it; nothing that was finished is lost.",
  },
  STORE_NOT_READABLE: {
    message: "{file} can't be read: {reason}.",
    retryable: true,
    help: "Mend that (mount the file system again, give this user access, raise the limit): what waits to be read then goes on by itself. If the run has stopped, `npx everturn resume` it; nothing that was finished is lost.",
  },
  STORE_UNUSABLE: {
    message: "The store {store} of the run {run} can't be opened: {reason}",
    retryable: true,
    help: "run.json names it by the URL of a module that opens it (EVERTURN_STORE when the run was made); every machine that works on the run needs that module and what it connects to.",
  },
  STORAGE_STALLED: {
    message: "The run {run} stopped: nothing could be written or read for {minutes} minutes. {reason}",
    retryable: true,
    help: "Then `npx everturn resume {run}`.",
  },
  FILES_GONE: {
    message: "The files of {tree}, {part}, are not those that were committed: {reason}.",
    retryable: false,
    help: "They were removed, changed or cut; `npx everturn ledger` lists all such files. Those of the newest step `npx everturn resume` makes again, the same, from the version before and the recorded trajectories, and those of version 0 and the warm start's. Restore others from a copy.",
  },
  ATTEMPT_SUPERSEDED: {
    message: "{file} was written by another attempt, which came first.",
    retryable: true,
    help: "Nothing is lost: what the first one wrote stands, and this one's work is dropped.",
  },
  LEDGER_BROKEN: {
    message: "The ledger of {run} doesn't hold, {count}:\n{findings}",
    retryable: false,
    help: "docs/durability.md says what each of these means. Restore the files named here from a copy, or go on from a whole version of the policy.",
  },

  // Sandboxes
  SANDBOX_MISSING: {
    message: "There is no sandbox here (wished: {wish}). {reasons}.",
    retryable: false,
    help: "Install one; `docs/sandboxes.md` compares them.",
  },
  SANDBOX_UNKNOWN: {
    message: "There is no kind of sandbox “{wish}”.",
    retryable: false,
    help: "Take one of {kinds}.",
  },
  SANDBOX_FAILED: {
    message: "The sandbox {kind} failed: {reason}.",
    retryable: true,
    help: "It is started again with the next program.",
  },
  SANDBOX_CLOSED: {
    message: "The sandbox's session has been closed.",
    retryable: false,
    help: "Open another one.",
  },
  SANDBOX_LANGUAGE_MISSING: {
    message: "The sandbox {kind} has no {language}.",
    retryable: false,
    help: "It has {languages}; `docs/sandboxes.md` compares them.",
  },
  SANDBOX_KEEPS_NOTHING: {
    message: "The sandbox {kind} keeps no variables from program to program.",
    retryable: false,
    help: "Set `keep: false`; files stay in any case.",
  },
  SANDBOX_PATH_INVALID: {
    message: "“{path}” is no path of a file below a sandbox's working folder.",
    retryable: false,
    help: "Write it relative to that folder, without `..`: data/rows.csv.",
  },
  SANDBOX_DISK_FULL: {
    message: "The files don't fit into the sandbox, which holds {disk} MiB.",
    retryable: false,
    help: "Give it a larger `disk`, or fewer files.",
  },

  // Trajectories and steps
  TOOL_FAILED: {
    message: "The tool {tool} failed: {reason}.",
    retryable: true,
    help: "It is retried under the tool's retry policy; if it keeps failing, look at the tool's host.",
  },
  TOOL_TIMED_OUT: {
    message: "The tool {tool} did not answer within {seconds} s.",
    retryable: true,
    help: "It is retried under the tool's retry policy; if it keeps timing out, raise tools[].timeout or look at the tool's host.",
  },
  TOOL_GAVE_UP: {
    message: "The tool {tool} failed {times}, the last time because: {reason}.",
    retryable: false,
    help: "The trajectory is left out of its step and counted. Mend the tool's host, or raise tools[].retry.maximumAttempts.",
  },
  TOOL_HOST_DOWN: {
    message: "The host {host} has been down for longer than {seconds} s: {reason}.",
    retryable: false,
    help: "The trajectory is left out of its step and counted. Mend the host, or raise hosts.{host}.patience.",
  },
  TOOL_STATE_LOST: {
    message: "The tool {tool} lost the state of {trajectory} with its worker.",
    retryable: false,
    help: "The trajectory is left out of its step and counted. A tool keeps its state where its manifest says recovery: snapshot or replay (docs/tools.md).",
  },
  TOOL_LEASE_TAKEN: {
    message: "Another worker took over the state that {tool} holds for {trajectory}.",
    retryable: true,
    help: "Nothing is lost: the call goes on from there.",
  },
  TOOL_NOT_RECORDED: {
    message:
      "{recordings} has no result of {tool} for task {task} with the arguments {arguments} (occurrence {occurrence}).",
    retryable: false,
    help: "The trajectory is left out of its step and counted. Record more trajectories of the task, or let the tools be called: leave out rollout.toolRecordings.",
  },
  TIME_LIMIT_REACHED: {
    message: "{what} took the {seconds} s that were left of the trajectory's time.",
    retryable: false,
    help: "The trajectory ends with the outcome time-limit and is scored as it is. Raise rollout.limits.turnTime or rollout.limits.time if it should have more.",
  },
  REWARD_FAILED: {
    message: "The reward manager {reward} failed: {reason}.",
    retryable: true,
    help: "It is tried again under the reward's retry policy; if it keeps failing, look at what it depends on.",
  },
  REWARD_TIMED_OUT: {
    message: "The reward manager {reward} did not answer within {seconds} s.",
    retryable: true,
    help: "It is tried again under the reward's retry policy; if it keeps timing out, raise reward.timeout or look at what it depends on.",
  },
  REWARD_GAVE_UP: {
    message: "The reward manager {reward} failed {times}, the last time because: {reason}.",
    retryable: false,
    help: "The trajectory is left out of its step and counted. Mend what the reward depends on, or raise reward.retry.maximumAttempts.",
  },
  TASKS_UNSCORED: {
    message: "{at}: No reward with a weight scores the data source “{source}”, which {tasks} have.",
    retryable: false,
    help: "Name it in `dataSources` of one of the pipeline's rewards, or add a reward without `dataSources`, which scores all tasks.",
  },
  TASKS_REFUSED: {
    message: "{at}: The tool {tool} can't be used in {tasks}: {reason}.",
    retryable: false,
    help: "Mend these tasks, leave them out, or change the tool's configuration.",
  },
  IMAGES_NOT_READ: {
    message: "{at}: The prompt of {tasks} shows images, and the policy {policy} reads text alone.",
    retryable: false,
    help: "Name a policy that reads images, such as policy-openai, or take <image> out of the prompts: the images of a row stay for its tools.",
  },
  IMAGE_UNUSABLE: {
    message: "{at}: The images of {tasks} can't be shown: {reason}.",
    retryable: false,
    help: "Mend the rows, or name the folder of their images by dataset.images.",
  },
  REWARD_MISSING: {
    message: "The reward manager {reward} has no score: {reason}.",
    retryable: false,
    help: "The trajectory is left out of its step and counted. What the reward says is missing is no 0.",
  },
  BATCH_EMPTY: {
    message: "Every trajectory of step {step} was left out. {reason}.",
    retryable: false,
    help: "Mend what failed (a tool's host, the reward's, the disk), then `npx everturn resume {run}`.",
  },
  EVALUATION_EMPTY: {
    message: "Every trajectory of {evaluation} was left out, so that it has no accuracy. {reason}.",
    retryable: false,
    help: "Mend what fails, then `npx everturn resume {run}` or evaluate again: turns and calls that finished are not repeated.",
  },
  TOO_MANY_FAILURES: {
    message:
      "Infrastructure failed {count} of {of} trajectories of step {step}, more than rollout.maxInfrastructureFailures ({share}) allows. {times} of them, such as {trajectory}: {reason}.",
    retryable: false,
    help: "Mend what fails, then `npx everturn resume {run}`: what has finished is kept, and what was left out is tried again.",
  },
  ROLLOUT_LOST: {
    message: "The workflow {shard}, which rolled out groups of {run}, ended without them: {reason}.",
    retryable: false,
    help: "`npx everturn resume {run}` starts them again; turns and calls that finished are not repeated.",
  },
  EMBEDDING_MODEL_INVALID: {
    message: "{folder} is no embedding model that can be used: {reason}.",
    retryable: false,
    help: "Give the folder of a sentence-transformers model of BERT's family, such as all-MiniLM-L6-v2, with its model.safetensors and tokenizer.json.",
  },
  VECTOR_FILE_INVALID: {
    message: "{path} has {size} bytes, which is no whole number of vectors of {dimensions} numbers.",
    retryable: false,
    help: "Remove it: it is made again.",
  },
  DATABASE_NOT_NAMED: {
    message: "The configuration names no database for the task: {reason}.",
    retryable: false,
    help: "Give `database`, a file; or `folder`, and in each task extra_info.database; or for PostgreSQL `urlVariable`.",
  },
  DATABASE_UNUSABLE: {
    message: "{database} can't be read: {reason}.",
    retryable: true,
    help: "Look whether the file is a whole database of that kind, or whether its server runs and lets you in.",
  },
  DATABASE_DRIVER_MISSING: {
    message: "{engine} databases need the package {missing}, which is not installed.",
    retryable: false,
    help: "`npm install {missing}` in your project.",
  },
  DATABASE_PROCESS_FAILED: {
    message: "The process in which queries run did not start: {reason}.",
    retryable: true,
    help: "Look whether the machine has memory and processes left.",
  },
  TOO_MANY_TRAJECTORIES: {
    message: "{count} trajectories hold instances of tools already.",
    retryable: true,
    help: "Finish some (`finish` in verl-tool's protocol, the end of a session in MCP's), or allow more: `--trajectories`.",
  },
  PORT_UNUSABLE: {
    message: "The server can't listen on {host}, port {port}: {reason}.",
    retryable: true,
    help: "Another program may have it. Name another one, or 0 for any that is free: `--port 0`.",
  },
  SERVER_ENDS: {
    message: "The server of the tools ends.",
    retryable: true,
    help: "Ask the one that is started next.",
  },
  COMMAND_INVALID: {
    message: "{reason}.",
    retryable: false,
    help: "`npx everturn --help`, or the same of the command, lists what it takes.",
  },
  UNEXPECTED: {
    message: "An error that Everturn did not foresee: {reason}.",
    retryable: false,
    help: "Standard error has its stack. Report it with the command that you gave.",
  },
  LOOP_NOT_BUNDLED: {
    message: "This orchestration worker has no agent loop {loop}.",
    retryable: true,
    help: "Start the worker with the run's own plan: `npx everturn worker --run RUN --role orchestration`.",
  },
  LOOP_TOOL_MISSING: {
    message: "The agent loop {loop} calls the tool {tool}, which the pipeline has not.",
    retryable: false,
    help: "Add it to `tools` of the pipeline, under the name that the loop calls; a tool that is only for loops is not told to the policy.",
  },
  AGENT_UNKNOWN: {
    message: "{at}: There is no agent loop “{agent}”, which {tasks} by agent_name.{hint}",
    retryable: false,
    help: "Name it under `loops` of the pipeline, as in `loops:` with a line `tool_agent: loop-tool-agent`; tasks without agent_name have its `loop`.",
  },
  LOOP_STUCK: {
    message: "The agent loop {loop} does not return.",
    retryable: false,
    help: "It computes for seconds without awaiting anything: a `while` that nothing ends, or a regular expression that tries for ever on what the model wrote. Mend it, then `npx everturn resume RUN --upgrade`.",
  },
  LOOP_MODULE_STUCK: {
    message:
      "The module of the agent loop {loop} does not return: it computes for seconds where it is loaded.",
    retryable: false,
    help: "Do that work in the loop, or in a tool. In workflow code the clock stands still while it computes: who waits there for `Date.now()` waits for ever. Mend it, then `npx everturn resume RUN --upgrade`.",
  },
  // An agent's session
  SESSION_ENDED: {
    message: "The trajectory {trajectory} has ended, and takes no request of its agent any more.",
    retryable: false,
    help: "Its agent is ended, too; what a process that lives on asks is refused.",
  },
  SESSION_MOVED: {
    message: "The trajectory {trajectory} goes on in a new history, where its agent is started again.",
    retryable: true,
    help: "",
  },
  AGENT_FAILED: {
    message: "The agent {agent} failed: {reason}.",
    retryable: true,
    help: "It is started again, and answered from the record as far as its requests are the same; its output is in the run's log of the tools worker.",
  },
  AGENT_GAVE_UP: {
    message: "The agent {agent} failed {times}, the last time because: {reason}.",
    retryable: false,
    help: "The trajectory is left out of its step and counted. Mend the agent, or raise the loop's attempts.",
  },

  LOOP_TURN_INVALID: {
    message: "Turn {turn} of the agent loop {loop} has {count}.",
    retryable: false,
    help: 'An agent loop is one turn: call context.generate() once, and return "continue" for the next turn.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** A code of the table. */
export type ErrorCode = keyof typeof errorTable;
