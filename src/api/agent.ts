// `everturn/agent`: what an agent imports so that what its own functions gave is kept. It loads nothing else of Everturn.
export { idempotencyKey, recorded } from "../plugin/define/recorded.ts";
