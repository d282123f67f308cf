# An OpenEnv environment for `npm run environments`: add amounts to reach a target. Each task has a target of its own.
# The resets of tasks in FAILING (indices, separated by commas) fail.
import os

from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

TASKS = [{"id": f"train-{index}", "index": index, "target": 3 + index} for index in range(11)]
FAILING = [int(index) for index in os.environ.get("FAILING", "").split(",") if index]


class AddAction(Action):
    amount: int


class CountObservation(Observation):
    prompt: str = ""
    total: int


class CountEnv(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self.total = 0
        self.target = 0
        self._state = State()

    def reset(self, seed=None, episode_id=None, index=0, **kwargs):
        if index in FAILING:
            raise RuntimeError("the simulator did not start")
        self.total = 0
        self.target = TASKS[index]["target"]
        self._state = State(episode_id=episode_id, step_count=0)
        return CountObservation(prompt=f"Reach {self.target}.", total=0, done=False, reward=None)

    def step(self, action, timeout_s=None, **kwargs):
        self._state.step_count += 1
        self.total += action.amount
        return CountObservation(
            total=self.total,
            done=self.total >= self.target,
            reward=1.0 if self.total == self.target else 0.0,
        )

    @property
    def state(self):
        return self._state

    def list_splits(self):
        return [{"name": "train", "type": "train"}]

    def list_tasks(self, split):
        return TASKS

    def num_tasks(self, split):
        return len(TASKS)

    def get_task(self, split, index):
        return TASKS[index]

    def get_task_range(self, split, start=None, stop=None):
        return TASKS[start:stop]


app = create_fastapi_app(CountEnv, AddAction, CountObservation, env_name="count", max_concurrent_envs=64)
