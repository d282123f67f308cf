import { endpointPolicy } from "everturn/engine";

/** A model behind an endpoint that speaks OpenAI's chat completions: to be evaluated, and not to be trained. */
export default endpointPolicy;
