"""The tasks a skill is trained on: read, checked, split. Reads only through the ports handed in."""

from skillgit.tasks.load import load_tasks
from skillgit.tasks.report import TasksReport, report_tasks
from skillgit.tasks.task_set import TaskSet, task_key

__all__ = ["TaskSet", "TasksReport", "load_tasks", "report_tasks", "task_key"]
