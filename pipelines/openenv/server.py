# An OpenEnv environment: a sorting office. Two letters arrive, and each belongs in the box of its city's region.
# Half of the reward is for each letter.
from typing import Literal

from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

BOXES = {
    "north": ["Tromso", "Kiruna", "Oulu", "Narvik"],
    "south": ["Malaga", "Palermo", "Faro", "Chania"],
    "east": ["Lviv", "Kaunas", "Brasov", "Narva"],
    "west": ["Galway", "Cork", "Brest", "Porto"],
}
BOX_OF = {city: box for box, cities in BOXES.items() for city in cities}
CITIES = sorted(BOX_OF)
PAIRS = [(first, second) for first in range(len(CITIES)) for second in range(len(CITIES)) if first != second]
TASKS = {"train": [], "test": []}
for first, second in PAIRS:
    TASKS["test" if (first + second) % 5 == 0 else "train"].append((CITIES[first], CITIES[second]))


class Sort(Action):
    """Puts the letter into a box."""

    box: Literal["north", "south", "east", "west"]


class Arrival(Observation):
    text: str


class SortingOffice(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self.cities = TASKS["train"][0]
        self._state = State()

    def reset(self, seed=None, episode_id=None, split="train", index=0, **kwargs):
        self.cities = TASKS[split][index]
        self._state = State(episode_id=episode_id, step_count=0)
        return Arrival(text=f"A letter to {self.cities[0]}.", done=False, reward=None)

    def step(self, action, timeout_s=None, **kwargs):
        city = self.cities[min(self._state.step_count, 1)]
        reward = 0.5 if BOX_OF[city] == action.box else 0.0
        self._state.step_count += 1
        done = self._state.step_count >= 2
        text = "The office closes." if done else f"A letter to {self.cities[1]}."
        return Arrival(text=text, done=done, reward=reward)

    @property
    def state(self):
        return self._state

    def list_splits(self):
        return [{"name": "train", "type": "train"}, {"name": "test", "type": "test"}]

    def list_tasks(self, split):
        return [{"id": f"{split}-{index}", "index": index} for index in range(len(TASKS[split]))]

    def num_tasks(self, split):
        return len(TASKS[split])

    def get_task(self, split, index):
        return self.list_tasks(split)[index]

    def get_task_range(self, split, start=None, stop=None):
        return self.list_tasks(split)[start:stop]


app = create_fastapi_app(SortingOffice, Sort, Arrival, env_name="sorting-office", max_concurrent_envs=256)
