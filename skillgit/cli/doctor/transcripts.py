"""The check of agents' transcripts: what a harvest could not read of them."""

from __future__ import annotations

from collections.abc import Iterator

from skillgit.cli.doctor.rows import Patient, Row, ok, warn
from skillgit.cli.sessions.harvest import damage_lines, open_field
from skillgit.cli.show.output import count
from skillgit.sleep.harvest import transcript_damage


def transcripts(patient: Patient) -> Iterator[Row]:
    """Damaged lines and record types that no reader knows, by source; only if asked for."""
    if not patient.transcripts:
        return
    field = open_field(patient.invocation)
    found = transcript_damage(field.places(), field.wanted(None), field.digests())
    for source, damage in found.items():
        lines = damage_lines(source, damage)
        for line in lines:
            yield warn("transcripts", line, "They are passed over; a newer skillgit may read them.")
        if not lines:
            yield ok("transcripts", f"{source}: {count(damage.lines, 'line')}, all read")
