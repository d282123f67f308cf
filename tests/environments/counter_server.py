# A resources server of NeMo Gym for `npm run environments`: add amounts to reach a target. `counter_server.py PORT`
# starts it without Ray and without a head server. Sessions of rows whose targets are in FAILING (less 3) can't begin.
import os
import sys
from typing import ClassVar

import uvicorn
from fastapi import HTTPException, Request
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseSeedSessionRequest,
    BaseSeedSessionResponse,
    BaseVerifyRequest,
    BaseVerifyResponse,
    ResourcesCloseSessionRequest,
    ResourcesCloseSessionResponse,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import SESSION_ID_KEY, BaseServerConfig, ServerClient
from omegaconf import OmegaConf
from pydantic import BaseModel, ConfigDict

FAILING = [int(index) + 3 for index in os.environ.get("FAILING", "").split(",") if index]


class SeedRequest(BaseSeedSessionRequest):
    model_config = ConfigDict(extra="allow")
    start: int = 0
    target: int = 0


class AddRequest(BaseModel):
    amount: int


class VerifyRequest(BaseVerifyRequest):
    target: int


class Counter(SimpleResourcesServer):
    config: BaseResourcesServerConfig
    ray_enabled: ClassVar[bool] = False
    totals: dict = {}

    def setup_webserver(self):
        app = super().setup_webserver()
        app.post("/add")(self.add)
        return app

    async def seed_session(self, request: Request, body: SeedRequest) -> BaseSeedSessionResponse:
        if body.target in FAILING:
            raise HTTPException(500, "the simulator did not start")
        self.totals[request.session[SESSION_ID_KEY]] = body.start
        return BaseSeedSessionResponse()

    async def add(self, request: Request, body: AddRequest) -> dict:
        session = request.session[SESSION_ID_KEY]
        self.totals[session] = self.totals.get(session, 0) + body.amount
        return {"total": self.totals[session]}

    async def verify(self, request: Request, body: VerifyRequest) -> BaseVerifyResponse:
        total = self.totals.get(request.session[SESSION_ID_KEY], 0)
        return BaseVerifyResponse(**body.model_dump(), reward=1.0 if total == body.target else 0.0)

    async def close_resources_session(self, body: ResourcesCloseSessionRequest) -> ResourcesCloseSessionResponse:
        self.totals.pop(body.resources_session_id, None)
        return ResourcesCloseSessionResponse(resources_session_id=body.resources_session_id)


port = int(sys.argv[1])
head = BaseServerConfig(host="127.0.0.1", port=port)
config = BaseResourcesServerConfig(host="127.0.0.1", port=port, entrypoint="counter_server.py", name="counter")
client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create({}))
uvicorn.run(Counter(config=config, server_client=client).setup_webserver(), host="127.0.0.1", port=port, log_level="warning")
