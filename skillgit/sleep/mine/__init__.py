"""Mine: a person's sessions become tasks with a judge. Only a person's own words found a task."""

from skillgit.sleep.mine.heuristic import mine_heuristic
from skillgit.sleep.mine.llm import Mined, mine_llm
from skillgit.sleep.mine.mined import MinedTask, PersonTurn
from skillgit.sleep.mine.placing import PlacedTask, place
from skillgit.sleep.mine.task_file import update

__all__ = [
    "Mined",
    "MinedTask",
    "PersonTurn",
    "PlacedTask",
    "mine_heuristic",
    "mine_llm",
    "place",
    "update",
]
