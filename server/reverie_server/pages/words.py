"""The words of the pages: their groups, what a form has done, and plain words for the terms of the API. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Each page by its address, with its name; the last ones are an administrator's.
Pages = Sequence[tuple[str, str]]
_GROUPS: Sequence[tuple[str, Pages, Pages]] = (
    ("Lately", (("overview", "Overview"), ("timeline", "Timeline"), ("nights", "Nights"), ("jobs", "Jobs")), ()),
    (
        "What is known",
        (("memory", "Memory"), ("facts", "Facts"), ("contradictions", "Contradictions"), ("graph", "Graph")),
        (),
    ),
    (
        "What was said",
        (("conversations", "Conversations"), ("turns", "Turns"), ("prompt", "Prompt"), ("search", "Search")),
        (),
    ),
    ("Privacy", (("forget", "Forget"), ("snapshot", "Export")), (("people", "People"), ("audit", "Audit"))),
    ("Set-up", (("connect", "Connect"), ("agent", "Agent")), (("keys", "Keys"),)),
)
# The pages of single things that stand below a page of another name.
_BELOW = {"person": "people", "which": ""}
# What a form has done, for the page that comes after it.
_DONE: Mapping[str, str] = {
    "saved": "Saved. The text before it stays in the history below.",
    "restored": "The older version is the present one again. Nothing is lost: the history below has all versions.",
    "undone": "It is undone: the file, which there was not before that night, is deleted.",
    "fact-saved": "Saved: the fact with the new words holds from now on, and the old one is kept as superseded.",
    "fact-confirmed": "Confirmed: as far as it had faded with time, the trust in this fact is back.",
    "fact-rated": "Noted. It moves the trust in this fact.",
    "kept": "Decided: what you kept holds, and the other is superseded. It is in the list of those resolved.",
    "ignored": "Both stand, and are not shown here again. The pair is in the list of those ignored.",
    "card": "Done.",
    "card-seen": "Dismissed. If an earlier night let in something that you have not dismissed, it is shown next.",
    "completed": "The conversation is closed. What it came to is summed up in the background.",
    "compacted": "Older messages are summarised: a prompt has the summary in their place.",
    "cleared": "All that was said here is gone.",
    "deleted": "The conversation is deleted.",
    "settings": "Saved. It holds from the next request on.",
    "revoked": "The key is not accepted any more.",
    "retried": "It is tried again in the background.",
    "merged": "The two are one now. It can be undone at the bottom of this page.",
    "apart": "They are two.",
    "dismissed": "Taken from the list. Nothing was forgotten, and the message stays.",
    "nothing": "Nothing was removed: it is not there any more.",
}
SECTIONS: Mapping[str, str] = {
    "system_prompt": "what the application says itself",
    "shared_files": "files that all people share",
    "profile": "who this person is",
    "long_term_memory": "what is known, and the other files of the agent",
    "todays_notes": "what was said today, in other conversations",
    "recent_context": "what was said on the last days",
    "morning_card": "what is new in long-term memory",
    "memory_context": "found by a search for this message",
    "summary": "older messages of this conversation, summed up",
    "messages": "the conversation so far",
    "message": "what the user says",
}
# The file that a section of the prompt is made of.
SECTION_FILES: Mapping[str, str] = {"profile": "PROFILE.md", "long_term_memory": "MEMORY.md"}
SKIPPED: Mapping[str, str] = {
    "trivial": "it is small talk, for which memory is not searched",
    "disabled": "memory is switched off for this agent",
    "no_match": "nothing that is relevant enough and new to the prompt was found",
    "budget": "no room was left in the prompt",
}
ANSWERS: Mapping[str, str] = {
    "answered": "answered",
    "failed": "the model failed",
    "broke_off": "the answer broke off",
    "left": "the client left",
}
WHY_NOT: Mapping[str, str] = {
    "below": "of less relevance than the threshold",
    "known": "in the prompt already",
    "budget": "no room left for it",
}
WRITERS: Mapping[str, str] = {
    "person": "a person",
    "facts": "what is known of you from conversations",
    "extraction": "learned from a conversation",
    "emergence": "entered in a night",
    "dreaming": "summed up in a night",
    "compaction": "made shorter in the background",
    "episodic": "summary of a conversation",
    "soul": "SOUL.md, grown in a night",
}
NIGHTS: Mapping[str, str] = {
    "full": "The night: notes into long-term memory",
    "focused": "Notes on a topic",
    "dreaming": "Dreaming: conversations summed up",
    "soul": "SOUL.md",
}
TRIGGERS: Mapping[str, str] = {
    "event": "after a conversation",
    "cron": "by the clock",
    "api": "by hand",
    "retry": "again, after a failure",
}
STAGES: Mapping[str, str] = {
    "facts": "reads facts from files and conversations",
    "extraction": "notes what is worth keeping of a conversation",
    "episodic": "sums up a conversation that is over",
    "semantic": "finds people, places and what they have to do with each other",
    "dedup": "finds names of the same thing",
    "dreaming": "sums up many conversations at night",
    "emergence": "lets notes enter long-term memory at night",
    "compaction": "keeps MEMORY.md short",
    "soul": "lets SOUL.md grow at night",
}


def groups(*, is_admin: bool) -> list[tuple[str, list[tuple[str, str]]]]:
    """The pages by group, those of administrators for one alone."""
    return [(name, [*pages, *(admins if is_admin else ())]) for name, pages, admins in _GROUPS]


def page_of(path: str) -> str:
    """The name of the page that an address belongs to; "" for none of the groups'."""
    name = [*path.split("/"), "", "", ""][3]
    return _BELOW.get(name, name)


def done(code: str) -> str:
    """What a form has done; "" for a code that there is none of."""
    return _DONE.get(code, "")


def outcome(skipped: str, near: Sequence[str]) -> str:
    """Why memory added to a prompt or did not, in a few words; `near` says why what was found was left out."""
    if skipped == "injected":
        return "memory was added"
    if skipped == "no_match" and "known" in near:
        return "in the prompt already"
    return {"trivial": "small talk", "disabled": "switched off", "budget": "no room"}.get(skipped, "nothing found")


def many(count: int, one: str, more: str | None = None) -> str:
    """A number with its noun: "1 job", "2 jobs"."""
    return f"{count} {one if count == 1 else more or f'{one}s'}"
