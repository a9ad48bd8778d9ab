"""Characters that a reader takes for a letter, a bracket or a dash of one of our marks. Pure.

Only the characters of our marks are here: the letters of `memory-context`, `memory-files`, the summary's mark and the
names of inputs of prompts, angle and square brackets, the slash and the dash. A character with a compatibility form
(full width, mathematical, circled) or an accent needs no entry: folding replaces it.
"""

from __future__ import annotations

# Cyrillic, Greek, small capitals, Armenian, Cherokee, Lisu, Coptic and others. Capital and small letters that look like
# different ones have an entry each.
_LETTERS = {
    "a": "аАαΑᴀɑᎪꓮⲁⲀ",
    "b": "ЬВΒʙᏴꓐ",
    "c": "сСϲϹᴄᏟꓚⲥⲤ",
    "d": "ԁᴅᎠꓓ",
    "e": "еЕεΕᴇɛᎬꓰⲉⲈєЄэ",
    "f": "ꜰƒϝϜꓝ",
    "g": "ɡɢԍᏀꓖ",
    "h": "һНΗʜᎻꓧհ",
    "i": "іІιΙıɪᎥꓲⲓⲒӏӀᛁ",
    "j": "јЈᴊϳᎫꓙյ",
    "k": "кКκΚᴋᏦꓗⲕ",
    "l": "ʟᏞꓡⳑ",
    "m": "мМμΜᴍᎷꓟⲙⲘ",
    "n": "пиИΝηɴꓠⲛⲚոռ",
    "o": "оОοΟσᴏօՕꓳⲟⲞ๐০",
    "p": "рРρΡᴘᏢꓑⲣⲢ",
    "q": "ԛԚ",
    "r": "гГʀᎡᏒꓣяЯᴙ",
    "s": "ѕЅꜱςᏚꓢՏ",
    "t": "тТτΤᴛᎢꓔⲧⲦ",
    "u": "υᴜսԱꓴ",
    "v": "νѵѴᴠᏙꓦ",
    "w": "ѡԝԜᴡᎳꓪω",
    "x": "хХχΧꭓꓫⲭⲬ",
    "y": "уУүҮγΥʏᎩꓬⲩ",
    "z": "ζΖᴢᏃꓜ",
}
_SIGNS = {
    "<": "‹〈⟨〈«⟪《❮❬❰ᐸ˂≺≪⋖⧼",
    ">": "›〉⟩〉»⟫》❯❭❱ᐳ˃≻≫⋗⧽",
    "[": "【〔⟦❲〖⦗「",
    "]": "】〕⟧❳〗⦘」",
    "/": "⁄∕╱⧸⟋〳∖⧵＼\\",
    "-": "−⁃˗ー‒·•",
}
# Of the angle brackets these also quote words: French, Russian, Chinese and Japanese.
QUOTES = frozenset("«‹〈《")
_NEGATIVE_CIRCLED, _NEGATIVE_SQUARED, _REGIONAL = 0x1F150, 0x1F170, 0x1F1E6
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"

# Each look-alike with the plain character.
LOOKALIKES: dict[str, str] = {
    **{other: plain for plain, others in (_LETTERS | _SIGNS).items() for other in others},
    **{
        chr(first + index): letter
        for first in (_NEGATIVE_CIRCLED, _NEGATIVE_SQUARED, _REGIONAL)
        for index, letter in enumerate(_ALPHABET)
    },
}
# Signs that people write for a letter, as part of a character class in a pattern.
SUBSTITUTES = {"a": "4@", "e": "3", "i": "1l!|", "l": "1i|", "o": "0", "s": "5$", "t": "7"}
