from __future__ import annotations

import os
import time

from skillgit.store.git.move_log import MoveLog
from skillgit.store.git.private import PrivateFolder


def test_moves_are_read_back_by_ref_oldest_first(tmp_path, clock):
    private = PrivateFolder(tmp_path)
    log = MoveLog(private, clock, "skillgit train --new")
    log.write("refs/heads/a", None, "1" * 40)
    log.write("refs/heads/b", None, "2" * 40)
    with private.moves.open("ab") as file:
        file.write(b'{"half a line\n[]\n\xff\n')
    log.write("refs/heads/a", "1" * 40, "3" * 40)
    assert [(m["old"], m["new"]) for m in log.moves("refs/heads/a")] == [
        (None, "1" * 40),
        ("1" * 40, "3" * 40),
    ]
    (first, _) = log.moves("refs/heads/a")
    assert first["command"] == "skillgit train --new"
    assert first["time"] == clock.at.isoformat()
    assert first["pid"] == os.getpid()


def test_a_files_age_is_by_the_clock_of_the_file_system(tmp_path, clock):
    log = MoveLog(PrivateFolder(tmp_path), clock, "skillgit")
    file = tmp_path / "file"
    file.write_text("")
    os.utime(file, times=(time.time() - 90,) * 2)
    assert 89 < log.age(file) < 95
