"""Four task families for trainings with small real models: a deficient skill, tasks, and a person's best.

None of them was looked at while the prompts were written. Each has 34 tasks: 10 to train on, 12
to validate on, 12 to test with. A family's wishes are never said in a task; only the checks know
them, and say in words what was missed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Check = Mapping[str, Any]

TRAIN, VAL, TEST = 10, 12, 12


@dataclass(frozen=True)
class Family:
    """One kind of work: how it is asked for, what a good answer has, and two skills for it."""

    name: str
    skill: str
    best: str
    ask: str
    subjects: Sequence[str]
    checks: Sequence[Check]

    def task_lines(self) -> str:
        """The tasks as a skillgit task file, splits included."""
        splits = ["train"] * TRAIN + ["val"] * VAL + ["test"] * TEST
        return "".join(
            json.dumps(
                {
                    "id": f"{self.name}-{number:02d}",
                    "prompt": self.ask.format(subject),
                    "split": split,
                    "judge": {"kind": "rule", "checks": list(self.checks)},
                },
                ensure_ascii=False,
            )
            + "\n"
            for number, (subject, split) in enumerate(zip(self.subjects, splits, strict=True), 1)
        )


COMMITS = Family(
    name="commits",
    skill="# Commit messages\n\nWrite the commit message for a change.\n\n- Use plain English.\n- Answer with the message alone.\n",
    best='# Commit messages\n\nWrite the commit message for a change.\n\n- Use plain English.\n- Answer with the message alone.\n- Start the message with the words "change: ".\n- End the message with "[ok]".\n',
    ask="Write the commit message for this change: {}",
    subjects=[
        "the login form trims white space from the e-mail field",
        "the export writes dates in UTC",
        "a page about installing on Windows was added to the manual",
        "the search no longer fails on an empty query",
        "the thumbnail cache is cleared once a week",
        "the unused logging module was deleted",
        "the price column is aligned to the right",
        "uploads above 20 MB are refused with a message",
        "the French translation was completed",
        "the retry loop waits twice as long after each failure",
        "the settings page remembers the last tab",
        "the parser accepts comments at the end of a line",
        "two flaky tests were rewritten",
        "the default time-out was raised to 30 seconds",
        "the sidebar can be hidden with a key",
        "the database connection is closed when the server stops",
        "passwords are no longer written to the log",
        "the readme names the supported versions",
        "the build runs on two more platforms",
        "images are loaded only when they become visible",
        "the import skips lines that are empty",
        "the user list is sorted by name",
        "a crash on very long file names was mended",
        "the feedback button was moved to the menu",
        "the API answers with 404 for unknown orders",
        "the colours of the chart were made easier to tell apart",
        "the nightly job deletes temporary files",
        "the calendar shows week numbers",
        "the config file may contain environment variables",
        "the download link expires after a day",
        "the form says which field is wrong",
        "the progress bar counts skipped files, too",
        "a race between two writers was removed",
        "the docs explain how to undo an import",
    ],
    checks=[
        {"op": "regex", "arg": r"\A\s*`*\s*change: ", "hint": 'must start with "change: "'},
        {"op": "contains", "arg": "[ok]"},
    ],
)

REPLIES = Family(
    name="replies",
    skill="# Support replies\n\nAnswer a customer's message.\n\n- Be polite.\n- Answer in two or three sentences.\n",
    best='# Support replies\n\nAnswer a customer\'s message.\n\n- Be polite.\n- Answer in two or three sentences.\n- Begin with the words "Hello from Norrland,".\n- Sign with "Your Norrland team".\n- Never write the word "sorry".\n',
    ask="A customer writes: {} Write our reply.",
    subjects=[
        "My parcel has not arrived yet.",
        "The lamp came with a broken shade.",
        "Can I change the delivery address?",
        "I was charged twice for one order.",
        "How do I return a pair of shoes?",
        "The app does not let me log in.",
        "Do you ship to Norway?",
        "The discount code was not accepted.",
        "I got the wrong size.",
        "When will the blue chair be back?",
        "My invoice has the wrong name on it.",
        "The battery is empty after an hour.",
        "Can I cancel my order?",
        "The manual is missing from the box.",
        "How long is the guarantee?",
        "I never got a confirmation.",
        "The table wobbles.",
        "Can I pay by invoice?",
        "The colour is not the one in the picture.",
        "Please delete my account.",
        "Is the jacket waterproof?",
        "One of the six glasses is cracked.",
        "My voucher has expired.",
        "How do I clean the rug?",
        "The courier left the parcel in the rain.",
        "Can you wrap it as a gift?",
        "The newsletter keeps coming.",
        "Is there a shop in Malmö?",
        "The zip broke on the second day.",
        "Why is shipping so expensive?",
        "I forgot my password.",
        "The shelf does not fit together.",
        "Can I collect my order in person?",
        "The kettle leaks.",
    ],
    checks=[
        {
            "op": "regex",
            "arg": r"\A\s*Hello from Norrland,",
            "hint": 'must begin with the words "Hello from Norrland,"',
        },
        {"op": "contains", "arg": "Your Norrland team"},
        {"op": "not_contains", "arg": "sorry"},
    ],
)

EXTRACTION = Family(
    name="extraction",
    skill="# Orders\n\nTake an order out of a sentence.\n\n- Do not explain anything.\n",
    best='# Orders\n\nTake an order out of a sentence.\n\n- Do not explain anything.\n- Answer with one JSON object and nothing else. It has the keys "item", "quantity" and "town".\n- The value of "quantity" is a number without quotation marks.\n',
    ask="Order: {}",
    subjects=[
        "Send 3 ladders to Bremen.",
        "We need 12 chairs in Lund.",
        "Please bring 2 sofas to Gent.",
        "7 lamps go to Turku.",
        "Deliver 40 bricks to Basel.",
        "5 tents for Oslo, please.",
        "Ship 9 kettles to Porto.",
        "Could Nice get 6 mirrors?",
        "Graz wants 15 buckets.",
        "Bring 4 bikes to Delft.",
        "11 ropes have to go to Cork.",
        "Send 8 clocks to Bergen.",
        "Please ship 20 plates to Lyon.",
        "3 desks for Aarhus.",
        "Deliver 14 pillows to Siena.",
        "Ulm needs 2 ovens.",
        "10 shovels to Vaasa, please.",
        "Get 25 cups to Leuven.",
        "We want 6 doors in Split.",
        "Send 13 books to Bath.",
        "4 pianos go to Krems.",
        "Bring 30 candles to Assisi.",
        "Please send 5 drums to Brno.",
        "Ship 16 towels to Evora.",
        "Tartu asks for 7 stoves.",
        "9 benches for Mainz.",
        "Deliver 2 boats to Split.",
        "18 hammers to Metz, please.",
        "Get 3 fridges to Umea.",
        "Send 21 spoons to Parma.",
        "Linz wants 8 tables.",
        "Bring 12 umbrellas to York.",
        "6 cameras have to go to Gdansk.",
        "Please deliver 17 jars to Toledo.",
    ],
    checks=[
        {
            "op": "regex",
            "arg": r"(?s)\A\s*(?:```\w*\s*)?\{.*\}\s*(?:```)?\s*\Z",
            "hint": "must be a JSON object and nothing else",
        },
        {
            "op": "regex",
            "arg": r'"item"\s*:\s*"[^"]+"',
            "hint": 'must have the key "item" with a text as its value',
        },
        {
            "op": "regex",
            "arg": r'"quantity"\s*:\s*\d+\b',
            "hint": 'must have the key "quantity" with a number as its value',
        },
        {
            "op": "regex",
            "arg": r'"town"\s*:\s*"[^"]+"',
            "hint": 'must have the key "town" with a text as its value',
        },
    ],
)

SUMMARIES = Family(
    name="summaries",
    skill="# Summaries\n\nSum up a text for a busy reader.\n\n- One or two sentences.\n",
    best='# Summaries\n\nSum up a text for a busy reader.\n\n- One or two sentences.\n- Start with the words "In short: ".\n- After that, write "Impact: " and what follows from it.\n',
    ask="Sum up: {}",
    subjects=[
        "The council voted on Monday to close the old bridge. It carries too much traffic and its pillars are cracked. A new one will open in two years.",
        "Our team tested three printers. The cheapest was slow, the fastest broke twice. The third does all we need.",
        "The bakery sold more bread in June than ever. Tourists came early this year. Two more bakers were hired.",
        "The server ran out of disk space at night. Backups had been kept for too long. Old ones are deleted now after a week.",
        "Rain fell for nine days. The river rose by two metres. Farmers moved their animals uphill.",
        "The library opens on Sundays from May on. Students had asked for it for years. Volunteers take care of the desk.",
        "The museum bought a painting by a local artist. It had been in private hands for a century. It hangs in the main hall.",
        "Sales of bicycles doubled in a year. Petrol became expensive. Shops cannot get enough parts.",
        "A school replaced its buses with electric ones. They are quiet and cheap to run. Charging takes all night.",
        "The firm moved its office to the harbour. Rents are lower there. Some staff have a longer way to work.",
        "The team lost its best player to an injury. The coach tried a new line-up. They won all the same.",
        "A storm cut the power in four villages. Trees had fallen on the lines. It took a day to mend them.",
        "The hospital tried a new way of booking. Patients choose their own time. Fewer of them miss it.",
        "Bees came back to the park. The city stopped cutting the grass in spring. Flowers grow everywhere.",
        "The airline cancelled its morning flight. Too few people took it. The evening flight stays.",
        "A survey asked a thousand people about sleep. Most of them sleep too little. Screens are the main reason.",
        "The factory cut its water use by half. It cleans and reuses what it has. The machines were paid for in a year.",
        "A village built its own network. The big firms had refused. Every house is connected now.",
        "The film was finished two years late. It cost twice as much as planned. Critics love it.",
        "The market square gets new trees. The summers became too hot. Parking places have to go.",
        "The choir looks for new voices. Many members moved away. Rehearsals are on Tuesdays.",
        "The bank closed its last branch in town. Most customers use the app. Older people are angry.",
        "The harbour was dredged in autumn. Larger ships can enter. Trade grew by a tenth.",
        "A new law limits noise at night. Bars have to close their terraces at ten. Neighbours had complained.",
        "The garden club planted a hedge. It keeps the wind off. Birds nest in it already.",
        "The railway tests longer trains. Platforms have to be rebuilt. More seats come in two years.",
        "The newspaper stops its print edition. Paper became too expensive. It lives on as a web page.",
        "A pool was closed after a leak. The pipes are fifty years old. The city looks for money.",
        "The theatre lowered its prices. Young people come more often. The hall is full.",
        "Wolves were seen near the town. Shepherds keep dogs again. Nobody was hurt.",
        "The university offers evening courses. Workers had asked for them. The first ones are full.",
        "The lake froze in January. People skated for three weeks. The ice is gone now.",
        "A start-up makes bricks from waste. They are as strong as common ones. The first house stands.",
        "The post office trains new drivers. Parcels have doubled. Routes are planned anew.",
    ],
    checks=[
        {"op": "regex", "arg": r"\A\s*In short: ", "hint": 'must start with "In short: "'},
        {"op": "contains", "arg": "Impact: "},
    ],
)

FAMILIES = {family.name: family for family in (COMMITS, REPLIES, EXTRACTION, SUMMARIES)}
