# A resources server of NeMo Gym: a bank that changes gold coins. `python server.py PORT` starts it alone, without Ray.
import json
import sys
from typing import ClassVar

import uvicorn
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import BaseServerConfig, ServerClient
from omegaconf import OmegaConf
from pydantic import BaseModel

# No prompt tells the rates, so that guesses are wrong.
RATES = {"Bern": 13, "Cairo": 17, "Delhi": 19, "Lima": 23}


def arguments_of(call):
    try:
        return json.loads(call.arguments)
    except ValueError:
        return None  # the policy's mistake, which earns nothing


class Exchange(BaseModel):
    coins: int
    city: str


class VerifyRequest(BaseVerifyRequest):
    coins: int
    city: str


class Bank(SimpleResourcesServer):
    config: BaseResourcesServerConfig
    ray_enabled: ClassVar[bool] = False

    def setup_webserver(self):
        app = super().setup_webserver()
        app.post("/exchange")(self.exchange)
        return app

    async def exchange(self, body: Exchange) -> dict:
        if body.city not in RATES:
            return {"error": f"there is no bank in {body.city}"}
        return {"notes": body.coins * RATES[body.city]}

    async def verify(self, body: VerifyRequest) -> BaseVerifyResponse:
        calls = [arguments_of(item) for item in body.response.output if item.type == "function_call"]
        is_right = {"coins": body.coins, "city": body.city} in calls
        return BaseVerifyResponse(**body.model_dump(), reward=1.0 if is_right else 0.0)


port = int(sys.argv[1])
head = BaseServerConfig(host="127.0.0.1", port=port)
config = BaseResourcesServerConfig(host="127.0.0.1", port=port, entrypoint="server.py", name="bank")
client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create({}))
uvicorn.run(Bank(config=config, server_client=client).setup_webserver(), host="127.0.0.1", port=port, log_level="warning")
