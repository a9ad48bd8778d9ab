"""The clauses of a sentence that each say something by themselves: "The code is 8841, and I prefer tea." Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.fact_grammar.phrases import Phrases, all_phrases
from reverie_server.heuristics.fact_reader import MAX_SENTENCE_CHARS, read_facts
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import SELF, StatedFact, Utterance
from reverie_server.text.redact import essence
from reverie_server.text.statement_spans import is_statement

# What joins clauses of which none is the reason, the time or the condition of another.
_JOINS = re.compile(r"\s*[,，、–—-]*\s*(?:(?:and|but|und|aber|y|pero)\s*)?")
_DEPENDS: Mapping[str, re.Pattern[str]] = {
    "english": re.compile(
        r"(?:if|when|whenever|because|since|as|although|though|even|while|unless|until|till|once|whereas|so|in case"
        r"|before|after|where|who|which|that)(?!\w)"
    ),
    "german": re.compile(
        r"(?:wenn|weil|da|falls|obwohl|als|während|damit|sobald|solange|bis|nachdem|bevor|dass|ob|wo|sodass|seit"
        r"|sondern|denn|also)(?!\w)"
    ),
    "spanish": re.compile(
        r"(?:si|cuando|porque|como|aunque|mientras|para|hasta|ya que|que|así|pues|desde|donde|apenas|antes|después)"
        r"(?!\w)"
    ),
    "chinese": re.compile(r"因为|如果|虽然|当|只要|要是|每当|既然|除非|所以|然后|于是|因此|由于|即使|等"),
}
# What stands for somebody or something that the sentence names before.
_STANDS_FOR: Mapping[str, re.Pattern[str]] = {
    "english": re.compile(
        r"(?<!\w)(?:its?|he|him|his|she|hers?|they|them|theirs?|this|that|these|those|there|then|ones?|both|same|such"
        r"|others?|another|else|instead)(?!\w)"
    ),
    "german": re.compile(
        r"(?<!\w)(?i:es|ihn|ihm|ihr\w{0,2}|ihnen|sein\w{0,2}|sie|er|dessen|deren|denen|dort|dann|da|da(?:r|für|mit|von|bei"
        r"|zu|nach|gegen|durch)\w*|diese\w?|dies|jene\w?|beide\w?|solche\w?|andere\w?)(?!\w)"
        # An article stands before a noun, which has a capital.
        r"|(?<!\w)(?:[Dd]as(?! (?:[a-zß-ü]+e )?[A-ZÄÖÜ])|[Dd](?:er|ie|en|em)(?! (?:[a-zß-ü]+en? )?[A-ZÄÖÜ]))(?!\w)"
    ),
    "spanish": re.compile(
        r"(?<!\w)(?:l[eo]|les|él|ell[ao]s?|es[aoe]s?(?<!es)|est[ao]s?|este|aquel\w*|sus?|suy[ao]s?|ahí|allí|entonces"
        r"|amb[ao]s|otr[ao]s?|l(?:a|as|os)(?= \w+(?:o|é|í|mos)(?!\w)))(?!\w)"
    ),
    "chinese": re.compile(r"[它他她这那其此该]|前者|后者|的时候|的话"),
}
_I: Mapping[str, re.Pattern[str]] = {
    "english": re.compile(r"(?:now |also |these days |by the way,? )*(?:i|we)(?!\w)"),
    "german": re.compile(r"(?:ich|wir)(?!\w)"),
    "spanish": re.compile(r"(?:yo|nosotr[ao]s)(?!\w)"),
    "chinese": re.compile(r"(?:而且|但是?|不过|还有|另外|现在|最近|对了)*(?:我|咱)们?(?!的|家|爸|妈|哥|姐|弟|妹|老)"),
}


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause at `start` to `end` of its sentence. `stands_alone` is False where it may go on with the one before."""

    start: int
    end: int
    stands_alone: bool


def independent_clauses(sentence: str, language: str) -> list[Clause]:
    """The clauses of a sentence that each say something, in order, without the words that join them.

    [] where it is one, and where it is not plain that it is several: each has its own subject, and none names by a
    pronoun what stands in another, or says when or why that is. The first stands alone, and others that are known as
    facts. `language` is the most likely one.
    """
    if len(sentence) > MAX_SENTENCE_CHARS:
        return []
    cues = cues_of(folded(sentence), all_cues().get(language))
    if cues is None or cues.language not in _DEPENDS:
        return []
    if not (cuts := list(_cuts(sentence, all_phrases()[cues.language]))):
        return []
    stated = {essence(fact.text) for fact in _facts_of(sentence, cues.language)}
    clauses: list[Clause] = []
    start, stands_alone = 0, True
    ends = [*(first for first, _ in cuts[1:]), len(sentence)]
    for (first, last), end in zip(cuts, ends, strict=True):
        behind = sentence[last:end].strip()
        if _is_main(sentence[start:first], cues.language) and _has_own_subject(behind, stated, cues.language):
            clauses.append(Clause(start, first, stands_alone))
            start, stands_alone = last, _is_fact(behind, stated, cues.language)
    return [*clauses, Clause(start, len(sentence), stands_alone)] if clauses else []


def _cuts(sentence: str, phrases: Phrases) -> Iterator[tuple[int, int]]:
    """Where what joins two clauses begins and ends; a subject follows."""
    return (
        found.span()
        for found in phrases["split"].finditer(aligned(sentence))
        if found.start() > 0 and _JOINS.fullmatch(found[0])
    )


def _facts_of(text: str, language: str) -> list[StatedFact]:
    return read_facts([Utterance(text, datetime.min)], language)


def _is_main(clause: str, language: str) -> bool:
    """Whether a clause states something, and not when or why another does."""
    return is_statement(clause) and _DEPENDS[language].match(aligned(clause.strip())) is None


def _has_own_subject(clause: str, stated: Collection[str], language: str) -> bool:
    """Whether a clause behind another is about the speaker, or known as a fact, and nothing in it stands for what was
    named before."""
    plain = aligned(clause)
    if not _is_main(clause, language) or _STANDS_FOR[language].search(clause if language == "german" else plain):
        return False
    return _I[language].match(plain) is not None or _is_fact(clause, stated, language)


def _is_fact(clause: str, stated: Collection[str], language: str) -> bool:
    """Whether the sentence is known to state a clause in these words, or the clause alone states something of the
    speaker. Of a thing it may leave out whose it is, which the one before says."""
    if essence(clause) in stated:
        return True
    return any(fact.about_user and fact.subject == SELF for fact in _facts_of(clause, language))
