from __future__ import annotations

from night_projects import CHECKED, House, Proposing, ask, asks

from skillgit.records import ModelReply, ModelRequest, Role, Split, Task
from skillgit.sleep.memory.recall import recall
from skillgit.sleep.night.dream import wish_of


class Dreaming(Proposing):
    """An optimizer that makes up requests, some of them useless."""

    def complete(self, request: ModelRequest) -> ModelReply:
        if (request.answer_schema or {}).get("title") == "DreamAnswer":
            self.prompts.append(request.messages[0].content)
            n = len(self.prompts)
            return ModelReply(
                text=f'{{"requests": ["Describe whale number {n} in the bay", "", '
                f'"WRITE a note about {"new colleagues"} for week 7!", 5]}}'
            )
        return super().complete(request)


class Counting:
    """A target that counts how often it is asked what."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request.messages[-1].content)
        good = CHECKED in request.messages[0].content
        return ModelReply(text="Checked: yes" if good else "A note.")


def test_dreams_are_off_by_default(house: House) -> None:
    optimizer, target = Dreaming(CHECKED), Counting()
    house.sleep(asks(), stand_ins=optimizer.as_optimizer | {Role.TARGET: target})
    assert not any("whale" in text for text in target.asked)


def test_a_dream_factor_adds_variants_to_train_only(house: House) -> None:
    optimizer, target = Dreaming(CHECKED), Counting()
    models = optimizer.as_optimizer | {Role.TARGET: target}
    report = house.sleep(asks(4, 3), sleep="dream_factor = 2", stand_ins=models).report
    assert report.accepted
    assert sum("whale" in text for text in target.asked) == 4
    assert report.n_replayed == 9
    assert report.n_tasks == 7
    note = house.git("notes", "--ref=skillopt-night", "show", "skillopt/run/night-1~3")
    assert "dream-" in note


def test_a_variant_that_is_like_a_held_out_task_is_no_train_task(house: House) -> None:
    tasks = [*asks(3, 2), ask("held", "Write a note about new colleagues for week 7", "val")]
    target = Counting()
    models = Dreaming(CHECKED).as_optimizer | {Role.TARGET: target}
    house.sleep(tasks, sleep="dream_factor = 3", stand_ins=models)
    assert not any("WRITE" in text for text in target.asked)


def test_dream_rollouts_attempt_each_train_task_so_often(house: House) -> None:
    target = Counting()
    models = Proposing(CHECKED).as_optimizer | {Role.TARGET: target}
    report = house.sleep(asks(4, 3), sleep="dream_rollouts = 3", stand_ins=models).report
    assert report.n_replayed == 12


def test_good_and_bad_attempts_at_one_task_are_shown_side_by_side(house: House) -> None:
    class Moody(Counting):
        def complete(self, request: ModelRequest) -> ModelReply:
            super().complete(request)
            train = any(f"week {n}" in request.messages[-1].content for n in range(4))
            lucky = train and (request.seed or 0) % 2 == 0
            return ModelReply(text="A lucky note. Checked: yes" if lucky else "A note.")

    optimizer = Proposing(CHECKED)
    models = optimizer.as_optimizer | {Role.TARGET: Moody()}
    house.sleep(asks(4, 3), sleep="dream_rollouts = 6", stand_ins=models)
    assert "once (before) and well once (now)" in optimizer.prompts[0]
    assert "A lucky note." in optimizer.prompts[0]


def test_the_wish_is_what_the_checks_hint_at() -> None:
    assert wish_of(ask("a", "x", "train")) == '- end with the line "Checked: yes"'
    bare = ask("a", "x", "train")
    settings = {"checks": [{"op": "contains", "arg": "x"}]}
    judge = bare.judge.model_copy(update={"settings": settings})
    assert "need not correct" in wish_of(bare.model_copy(update={"judge": judge}))


# ── recall ───────────────────────────────────────────────────────────────────────────────────


def past(name: str, prompt: str, split: str = "train") -> Task:
    return ask(name, prompt, split)


def test_recall_brings_back_the_most_similar_train_tasks() -> None:
    tonight = [ask("now", "Write a note about the parser", "train")]
    archive = [
        past("far", "Bake bread today"),
        past("near", "Write a letter about the parser"),
        past("held", "Write a note about a parser", "val"),
        past("nearer", "Write one more note about the parser"),
    ]
    assert [t.id for t in recall(tonight, archive, 1)] == ["nearer"]
    assert [t.id for t in recall(tonight, archive, 5)] == ["near", "nearer"]
    assert recall(tonight, archive, 0) == []


def test_recall_never_brings_back_what_is_like_a_held_out_task() -> None:
    tonight = [
        ask("now", "Write a note about the parser", "train"),
        ask("val", "Write one more note about the parser", "val"),
    ]
    archive = [past("twin", "Write one MORE note, about the parser!")]
    assert recall(tonight, archive, 3) == []
    assert all(t.split is Split.TRAIN for t in recall(tonight, tonight, 3))


def test_a_night_recalls_tasks_of_earlier_nights(house: House) -> None:
    house.sleep(asks(4, 3))
    target = Counting()
    later = [
        ask("x1", "Write a note about the parser in spring", "train"),
        ask("x2", "Tell what the harbour looks like", "val"),
    ]
    models = Proposing(CHECKED).as_optimizer | {Role.TARGET: target}
    report = house.sleep(later, sleep="recall_k = 1", stand_ins=models).report
    assert report.n_tasks == 3
    assert "Write a note about the parser for week 0" in target.asked
