// `everturn/agent`: helpers that agents import to record the results of their own functions. It loads nothing else
// of Everturn.
export { idempotencyKey, recorded } from "../plugin/define/recorded.ts";
