/**
 * The table's entry for one error code. The error's parameters fill `{name}` in `message` and `help`. `retryable` is
 * whether the same attempt can succeed later.
 */
export interface ErrorEntry {
  /** What is wrong and where. */
  readonly message: string;
  readonly retryable: boolean;
  /** What to do about it. */
  readonly help: string;
}

/**
 * Every error that Everturn throws on purpose. A code is also the failure type in Temporal and a heading in
 * docs/errors.md. A test keeps them in sync. Workflow code imports this file, so it imports nothing.
 */
export const errorTable = {
  // Text of a pipeline, manifest, or data file. {at} is file:line:column.
  YAML_SYNTAX: { message: "{at}: not valid YAML: {reason}.", retryable: false, help: "{hint}" },
  JSON_SYNTAX: { message: "{at}: not valid JSON: {reason}.", retryable: false, help: "{hint}" },
  NUMBER_INEXACT: {
    message: "{at}: the number {number}{holder} cannot be kept exactly.",
    retryable: false,
    help: "A number keeps about 15 digits and must be below about 1.8e308. Write this one in quotes, as text.",
  },
  DUPLICATE_KEY: {
    message: "{at}: the key “{key}” appears twice in one mapping.",
    retryable: false,
    help: "Line {line} already contains it. Remove one of the two.",
  },
  UNKNOWN_KEY: { message: "{at}: unknown key “{key}” in {where}.", retryable: false, help: "{hint}" },
  MISSING_KEY: {
    message: "{at}: {where} lacks “{key}”.",
    retryable: false,
    help: "Add “{key}”: {hint}",
  },
  WRONG_TYPE: {
    message: "{at}: {where} must be {expected}, but is {actual}.",
    retryable: false,
    help: "{hint}",
  },
  WRONG_VALUE: { message: "{at}: {where} is {actual}, but {expected}.", retryable: false, help: "{hint}" },
  WRONG_COMBINATION: { message: "{at}: {where} {reason}.", retryable: false, help: "{hint}" },
  WRONG_CONFIGURATION: {
    message: "{file}: {count} found:\n{problems}",
    retryable: false,
    help: "Correct it and run again.",
  },

  // A pipeline
  PIPELINE_NOT_FOUND: { message: "There is no pipeline {file}.", retryable: false, help: "{hint}" },
  PIPELINE_EMPTY: {
    message: "{at}: the pipeline is empty.",
    retryable: false,
    help: "Copy pipelines/calculator.yaml and change it.",
  },
  PIPELINE_NOT_A_MAPPING: {
    message: "{at}: a pipeline must be a mapping of keys to values, but this is {actual}.",
    retryable: false,
    help: "Start with `name: my-pipeline`, or copy pipelines/calculator.yaml.",
  },
  PIPELINE_MANY_DOCUMENTS: {
    message: "{at}: a second YAML document starts here, but a pipeline file contains one document.",
    retryable: false,
    help: "Remove the `---`, or move the second document to its own file.",
  },
  VARIABLE_UNSET: {
    message: "{at}: the environment variable {name} is not set.",
    retryable: false,
    help: "Set it, or give it a default, as docs/pipelines.md explains.",
  },
  EXTENDS_INVALID: {
    message: "{at}: “extends” can't be resolved: {reason}.",
    retryable: false,
    help: "Name a pipeline file relative to this one, for example base.yaml.",
  },
  BLOCK_INVALID: {
    message: "{at}: “use” can't be resolved: {reason}.",
    retryable: false,
    help: "{hint}",
  },
  OVERRIDE_INVALID: {
    message: "The override “{override}” {reason}.",
    retryable: false,
    help: "Write it as path.to.key=value, for example rollout.batchSize=32.",
  },
  BATCH_NOT_DIVISIBLE: {
    message: "{at}: {where} is {value}, which is not a multiple of {divisorName} ({divisor}).",
    retryable: false,
    help: "{hint}",
  },
  DATASET_EMPTY: {
    message: "{at}: the data set contains no tasks.",
    retryable: false,
    help: "Add rows to it, or name another data set.",
  },
  DEMONSTRATIONS_EMPTY: {
    message: "{at}: the file contains no demonstrations.",
    retryable: false,
    help: "Add rows to it, or remove warmStart.",
  },
  EXAMPLES_EMPTY: { message: "{at}: the file contains no rows.", retryable: false, help: "Add rows to it." },
  EXAMPLES_CHANGED: {
    message: "{file} has changed or was removed since the run's plan was made.",
    retryable: false,
    help: "Restore the original file, because the run refers to its rows by number. To train on other rows, start a new run.",
  },
  ROWS_TOO_LONG: {
    message: "{at}: {rows} {need}: {list}.",
    retryable: false,
    help: "Shorten or remove these rows, or allow more tokens: use a longer context (policy-onnx: architecture.max_position_embeddings, or another model), raise the limit, or offer fewer tools in the prompt.",
  },
  ROWS_NOT_FRAMED: {
    message: "{at}: {rows} can't be converted to tokens: {list}. {reason}",
    retryable: false,
    help: "Correct these rows, or the policy's chat template.",
  },
  DEMONSTRATED_ACTION_TOO_LONG: {
    message:
      "{at}: {rows} of the {counted} counted demonstrations contain an action of more than {limit} tokens (rollout.maxActionTokens), up to {longest}.",
    retryable: false,
    help: "In a rollout, such an action would always be cut off. Raise rollout.maxActionTokens to at least {longest}, or use shorter demonstrations.",
  },
  TOOLS_NOT_SHOWN: {
    message:
      "{at}: the policy's chat template shows no tools, but the policy may call {tools}. No prompt mentions them and no demonstration calls them, so the policy could never learn to call them.",
    retryable: false,
    help: "Name a chat template that shows tools (policy.config.chatTemplate): models that write ChatML, such as SmolLM2, can use templates/chat/chatml-tools.jinja, which Everturn contains. Or describe the tools in the prompts, or demonstrate calls (warmStart). If the policy already knows the tools, set rollout.templateCheck to off.",
  },
  PROBE_WITHOUT_STEPS: {
    message: "{pipeline} has no steps, so there is nothing to probe.",
    retryable: false,
    help: "Give it steps, for example with --set steps=10.",
  },
  DEMONSTRATED_CALL_INVALID: {
    message: "{at}: a demonstrated call of “{tool}” is invalid{more}. {reason}",
    retryable: false,
    help: "Correct the row. Otherwise the policy would learn calls that fail.",
  },
  DEMONSTRATED_TOKENS_FOREIGN: {
    message: "{at}: the row's token ids{rows} do not fit the policy's tokenizer: {reason}.",
    retryable: false,
    help: "Use trajectories of a model with this tokenizer, or remove prompt_token_ids, completion_token_ids and logprobs from every row. Everturn then frames the messages with the policy's chat template.",
  },
  DEMONSTRATED_TOOL_NOT_SHOWN: {
    message: "{at}: a demonstrated call of “{tool}” is invalid{more}. {reason}",
    retryable: false,
    help: "If it is one of the agent's own tools, name its export under the pipeline's `tools`, or add `tools` to each row: the list of tools that the agent sends. docs/agents.md shows both.",
  },
  DEMONSTRATED_TOOLS_INVALID: {
    message: "{at}: {reason}",
    retryable: false,
    help: "For an agent, `tools` lists its tools as the agent sends them, in OpenAI's format. Correct the list, or rename a column with another meaning.",
  },
  DUPLICATE_TOOL: {
    message: "{at}: {plugin} offers the tool “{tool}”, but {other} already uses that name.",
    retryable: false,
    help: "Remove one of the two, or rename the tool or one of its `functions` with `name`.",
  },
  FILE_NOT_FOUND: {
    message: "{at}: {where} names {path}, which doesn't exist.",
    retryable: false,
    help: "{hint}",
  },

  // Plugins
  PLUGIN_NOT_FOUND: {
    message: "{at}: there is no plugin “{name}”.",
    retryable: false,
    help: "{hint}",
  },
  PLUGIN_WRONG_KIND: {
    message: "{at}: {where} needs a {expected} plugin, but {name} is a {actual} plugin.",
    retryable: false,
    help: "{hint}",
  },
  PLUGIN_ENGINE_MISMATCH: {
    message: "{at}: {name} {version} requires everturn {range}, but this is everturn {engine}.",
    retryable: false,
    help: "Install a version of {name} that supports everturn {engine}, or an everturn version in {range}.",
  },
  PLUGIN_AMBIGUOUS: {
    message: "{at}: two plugins are named “{name}”: {first} and {second}.",
    retryable: false,
    help: "Rename one of them, or refer to the plugin by the path of its folder.",
  },
  PLUGIN_SCHEMA_INVALID: {
    message: "{at}: {where} is not a valid JSON Schema (draft-07): {reason}.",
    retryable: false,
    help: "{hint}",
  },
  PLUGIN_PATH_MISSING: {
    message: "{at}: {where} names {path}, which doesn't exist.",
    retryable: false,
    help: "Create the file, or correct the path. The path is relative to the manifest's folder.",
  },
  PLUGIN_UNUSABLE: {
    message: "{at}: the plugin can't be used. {reason}",
    retryable: false,
    help: "",
  },
  PLUGIN_FILE_INVALID: { message: "{at}: {reason}.", retryable: false, help: "{hint}" },
  PLUGIN_ENTRY_FAILED: {
    message: "{name}: Everturn can't import its entry {file}: {reason}.",
    retryable: false,
    help: "Run `node {file}` to see the complete error.",
  },
  PLUGIN_EXPORT_INVALID: {
    message: "{name}: the default export of {file} {reason}.",
    retryable: false,
    help: "A {kind} plugin's default export is {expected}.",
  },
  PLUGIN_BROKEN: {
    message: "The plugin {plugin} has a bug at {place}: {reason}.",
    retryable: false,
    help: "The run stops, because a retry would fail in the same way. Fix the plugin, then continue with `npx everturn resume`.",
  },
  PLUGIN_ANSWER_INVALID: {
    message: "{name}() of the plugin {plugin} returned {given}, but {expected}.",
    retryable: false,
    help: "The run stops, because a retry would fail in the same way. Fix the plugin, then continue with `npx everturn resume`.",
  },
  PLUGIN_THREAD_ENDED: {
    message: "The thread of the plugin {plugin} ended: {reason}.",
    retryable: true,
    help: "Everturn repeats the work in a new thread. The worker's log names the call that ended the old one.",
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
    help: "Copy the file again, or save it as F32, F16 or BF16.",
  },
  CHECKPOINT_INVALID: {
    message: "The weights in {folder} can't be read: {reason}.",
    retryable: false,
    help: "Name a folder that contains model.safetensors, or model.safetensors.index.json with all its shards.",
  },
  ADAPTER_INVALID: {
    message: "The adapter in {folder} can't be used: {reason}.",
    retryable: false,
    help: "Name a folder that contains adapter_config.json and adapter_model.safetensors of a LoRA adapter, as PEFT writes them.",
  },
  GGUF_INVALID: {
    message: "{path} can't be read as GGUF: {reason}.",
    retryable: false,
    help: "Copy the file again. It must be a little-endian GGUF file of version 2 or 3.",
  },
  GGUF_UNSUPPORTED: {
    message: "{path} can't be imported: {reason}.",
    retryable: false,
    help: "docs/models.md lists the supported models. You can also convert the model to a Hugging Face folder with its own tools.",
  },
  GGUF_EXPORT_FAILED: {
    message: "The model in {folder} can't be exported as GGUF: {reason}.",
    retryable: false,
    help: "Export it to a folder instead. Safetensors supports every model that Everturn loads.",
  },
  MODEL_NOT_FOUND: {
    message: "There is no model {source}.",
    retryable: false,
    help: "Name a GGUF file, a Hugging Face folder, or one of the built-in names: {known}.",
  },
  ADAPTER_NOT_MERGED: {
    message: "{folder} contains an adapter, but a GGUF file can't store adapters.",
    retryable: false,
    help: "Add --merge to write the base model with the adapter merged into its weights.",
  },
  TARGET_NOT_EMPTY: {
    message: "{path} already exists.",
    retryable: false,
    help: "Name a new folder or file. Everturn does not overwrite existing files.",
  },
  TOKENIZER_INVALID: {
    message: "The tokenizer in {folder} can't be used: {reason}.",
    retryable: false,
    help: "Name a folder that contains tokenizer.json and tokenizer_config.json in Hugging Face's format.",
  },
  CHAT_TEMPLATE_FAILED: {
    message: "The chat template can't be rendered: {reason}.",
    retryable: false,
    help: "Correct the template (chat_template.jinja, or chat_template in tokenizer_config.json) or the messages that it rejects. Replace unsupported Jinja with simpler Jinja.",
  },
  TEMPLATE_NOT_FOUND: {
    message: "{path} does not exist.",
    retryable: false,
    help: "Name a model folder with tokenizer.json and tokenizer_config.json, or a file with a Jinja template.",
  },
  CHAT_TEMPLATE_UNUSABLE: {
    message: "The chat template can't be used for several turns: {reason}.",
    retryable: false,
    help: "Use a template whose text only grows with each message and that ends an assistant message with a dedicated token, such as eos_token.",
  },
  TEMPLATE_VARIABLE_UNKNOWN: {
    message: "The chat template does not use a variable “{variable}”. {hint}",
    retryable: false,
    help: "Correct policy.config.templateVariables. `npx everturn template` lists the variables of a template.",
  },
  TEMPLATE_WITHOUT_DATE: {
    message:
      "The date {date} can't be set in the chat template: the template does not use the date, or the date is invalid.",
    retryable: false,
    help: "Remove policy.config.templateDate, or pass the date in a variable of the template with policy.config.templateVariables.",
  },
  STOP_TOKEN_UNKNOWN: {
    message: "policy.config.stopTokens contains “{token}”, which is not in the vocabulary.",
    retryable: false,
    help: "Write the token as in tokenizer.json. For a text of several tokens, use sampling.stop.",
  },
  LOGITS_NOT_FINITE: {
    message: "The policy's logits are not finite (at token {token}).",
    retryable: false,
    help: "Training diverged. Go back to an earlier version and lower the learning rate.",
  },
  POLICY_VERSION_NOT_LOADED: {
    message: "Version {version} of the policy is not loaded.",
    retryable: true,
    help: "Load the version before you generate with it. Everturn unloads versions that have not been used for a while.",
  },
  ENGINE_FAILED: {
    message: "{engine} at {url} {reason}.",
    retryable: true,
    help: "Check the inference server's log. Nothing is lost: Everturn generates the turn again, on another replica if there is one.",
  },
  ENGINE_REFUSED: {
    message: "{engine} at {url} {reason}.",
    retryable: false,
    help: "Start the inference server as docs/engines.md describes. It must see the run's folder under the same path to load weights.",
  },
  ENGINE_SAMPLING: {
    message:
      "{engine} can't sample actions at temperature {temperature}, because it reports log-probabilities only for one temperature.",
    retryable: false,
    help: "Set `rollout.temperature` to 1, or to 0 for greedy sampling.",
  },
  TOOL_GRAMMAR_FAILED: {
    message: "Calls of the tools {tools} can't be constrained: {reason}.",
    retryable: false,
    help: "Simplify the schema of the parameters, or set `toolCalls: free`.",
  },
  SAMPLER_FAILED: {
    message: "The sampler failed, which ended all generations of this version: {reason}.",
    retryable: true,
    help: "This is a bug in the sampler, not in your request. Please report it with the worker's log.",
  },
  SAMPLING_MEMORY_SHORT: {
    message:
      "Sampling needs {weights} for weights and {keyValues} for keys and values, but only {available} are free.",
    retryable: true,
    help: "Lower `keyValueMemory` or `slots` in the policy's configuration, free some memory, or use a smaller model.",
  },
  KEY_VALUES_NOT_ROUNDED: {
    message: "Keys and values can't be stored in 8 bits: {reason}.",
    retryable: false,
    help: "Remove `keyValues` from the policy's configuration.",
  },
  KEY_VALUE_MEMORY_TOO_SMALL: {
    message: "An action needs {needed} for its keys and values, but the limit is {available}.",
    retryable: false,
    help: "Raise `keyValueMemory` in the policy's configuration, or lower the maximum number of tokens per action.",
  },
  POLICY_CLOSED: {
    message: "The policy was closed while it was generating.",
    retryable: true,
    help: "Nothing is lost: Everturn generates the turn again with the same tokens.",
  },
  TOKENS_INVALID: {
    message: "The context for generation {reason}.",
    retryable: false,
    help: "Use tokens from the tokenizer of the policy that generates.",
  },
  TRAINER_LACKS: {
    message: "The trainer {name} does not implement {method}, which the pipeline's sft or dpo needs.",
    retryable: false,
    help: "Use a trainer that implements it, such as trainer-onnx. sft without heldOut does not need score.",
  },
  DEMONSTRATION_WITHOUT_ACTION: {
    message: "A demonstration of {messages} messages contains no assistant message.",
    retryable: false,
    help: "Add the assistant's answer, or remove the row.",
  },
  // Downloads and devices
  PACKAGE_FETCH_FAILED: {
    message: "Everturn could not fetch {package}: {reason}.",
    retryable: true,
    help: "Check that `{command}` is installed and up to date, and that it can reach its package registry.",
  },
  DEVICE_UNAVAILABLE: {
    message: "The device “{device}” can't be used on this machine: {reason}.",
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
    message: "A computation graph is invalid: {reason}.",
    retryable: false,
    help: "This is a bug in the code that builds the graph, not in the pipeline.",
  },
  ONNX_SESSION_FAILED: {
    message: "ONNX Runtime rejected a model: {reason}.",
    retryable: false,
    help: "Check that the installed onnxruntime-node has the version in package.json.",
  },
  ONNX_API_UNREACHABLE: {
    message: "ONNX Runtime's C API can't be called: {reason}.",
    retryable: false,
    help: "This is a warning. Models run through onnxruntime-node instead, which needs more time and memory. Install koffi with its prebuilt package, and make sure that nothing else in the process lowers its limits.",
  },
  ONNX_RUNS_BLOCK: {
    message: "Another part of this process loaded koffi with small stacks for calls in other threads.",
    retryable: false,
    help: "This is a warning. Training blocks its thread while a model runs. Set koffi's async_stack_size to 8388608 before the first library is loaded.",
  },
  ONNX_OUT_OF_MEMORY: {
    message: "A model ran out of memory: {reason}.",
    retryable: true,
    help: "The worker restarts and tries once more. Give it more memory, or lower rollout.concurrency, policy.config.slots, policy.config.keyValueMemory or the trainer's minibatchSize.",
  },
  ONNX_RUN_FAILED: {
    message: "A model failed to run: {reason}.",
    retryable: false,
    help: "Check that the weights and config.json belong to the same model.",
  },
  MODEL_CONFIG_INVALID: {
    message: "A model's configuration can't be used: {reason}.",
    retryable: false,
    help: "docs/models.md lists the supported model families and features.",
  },
  MODEL_WEIGHTS_MISMATCH: {
    message: "The weights do not match the model's configuration: {reason}.",
    retryable: false,
    help: "Take config.json and model.safetensors from the same checkpoint.",
  },
  TRAINING_BATCH_INVALID: {
    message: "A batch can't be used for training: {reason}.",
    retryable: false,
    help: "No weights were changed. Check the tokens, mask and log-probabilities of the trajectory.",
  },
  TRAINER_CLOSED: {
    message: "The trainer was closed while it was training.",
    retryable: true,
    help: "Nothing is lost: Everturn repeats the step from the last saved state.",
  },
  TRAINING_MEMORY_SHORT: {
    message:
      "Training on {tokens} tokens at once needs about {needed} MB more memory, but {available} MB are available.",
    retryable: false,
    help: "Raise the trainer's memory or lower maxTokensPerRun if you set them, train an adapter (lora) instead of all weights, or close other programs.",
  },
  TRAINING_NOT_FINITE: {
    message: "Training stopped at update {step}: {quantity} is {value}.",
    retryable: false,
    help: "No weights were changed. Lower the learning rate, or resume from an earlier checkpoint.",
  },
  TRAINING_DIVERGED: {
    message: "Training stopped at update {step}: {quantity} is {value}. The batch is saved in {file}.",
    retryable: false,
    help: "Nothing of the step was saved. Repeat it from the file (see docs/algorithms.md), lower the learning rate, or resume from an earlier checkpoint.",
  },
  TRAINING_STATE_INVALID: {
    message: "The trainer's saved state can't be restored: {reason}.",
    retryable: false,
    help: "Use the trainer state that was saved with this policy.",
  },
  TRAINING_REMOTE_LACKS: {
    message: "This step needs {needed}.",
    retryable: false,
    help: "A training server returns the log-probabilities of tokens at temperature 1. Set rollout.temperature to 1, and use a loss and terms that read nothing else. Or use trainer-onnx.",
  },

  // Training servers that speak Tinker's API
  TINKER_SERVER_REFUSED: {
    message: "Everturn does not train on {server}: {reason}.",
    retryable: false,
    help: "Use a server of docs/tinker.md.",
  },
  TINKER_PROFILE_MISMATCH: {
    message: "{server} does not compute what its profile says: {quantity} is {measured}, not {expected}.",
    retryable: false,
    help: "Nothing was trained. Check trainer.config.server: it must name the server's own software and its back end. A newer release of the server may have another arithmetic.",
  },
  TINKER_VOCABULARY_UNFIT: {
    message:
      "{server} returns no probability for token {token}, the last of the policy's {vocabulary} tokens.",
    retryable: false,
    help: "Nothing was trained. The server's base model needs the policy's tokenizer: check trainer.config.baseModel and the policy's model.",
  },
  TINKER_CRITIC_UNFIT: {
    message: "The critic in {folder} does not fit the policy: {reason}.",
    retryable: false,
    help: "Set trainer.config.criticModel to a model with the policy's tokenizer, or remove it: the critic then starts from random weights.",
  },
  TINKER_REQUEST_REFUSED: {
    message: "The training server refused a request: {reason}.",
    retryable: false,
    help: "Check the URL, the API key's variable, the base model and the adapter's rank.",
  },
  TINKER_MODEL_LOST: {
    message: "The training server lost the model or an answer: {reason}.",
    retryable: true,
    help: "Nothing is lost: Everturn repeats the step or the action, in a new model with the last saved version. Check the server if this occurs at every attempt.",
  },
  TINKER_VERSION_UNUSABLE: {
    message: "Version {version} of the policy can't be sampled on {server}: {reason}.",
    retryable: false,
    help: "policy-tinker samples the versions that trainer-tinker trains, on the same server and with the same base model. Use both, or neither.",
  },
  TINKER_DOWNLOAD_FAILED: {
    message: "The adapter of {checkpoint} could not be downloaded from {url}: {reason}.",
    retryable: false,
    help: "Check that the server runs and still has the checkpoint. docs/tinker.md lists the servers that offer downloads.",
  },

  // Temporal
  TEMPORAL_BINARY_NOT_FOUND: {
    message: "There is no Temporal CLI at {path}.",
    retryable: false,
    help: "Correct EVERTURN_TEMPORAL or --temporal. Without them, Everturn uses the CLI on PATH or downloads one.",
  },
  TEMPORAL_BINARY_MISSING: {
    message: "Everturn found no Temporal CLI and could not download one ({tried}).",
    retryable: true,
    help: "Install the `temporal` CLI on PATH, name it with --temporal, or use a server with --address.",
  },
  TEMPORAL_SERVER_FAILED: {
    message: "The Temporal dev server failed: {reason}.",
    retryable: true,
    help: "See its log {log}.",
  },
  TEMPORAL_DATABASE_DAMAGED: {
    message: "The Temporal server cannot read its database {database}: {reason}.",
    retryable: false,
    help: "Move {database} and the files whose names start with it out of the run's folder, then resume the run. It continues after the last recorded step from the files of its folder. Only the histories in the Temporal UI are lost.",
  },
  TEMPORAL_SERVER_ENDED: {
    message: "The run's Temporal server exited {times} ({reason}). Its log {log} ends with:\n{lines}",
    retryable: true,
    help: "Finished work is kept. Fix the cause, then run `npx everturn resume {run}`. If another program uses the server's port, it starts on another port.",
  },
  TEMPORAL_RUN_FORGOTTEN: {
    message:
      "The Temporal server at {address} no longer knows the run {run}, because its database was replaced or the run's workflow was deleted.",
    retryable: true,
    help: "Finished work is kept. `npx everturn resume {run}` continues on that server from the files of the run's folder.",
  },
  TEMPORAL_UNREACHABLE: {
    message: "No Temporal server responds at {address}: {reason}.",
    retryable: true,
    help: "Check the address, or omit --address to start a dev server. {hint}",
  },
  TEMPORAL_OTHER_SERVER: {
    message:
      "The server at {address} is not the run's Temporal server: another server uses its port, or its database was replaced.",
    retryable: true,
    help: "Finished work is kept. `npx everturn resume` restarts the run's server, on another port if necessary.",
  },
  TEMPORAL_LOST: {
    message: "The Temporal server at {address} no longer responds: {reason}.",
    retryable: true,
    help: "Finished work is kept. When the server is back, run `npx everturn resume {run}`.",
  },
  TEMPORAL_REFUSED: {
    message: "The Temporal server at {address} rejects the namespace {namespace}: {reason}.",
    retryable: false,
    help: "Check the namespace's name, or create it with `temporal operator namespace create --namespace {namespace}`.",
  },
  TEMPORAL_TLS_FAILED: {
    message: "The TLS connection to the Temporal server at {address} failed: {reason}.",
    retryable: false,
    help: "{hint}",
  },
  TEMPORAL_UNAUTHORIZED: {
    message:
      "The Temporal server at {address} does not accept these credentials for the namespace {namespace}: {reason}",
    retryable: false,
    help: "Check TEMPORAL_API_KEY (or the client certificate), whether it has expired, and whether its owner may write to the namespace.",
  },
  SEARCH_ATTRIBUTES_MISSING: {
    message:
      "The namespace {namespace} at {address} does not have the search attributes {names}, and these credentials may not create them.",
    retryable: false,
    help: "Ask the namespace's administrator to create them:\n{command}\nOn Temporal Cloud:\n{cloud}",
  },
  WORKER_SERVES_NOTHING: {
    message: "The {role} worker has nothing to serve.",
    retryable: false,
    help: "Name either a run with --run or a pool with --pool. Pools have workers of the roles policy and trainer only.",
  },
  POOL_NEEDS_SERVER: {
    message: "The pool {pool} needs a Temporal server that its runs share.",
    retryable: false,
    help: "Pass the server's address with --address or TEMPORAL_ADDRESS.",
  },
  TEMPORAL_SETTINGS_INVALID: {
    message: "Temporal's environment settings can't be used: {reason}.",
    retryable: false,
    help: "Correct TEMPORAL_PROFILE, TEMPORAL_CONFIG_FILE, the file it names, or the paths of certificates and keys.",
  },
  CODEC_KEYS_MALFORMED: {
    message: "{variable} can't be read: {reason}.",
    retryable: false,
    help: "Set it to pairs such as `2026-12:KEY`, separated by commas. `openssl rand -base64 32` makes a key.",
  },
  CODEC_KEY_MISSING: {
    message: "{who} can't decrypt {what}: {variable} does not contain the key “{key}”.",
    retryable: true,
    help: "Add the key to {variable} in its environment, as `{key}:KEY`, and start it again.",
  },
  CODEC_KEY_WRONG: {
    message: "{who} has a wrong key “{key}”: {reason}.",
    retryable: true,
    help: "Correct the key “{key}” in {variable} in its environment, and start it again.",
  },
  WORKFLOWS_NOT_BUNDLED: {
    message: "The run's workflows with the agent loop {loop} can't be bundled: {reason}.",
    retryable: false,
    help: "A loop's workflow file may import types and pure code, but no Node modules and no packages that use Node modules.",
  },
  TEMPORAL_TOO_OLD: {
    message: "The Temporal server at {address} does not support worker deployments: {reason}.",
    retryable: false,
    help: "Use Temporal 1.32 or later. Everturn needs worker versioning so that workflows finish on the code they started with.",
  },
  TEMPORAL_NOT_READY: {
    message: "The Temporal server at {address} can't record which workflow code {run} uses: {reason}.",
    retryable: true,
    help: "Its internal workers may still be starting. Run the command again in a minute. If it fails again, read the server's log.",
  },
  NO_FREE_PORT: {
    message: "No port of 127.0.0.1 is free (tried {preferred} first).",
    retryable: true,
    help: "Close the programs that use the ports and run the command again.",
  },

  // Runs
  RUN_COPIED: {
    message: "The folder {folder} is a copy of the run {run}, whose original folder is {original}.",
    retryable: false,
    help: "Only one of the two may continue. Use the original folder, or move it away first.",
  },
  RUN_NOT_FOUND: { message: "There is no run {run} in {folder}.", retryable: false, help: "{hint}" },
  BENCHMARK_FILE_INVALID: {
    message: "{file} contains no tasks of {benchmark}: {reason}.",
    retryable: false,
    help: "Use the file as published, with {columns}.",
  },
  BENCHMARK_ROWS_INVALID: {
    message: "{places}: not a task of {benchmark}, because a required column is missing.",
    retryable: false,
    help: "Each row needs {columns}. Add --skip-bad to skip such rows.",
  },
  STUDY_JOB_UNKNOWN: {
    message: "{at}: the job {job}: {reason}.",
    retryable: false,
    help: "{hint}",
  },
  RUN_DIFFERS: {
    message: "The run {run} was created with another pipeline than {pipeline} is now.",
    retryable: false,
    help: "Use another --id for a new run. To change this one, use `npx everturn resume {run} --set`.",
  },
  STUDY_RUN_DIFFERS: {
    message: "The run {run} was created by another study or with another pipeline.",
    retryable: false,
    help: "Rename the study or the job, or move the run away to repeat it.",
  },
  STUDY_COMMAND_FAILED: {
    message: "The job {job}: `{command}` {reason}.",
    retryable: false,
    help: "Fix the program. The study then continues from this job.",
  },
  RUN_WITHOUT_TRACKERS: {
    message: "The pipeline of {run} defines no trackers.",
    retryable: false,
    help: "Add them to the pipeline of your next run: `trackers: [tracker-tensorboard]` (docs/trackers.md).",
  },
  TRACKER_FAILED: {
    message: "The trackers of {run} did not receive {untold} of its results.",
    retryable: true,
    help: "The lines above explain why. `everturn track {run}` sends them again.",
  },
  RUN_PLAN_LOST: {
    message: "The run {run} can't be opened, because its plan {file} is missing or damaged.",
    retryable: false,
    help: "Restore the file from a backup; no other file contains the plan. The policy versions are still in {folder} in Hugging Face's format, and a new run can start from one.",
  },
  RUN_OF_EARLIER_RELEASE: {
    message: "The run {run} was created by Everturn 0.3 or earlier, which used another format.",
    retryable: false,
    help: "Continue and inspect it with that version of Everturn. Its policies are in Hugging Face's format, so a new run can start from one.",
  },
  PLAN_NOT_CHANGEABLE: {
    message: "{at}: {key} can't change in an existing run: {reason}.",
    retryable: false,
    help: "Start a new run to change it. Settings that can change: {changeable}.",
  },
  POLICY_NOT_FOUND: {
    message: "The run {run} has no policy version {version}.",
    retryable: false,
    help: "`npx everturn versions {run}` lists the existing versions. Everturn deletes old versions except checkpoints.",
  },
  POLICY_ON_SERVER: {
    message:
      "Version {version} of the run {run} is the base model of its training server, which is not downloaded.",
    retryable: false,
    help: "Name a version that the run has trained: `npx everturn versions {run}` lists them.",
  },
  TASKS_NOT_FOUND: {
    message: "There is no task file {file}.",
    retryable: false,
    help: "Name a JSON Lines file with one task per line, like those in pipelines/calculator.",
  },
  TASKS_EMPTY: {
    message: "The task file {file} contains no tasks.",
    retryable: false,
    help: "Add one task per line, or name another file.",
  },
  TASK_NOT_FOUND: {
    message: "There is no task {task} in {place}.",
    retryable: false,
    help: "Restore the data that the run started with, because a run identifies tasks by row.",
  },
  RUN_HAS_NO_SERVER: {
    message: "The Temporal server of the run {run} is not running.",
    retryable: true,
    help: "Start it with `npx everturn resume {run}` or `npx everturn dev {run}`, or name another server with --address.",
  },
  EVALUATION_FAILED: {
    message: "The evaluation {evaluation} failed: {reason}.",
    retryable: true,
    help: "The logs in the logs/ folder of the run may contain details.",
  },
  EVALUATION_NAME_INVALID: {
    message: "{name} is not a valid name for an evaluation.",
    retryable: false,
    help: "Use up to 60 letters, digits, dots, hyphens and underscores. Names such as v0021 are reserved for the run's own evaluations.",
  },
  EVALUATION_SAMPLES_ALIKE: {
    message: "At temperature 0, all {samples} samples of a task would be the same.",
    retryable: false,
    help: "Set a temperature above 0, or take one sample. With several samples, the default is the run's training temperature.",
  },
  EVALUATION_DIFFERS: {
    message: "The evaluation {evaluation} was started with different settings: {differences}.",
    retryable: false,
    help: "Use the same settings to continue it, or choose another name.",
  },
  STEP_NOT_FOUND: {
    message: "The run {run} has no step {step}.",
    retryable: false,
    help: "The run's page lists its steps. A step appears once its trajectories have been trained on.",
  },
  EVALUATION_NOT_FOUND: {
    message: "The run {run} has no evaluation {evaluation}. {known}",
    retryable: false,
    help: "Name one as RUN/EVALUATION, or create one with `npx everturn evaluate {run}`.",
  },
  EVALUATIONS_INCOMPARABLE: {
    message: "{first} and {second} can't be compared: {reason}.",
    retryable: false,
    help: "Evaluate both policies on the same tasks with `npx everturn evaluate RUN --tasks FILE`, then compare these evaluations.",
  },
  RUN_ALREADY_ACTIVE: {
    message: "Process {pid} is already working on the run {run}.",
    retryable: true,
    help: "Wait for it, or stop that process first.",
  },
  RUN_HELD_ELSEWHERE: {
    message:
      "Process {pid} on {host} is working on the run {run}. This machine or container can't see the processes of {host}.",
    retryable: true,
    help: "Run the command there, or stop that process first. If {host} is gone, {file} no longer changes: `npx everturn resume` watches it for 20 seconds (40 if the run is in a bucket) and then takes over the run.",
  },
  RUN_TAKEN_OVER: {
    message:
      "Process {pid} on {host} took over the run {run}, because it saw no sign of life from this process.",
    retryable: false,
    help: "Finished work is kept, and the run continues there. Both machines must see changes in the folder or the store of {run}: check the shared disk or the connection.",
  },
  RUN_FAILED: {
    message: "The run {run} failed: {reason}.",
    retryable: true,
    help: "Finished work is kept. Fix the cause, then run `npx everturn resume {run}`.",
  },
  INTERRUPTED: {
    message: "The work on {run} was interrupted, and all its processes have stopped.",
    retryable: false,
    help: "Finished work is kept. `npx everturn resume {run}` continues the training, and so does `train()` of the library.",
  },
  WORKER_ENDED: {
    message: "The {role} worker exited {times} ({reason}). Its log {log} ends with:\n{lines}",
    retryable: true,
    help: "Finished work is kept. Fix the cause, then run `npx everturn resume {run}`.",
  },
  WORKER_OUT_OF_MEMORY: {
    message: "The {role} worker ran out of memory {times}: {reason}. Its log {log} ends with:\n{lines}",
    retryable: true,
    help: "Finished work is kept. Give the worker more memory (for a full heap, set NODE_OPTIONS=--max-old-space-size=<MiB>; otherwise give more to the machine or container), or lower rollout.concurrency, policy.config.slots, policy.config.keyValueMemory or the trainer's minibatchSize. Then run `npx everturn resume {run}`.",
  },
  TRAJECTORY_NOT_DETERMINISTIC: {
    message:
      "The current workflow code does not reproduce the commands in the history of {trajectory}: {reason}",
    retryable: false,
    help: "Keep the run on the code it started with, or guard the change with `patched` of @temporalio/workflow.",
  },
  QUERY_INVALID: {
    message: "The {what} “{text}” can't be used: {reason}.",
    retryable: false,
    help: "Write the part of a SQL query that follows WHERE, for example reward < 0 and tool = 'python', or the part that follows ORDER BY, for example reward desc. The columns are {columns}.",
  },
  QUERY_DRIVER_MISSING: {
    message: "Conditions on trajectories need the package {missing}, which is not installed.",
    retryable: false,
    help: "Run `npm install {missing}` in your project. Options such as --min-reward and --tool work without it.",
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
    message: "The ids of {count} trajectories end with {trajectory}.",
    retryable: false,
    help: "Write more of the id: {matches}.",
  },
  TRAJECTORY_NOT_LIVE: {
    message: "The trajectory {trajectory} does not accept orders: {reason}.",
    retryable: false,
    help: "`npx everturn show {trajectory}` prints it. `npx everturn fork` starts a new trajectory from its turns.",
  },
  ORDER_REFUSED: {
    message: "The trajectory {trajectory} rejected the order {order}: {reason}.",
    retryable: false,
    help: "",
  },
  ORDER_UNANSWERED: {
    message: "No worker handled the order {order} for {trajectory} within {seconds} s.",
    retryable: true,
    help: "Nothing has changed. Send the order again when the run's workers are running.",
  },
  MESSAGE_NOT_FRAMED: {
    message: "The policy's chat template does not support a {role} message between two actions: {reason}.",
    retryable: false,
    help: "Use another role.",
  },
  TURN_NOT_FORKABLE: {
    message: "The trajectory {trajectory} can't be forked after turn {turn}: it has {turns}.",
    retryable: false,
    help: "--turn sets the number of turns to keep, from 0 (only the prompt) to {last}.",
  },
  TRAJECTORY_UNDER_WAY: {
    message: "The trajectory {trajectory} is still running.",
    retryable: true,
    help: "Fork it after it has ended.",
  },
  FORK_FAILED: {
    message: "The fork {fork} failed: {reason}.",
    retryable: true,
    help: "Fix the cause and fork again. The original trajectory is unchanged.",
  },
  TURN_MISSING: {
    message: "The journal of {trajectory} does not contain turn {turn}.",
    retryable: true,
    help: "The worker must see the run's folder. Check that it uses the folder that the run was started with.",
  },
  SEGMENT_MISSING: {
    message: "No readable turn of {trajectory} contains the segment {ref}.",
    retryable: true,
    help: "The worker must see the run's folder. Check that it uses the folder that the run was started with. `npx everturn ledger` lists damaged files.",
  },
  RECORD_CORRUPT: {
    message: "{file} can't be read: {reason}.",
    retryable: false,
    help: "The file was changed or truncated. Restore it from a backup, or delete it so that Everturn creates it again.",
  },

  STEP_NOT_FOLDED: {
    message: "The trajectories of step {step} could not be combined into one file: {reason}.",
    retryable: true,
    help: "Nothing is lost: the separate records remain. The next step, or `npx everturn prune`, tries again.",
  },

  CHECKPOINTS_NOT_DELETED: {
    message: "The training server still has checkpoints that the run no longer needs: {reason}.",
    retryable: true,
    help: "Nothing is lost. The next step, or `npx everturn prune`, tries again.",
  },

  DISK_FULL: {
    message: "{file} can't be written: the disk is full.{wanted} {free} are free.",
    retryable: true,
    help: "Free space on that disk: pending writes then continue automatically. If the run has stopped, continue it with `npx everturn resume`.",
  },
  PATH_UNUSABLE: {
    message: "{path} can't be used: {reason}.",
    retryable: false,
    help: "Name another path, or fix this one.",
  },
  FILES_IN_THE_WAY: {
    message: "{folder} already contains {files}. Nothing was written.",
    retryable: false,
    help: "Name another folder, or move these files. Everturn does not overwrite existing files.",
  },
  TEXT_ENCODING_WRONG: { message: "{at}: not UTF-8 text.", retryable: false, help: "{hint}" },
  STORE_NOT_WRITABLE: {
    message: "{file} can't be written: {reason}.",
    retryable: true,
    help: "Fix the cause (for example, make the run's folder writable, restore the connection, or raise the limit): pending writes then continue automatically. If the run has stopped, continue it with `npx everturn resume`.",
  },
  STORE_NOT_READABLE: {
    message: "{file} can't be read: {reason}.",
    retryable: true,
    help: "Fix the cause (for example, mount the file system again, restore the connection, give this user access, or raise the limit): pending reads then continue automatically. If the run has stopped, continue it with `npx everturn resume`.",
  },
  STORE_UNUSABLE: {
    message: "The store {store} of the run {run} can't be opened: {reason}",
    retryable: true,
    help: "run.json contains the store's URL (`--store` or EVERTURN_STORE when the run was created). Every machine that works on the run needs access to that store, and to the module if the URL names one.",
  },
  STORE_ADDRESS_INVALID: {
    message: "{address} is not the address of a store: {reason}.",
    retryable: false,
    help: "docs/object-storage.md describes stores.",
  },
  STORE_REFUSED: {
    message: "The store {store} can't be used: {reason}.",
    retryable: false,
    help: "docs/object-storage.md describes the settings and the rights that it needs.",
  },
  STORE_WITHOUT_CONDITIONS: {
    message: "The server of {store} does not support conditional writes (`If-None-Match: *`): {reason}.",
    retryable: false,
    help: "Without them two workers could overwrite each other's results. Use a server that supports them, such as Amazon S3, MinIO, Ceph or SeaweedFS; a proxy in between must pass the header on.",
  },
  STORAGE_STALLED: {
    message:
      "The run {run} stopped, because nothing could be read or written for {minutes} minutes. {reason}",
    retryable: true,
    help: "Then run `npx everturn resume {run}`.",
  },
  FILES_GONE: {
    message: "The files of {tree}, {part}, differ from the committed ones: {reason}.",
    retryable: false,
    help: "They were removed, changed or truncated. `npx everturn ledger` lists all such files. `npx everturn resume` rebuilds those of the newest step, of version 0 and of the warm start. Restore others from a backup.",
  },
  ATTEMPT_SUPERSEDED: {
    message: "Another attempt already wrote {file}.",
    retryable: true,
    help: "Nothing is lost: Everturn keeps the result of the first attempt and drops this one.",
  },
  LEDGER_BROKEN: {
    message: "The ledger of {run} has {count}:\n{findings}",
    retryable: false,
    help: "docs/durability.md explains each finding. Restore the named files from a backup, or continue from an intact version of the policy.",
  },

  // A server that Everturn starts for a plugin
  SERVER_PYTHON_MISSING: {
    message: "No environment for the server can be made with {wanted}: {reason}.",
    retryable: false,
    help: "Install this version, set `start.python` to the path of another Python, or install uv.",
  },
  SERVER_NOT_INSTALLED: {
    message: "The server's packages can't be installed ({requirements}):\n{lines}",
    retryable: true,
    help: "Correct `start.requirements`. If they need another Python, set `start.python`.",
  },
  SERVER_NOT_STARTED: {
    message:
      "The server did not start: {reason}. Its command was `{command}`, in {folder}. Its log {log} ends with:\n{lines}",
    retryable: true,
    help: "Correct `start.command`, or give the server longer with `start.patience`.",
  },
  SERVER_ENDED: {
    message:
      "The server `{command}` ended {times} times in a row ({reason}). Its log {log} ends with:\n{lines}",
    retryable: true,
    help: "The next call starts it again. If it keeps ending, correct the server.",
  },
  SERVER_KEEPER_MISSING: {
    message: "The process that keeps the server `{command}` did not start within {seconds} s: {reason}.",
    retryable: true,
    help: "Check that this machine has memory and processes left.",
  },

  // Sandboxes
  SANDBOX_MISSING: {
    message: "No sandbox is available (requested: {wish}). {reasons}.",
    retryable: false,
    help: "Install a sandbox. docs/sandboxes.md compares them.",
  },
  SANDBOX_UNKNOWN: {
    message: "“{wish}” is not a kind of sandbox.",
    retryable: false,
    help: "Use one of {kinds}.",
  },
  SANDBOX_FAILED: {
    message: "The sandbox {kind} failed: {reason}.",
    retryable: true,
    help: "The sandbox restarts with the next program.",
  },
  SANDBOX_CLOSED: {
    message: "The sandbox session is closed.",
    retryable: false,
    help: "Open a new session.",
  },
  SANDBOX_LANGUAGE_MISSING: {
    message: "The sandbox {kind} does not support {language}.",
    retryable: false,
    help: "It supports {languages}. docs/sandboxes.md compares the sandboxes.",
  },
  SANDBOX_USER_FIXED: {
    message: "The sandbox {kind} can't run a command as the user {user}.",
    retryable: false,
    help: "Leave out the command's user, or use the kind podman or docker.",
  },
  SANDBOX_KEEPS_NOTHING: {
    message: "The sandbox {kind} does not keep variables between programs.",
    retryable: false,
    help: "Set `keep: false`. Files are kept in any case.",
  },
  SANDBOX_PATH_INVALID: {
    message: "“{path}” is not a valid path in a sandbox's working folder.",
    retryable: false,
    help: "Write a path relative to that folder without `..`, for example data/rows.csv.",
  },
  SANDBOX_DISK_FULL: {
    message: "The files do not fit into the sandbox's disk of {disk} MiB.",
    retryable: false,
    help: "Raise `disk`, or use fewer files.",
  },

  // Trajectories and steps
  TOOL_FAILED: {
    message: "The tool {tool} failed: {reason}.",
    retryable: true,
    help: "Everturn retries the call under the tool's retry policy. If it keeps failing, check the tool's host.",
  },
  TOOL_TIMED_OUT: {
    message: "The tool {tool} did not respond within {seconds} s.",
    retryable: true,
    help: "Everturn retries the call under the tool's retry policy. If it keeps timing out, raise tools[].timeout or check the tool's host.",
  },
  TOOL_GAVE_UP: {
    message: "The tool {tool} failed {times}. The last error: {reason}.",
    retryable: false,
    help: "Everturn leaves the trajectory out of its step and counts it. Fix the tool's host, or raise tools[].retry.maximumAttempts.",
  },
  TOOL_HOST_DOWN: {
    message: "The host {host} has been down for longer than {seconds} s: {reason}.",
    retryable: false,
    help: "Everturn leaves the trajectory out of its step and counts it. Fix the host, or raise hosts.{host}.patience.",
  },
  TOOL_STATE_LOST: {
    message: "The tool {tool} lost its state for {trajectory} when its worker ended.",
    retryable: false,
    help: "Everturn leaves the trajectory out of its step and counts it. To keep a tool's state, set recovery: snapshot or replay in its manifest (docs/tools.md).",
  },
  TOOL_LEASE_TAKEN: {
    message: "Another worker took over the state that {tool} holds for {trajectory}.",
    retryable: true,
    help: "Nothing is lost: the call continues there.",
  },
  TOOL_NOT_RECORDED: {
    message:
      "{recordings} contains no result of {tool} for task {task} with the arguments {arguments} (occurrence {occurrence}).",
    retryable: false,
    help: "Everturn leaves the trajectory out of its step and counts it. Record more trajectories of the task, or remove rollout.toolRecordings to call the tools.",
  },
  TIME_LIMIT_REACHED: {
    message: "{what} used up the {seconds} s that were left of the trajectory's time.",
    retryable: false,
    help: "The trajectory ends with the outcome time-limit and is scored in its current state. To allow more time, raise rollout.limits.turnTime or rollout.limits.time.",
  },
  REWARD_FAILED: {
    message: "The reward manager {reward} failed: {reason}.",
    retryable: true,
    help: "Everturn retries it under the reward's retry policy. If it keeps failing, check the services that it depends on.",
  },
  REWARD_TIMED_OUT: {
    message: "The reward manager {reward} did not respond within {seconds} s.",
    retryable: true,
    help: "Everturn retries it under the reward's retry policy. If it keeps timing out, raise reward.timeout or check the services that it depends on.",
  },
  REWARD_GAVE_UP: {
    message: "The reward manager {reward} failed {times}. The last error: {reason}.",
    retryable: false,
    help: "Everturn leaves the trajectory out of its step and counts it. Fix the services that the reward depends on, or raise reward.retry.maximumAttempts.",
  },
  TASKS_UNSCORED: {
    message: "{at}: no reward with a weight scores the data source “{source}” of {tasks}.",
    retryable: false,
    help: "Add it to `dataSources` of one of the pipeline's rewards, or add a reward without `dataSources`, which scores all tasks.",
  },
  TASKS_REFUSED: {
    message: "{at}: the tool {tool} can't be used in {tasks}: {reason}.",
    retryable: false,
    help: "Correct these tasks, remove them, or change the tool's configuration.",
  },
  IMAGES_NOT_READ: {
    message: "{at}: the prompt of {tasks} contains images, but the policy {policy} reads only text.",
    retryable: false,
    help: "Use a policy that reads images, such as policy-openai, or remove <image> from the prompts. The tools can still use the images of a row.",
  },
  IMAGE_UNUSABLE: {
    message: "{at}: the images of {tasks} can't be shown: {reason}.",
    retryable: false,
    help: "Correct the rows, or set dataset.images to the folder of the images.",
  },
  IMAGES_NOT_FRAMED: {
    message: "The images of a message can't be turned into tokens: {reason}.",
    retryable: false,
    help: "Use the chat template and the tokenizer that the model was published with.",
  },
  IMAGE_DECODER_MISSING: {
    message: "Policies that read images need the package {missing}, which is not installed.",
    retryable: false,
    help: "Run `npm install {missing}` in your project.",
  },
  REWARD_MISSING: {
    message: "The reward manager {reward} returned no score: {reason}.",
    retryable: false,
    help: "Everturn leaves the trajectory out of its step and counts it. A missing score does not count as 0.",
  },
  BATCH_EMPTY: {
    message: "Every trajectory of step {step} was left out. {reason}.",
    retryable: false,
    help: "Fix the cause (for example, a host of a tool or reward, or the disk), then run `npx everturn resume {run}`.",
  },
  RUN_STOPPED: {
    message: "The run stopped after step {step}, because its pipeline has {condition} in stopIf: {evidence}.",
    retryable: false,
    help: "{remedy} Nothing is lost: `npx everturn resume {run} --set stopIf=[]` continues without stopping.",
  },
  EVALUATION_EMPTY: {
    message: "Every trajectory of {evaluation} was left out, so there is no accuracy to report. {reason}.",
    retryable: false,
    help: "Fix the cause, then run `npx everturn resume {run}` or evaluate again. Finished turns and calls are not repeated.",
  },
  TOO_MANY_FAILURES: {
    message:
      "Infrastructure failed {count} of {of} trajectories of step {step}, more than rollout.maxInfrastructureFailures ({share}) allows. {times} of them, such as {trajectory}: {reason}.",
    retryable: false,
    help: "Fix the cause, then run `npx everturn resume {run}`, which tries again the trajectories that were left out.",
  },
  ROLLOUT_LOST: {
    message: "The workflow {shard}, which rolled out groups of {run}, ended before they finished: {reason}.",
    retryable: false,
    help: "`npx everturn resume {run}` restarts them. Finished turns and calls are not repeated.",
  },
  EMBEDDING_MODEL_INVALID: {
    message: "{folder} does not contain a usable embedding model: {reason}.",
    retryable: false,
    help: "Name the folder of a sentence-transformers model of the BERT family, such as all-MiniLM-L6-v2, with model.safetensors and tokenizer.json.",
  },
  IMAGE_NOT_ENCODED: {
    message: "The model's vision encoder can't read an image: {reason}.",
    retryable: false,
    help: "Prepare images with the preprocessor of the same model.",
  },
  IMAGE_TOKENS_INVALID: {
    message: "The images of a sequence don't match its tokens: {reason}.",
    retryable: false,
    help: "Write as many image tokens for an image as its preprocessing determines, and list images in the order of their tokens.",
  },
  VECTOR_FILE_INVALID: {
    message:
      "{path} has {size} bytes, which is not a whole number of vectors with {dimensions} numbers each.",
    retryable: false,
    help: "Remove the file, and Everturn creates it again.",
  },
  DATABASE_NOT_NAMED: {
    message: "The configuration names no database for the task: {reason}.",
    retryable: false,
    help: "Set `database` to a file; or set `folder`, and extra_info.database in each task; or set `urlVariable` for PostgreSQL.",
  },
  DATABASE_UNUSABLE: {
    message: "{database} can't be read: {reason}.",
    retryable: true,
    help: "Check that the file is a complete database of that kind, or that the server is running and accepts your login.",
  },
  DATABASE_DRIVER_MISSING: {
    message: "{engine} databases need the package {missing}, which is not installed.",
    retryable: false,
    help: "Run `npm install {missing}` in your project.",
  },
  DATABASE_PROCESS_FAILED: {
    message: "The process for database queries did not start: {reason}.",
    retryable: true,
    help: "Check that the machine has memory and processes to spare.",
  },
  TOO_MANY_TRAJECTORIES: {
    message: "{count} trajectories already have open tool instances.",
    retryable: true,
    help: "Finish some of them (`finish` in verl-tool's protocol, or the end of a session in MCP), or raise `--trajectories`.",
  },
  PORT_UNUSABLE: {
    message: "The server can't listen on {host}, port {port}: {reason}.",
    retryable: true,
    help: "Another program may be using it. Name another port, or use `--port 0` to select a free one.",
  },
  SERVER_ENDS: {
    message: "The tool server is shutting down.",
    retryable: true,
    help: "Send the request again when the server is back.",
  },
  COMMAND_INVALID: {
    message: "{reason}.",
    retryable: false,
    help: "`npx everturn --help`, or `--help` after the command, shows the usage.",
  },
  UNEXPECTED: {
    message: "Everturn failed unexpectedly: {reason}.",
    retryable: false,
    help: "Standard error contains the stack trace. Please report it with the command that you ran.",
  },
  LOOP_NOT_BUNDLED: {
    message: "This orchestration worker does not include the agent loop {loop}.",
    retryable: true,
    help: "Start the worker with the run's own plan: `npx everturn worker --run RUN --role orchestration`.",
  },
  LOOP_TOOL_MISSING: {
    message: "The agent loop {loop} calls the tool {tool}, which the pipeline does not define.",
    retryable: false,
    help: "Add it to `tools` of the pipeline under the name that the loop calls. The policy does not see a tool that is only for loops.",
  },
  AGENT_UNKNOWN: {
    message: "{at}: there is no agent loop “{agent}”, but {tasks} it in agent_name.{hint}",
    retryable: false,
    help: "Add it to `loops` of the pipeline, for example `tool_agent: loop-tool-agent`. Tasks without agent_name use the pipeline's `loop`.",
  },
  LOOP_STUCK: {
    message: "The agent loop {loop} does not return.",
    retryable: false,
    help: "It computes for seconds without awaiting anything: for example, an endless `while`, or a regular expression that backtracks endlessly on the model's text. Fix it, then run `npx everturn resume RUN --upgrade`.",
  },
  LOOP_MODULE_STUCK: {
    message: "The module of the agent loop {loop} does not finish loading: it computes for seconds.",
    retryable: false,
    help: "Do that work in the loop or in a tool. The clock of workflow code stands still while it computes, so code that waits for `Date.now()` waits forever. Fix it, then run `npx everturn resume RUN --upgrade`.",
  },
  // An agent's session
  SESSION_ENDED: {
    message: "The trajectory {trajectory} has ended and accepts no more requests from its agent.",
    retryable: false,
    help: "Everturn has stopped its agent, too. Requests of processes that are still alive are rejected.",
  },
  SESSION_MOVED: {
    message: "The trajectory {trajectory} continues in a new history, where its agent restarts.",
    retryable: true,
    help: "",
  },
  AGENT_FAILED: {
    message: "The agent {agent} failed: {reason}.",
    retryable: true,
    help: "Everturn restarts it and answers from the record as long as its requests are the same. The error ends with the agent's last output.",
  },
  AGENT_INTERRUPTED: {
    message: "The {place} of the agent {agent} ended, perhaps because of another trajectory: {reason}.",
    retryable: true,
    help: "Everturn repeats the trajectory in a new {place}. This is not one of the agent's `attempts`.",
  },
  AGENT_GAVE_UP: {
    message: "The agent {agent} failed {times}. The last error: {reason}.",
    retryable: false,
    help: "Everturn leaves the trajectory out of its step and counts it. Fix the agent, or raise the loop's attempts.",
  },

  LOOP_TURN_INVALID: {
    message: "Turn {turn} of the agent loop {loop} has {count}.",
    retryable: false,
    help: 'An agent loop runs one turn: call context.generate() once, and return "continue" for the next turn.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** A code of the table. */
export type ErrorCode = keyof typeof errorTable;
