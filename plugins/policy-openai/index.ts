import { endpointPolicy } from "everturn/engine";

/** A model behind an endpoint with OpenAI's chat completions API. It can be evaluated but not trained. */
export default endpointPolicy;
