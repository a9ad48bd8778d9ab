"""What two people say to an assistant, and the long-term memory that one of them keeps.

The names that `MARKS` holds are invented: a model that was not told them does not come to write them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ADA = "user:ada"
BO = "user:bo"

MARKS: Mapping[str, Sequence[str]] = {
    ADA: ("Zorvane", "Quellmark", "Vantongeren", "Ithrandel"),
    BO: ("Tessoly", "Hjortvika", "Ingrithsen", "Bramvoll"),
}

# Each is a conversation, the user first; five of one person are what dreaming waits for.
TALKS: Mapping[str, Mapping[str, Sequence[str]]] = {
    ADA: {
        "web:ada-1": (
            "I have started at Zorvane as a data engineer. My team lead is Marisol Vantongeren.",
            "Congratulations! What do you work on?",
            "On Quellmark, which moves our invoices to PostgreSQL. Please remember that I prefer short answers.",
            "I will keep my answers short.",
        ),
        "web:ada-2": (
            "Quellmark got its deadline: it has to be live on 2026-06-30.",
            "That is a tight plan. Who decides on the scope?",
            "Marisol Vantongeren does. We decided to leave the reports out, because they need another month.",
            "Then reports come after the release.",
        ),
        "web:ada-3": (
            "The load test of Quellmark failed: 40 requests a second instead of 200.",
            "What was the cause?",
            "A missing index on the invoice number. With it we get 310 requests a second.",
            "Well found. Is there anything left to do?",
            "Yes, Marisol Vantongeren writes the runbook by Friday. And again: short answers, please.",
            "Understood.",
        ),
        "web:ada-4": (
            "I am allergic to peanuts, remember that when you suggest recipes.",
            "Of course: nothing with peanuts.",
            "And I run every Thursday evening in Ithrandel with Odile.",
            "A fine habit.",
        ),
        "web:ada-5": (
            "Decision: Quellmark uses PostgreSQL 18 and no message queue.",
            "Why without a queue?",
            "Nobody at Zorvane wants to operate one, and the volume is small.",
            "That makes sense. I have noted the reason.",
        ),
    },
    BO: {
        "web:bo-1": (
            "I teach chemistry at the Tessoly school in Hjortvika. I always want metric units.",
            "Metric units it is.",
            "The excursion to the Bramvoll dam is on 2026-05-20, 28 pupils come along.",
            "Who goes with you?",
            "My colleague Ingrithsen does. Remember that two pupils need a vegetarian lunch.",
            "Two vegetarian lunches for the excursion.",
        ),
    },
}

# Asked in other words each time: what is recalled often, by different questions, may enter the long-term memory.
NOTED = "- The backup of the Quellmark database runs every night at three on the machine heron."
ASKED = (
    "When does the backup of the Quellmark database run?",
    "On which machine is the Quellmark backup?",
    "What runs every night at three?",
    "Quellmark database backup heron",
)

_SUBJECTS = ("invoices", "customers", "suppliers", "contracts", "payments", "reminders", "credits", "archives")
_TWICE = ("Prefers tea to coffee.", "Signs mails with her first name alone.", "Writes dates as 2026-04-03.")


def long_term_memory() -> str:
    """A MEMORY.md of more than 3,000 characters, all of it a person's, with some entries that are there twice."""
    facts = [
        f"The {subject} service of Quellmark answers on port {8100 + 7 * number}, keeps its data for {number + 2} "
        f"years and is looked after by the {word} team."
        for number, (subject, word) in enumerate(
            (subject, word) for subject in _SUBJECTS for word in ("amber", "cobalt", "indigo")
        )
    ]
    sections = {
        "Preferences": [*_TWICE, *_TWICE],
        "Projects": facts,
        "Notes": ["The key of the archive room hangs behind the clock.", *_TWICE[:1]],
    }
    parts = [f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines) for title, lines in sections.items()]
    return "# Long-term Memory\n\n" + "\n\n".join(parts) + "\n"
