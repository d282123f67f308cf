# An agent whose model client and types are NeMo Gym's: calls `add` as the model wants, until the model answers without a call.
import asyncio
import json
import os
import sys

from nemo_gym.openai_utils import NeMoGymAsyncOpenAI, NeMoGymResponse
from nemo_gym.server_utils import GlobalAIOHTTPAsyncClientConfig, set_global_aiohttp_client


async def main() -> None:
    task = json.load(sys.stdin)
    asked = task["extra_info"]["nemo_gym"]["responses_create_params"]
    set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())
    client = NeMoGymAsyncOpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
    items, total = list(asked["input"]), 0
    while True:
        answer = await client.create_response(model="policy", input=items, tools=asked["tools"])
        response = NeMoGymResponse.model_validate(answer)
        items += [item.model_dump(mode="json", exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            break
        for call in calls:
            total += json.loads(call.arguments)["amount"]
            output = json.dumps({"total": total})
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    os.write(3, json.dumps({"total": total, "text": response.output_text}).encode())


asyncio.run(main())
