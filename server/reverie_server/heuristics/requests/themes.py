# ruff: noqa: E501  # a pattern stands on one line
"""What people call what they told without a word of it: "that family thing", "lo de la plata", "那个检查结果". Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.requests.fact_requests import aligned

# For each theme the words that name it, and those of what is told of it.
_THEMES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(named), re.compile(told))
    for named, told in (
        (
            r"(?<!\w)(?:family|families|familie\w*|familiensache|familia\w*)(?!\w)|家[里事务庭]|家丑",
            r"(?<!\w)(?:mom|mum|mam|dad|mother|father|sister|brother|son|daughter|aunt|uncle|cousin|niece|nephew|grandma|grandpa|gran|wife|husband|in-laws?|stepdad|stepmom)s?(?:'s)?(?!\w)"
            r"|(?<!\w)(?:mama|papa|mutter|vater|schwester|bruder|sohn|tochter|tante|onkel|cousine?|nichte|neffe|oma|opa|frau|mann|schwager|schwägerin|schwieger\w+|enkel\w*|eltern)s?(?!\w)"
            r"|(?<!\w)(?:mam[aá]|pap[aá]|madre|padre|hermanas?|hermanos?|hij[oa]s?|t[ií][oa]s?|prim[oa]s?|sobrin[oa]s?|abuel[oa]s?|suegr[oa]s?|cuñad[oa]s?|espos[oa]|marido|mujer)(?!\w)"
            r"|[妈爸爹娘姐妹哥弟儿女叔姑姨舅婆公]|老公|老婆|亲戚",
        ),
        (
            r"(?<!\w)(?:money|cash|debts?|finances?|geld\w*|schulden|finanz\w*|plata|dinero|lana|pasta|guita|deudas?|finanzas)(?!\w)|钱|债|财务",
            r"(?<!\w)(?:owe[sd]?|debts?|loans?|lent|borrow\w*|broke|bankrupt\w*|gambl\w+|salary|wages|dollars?|pounds?|euros?|bucks|grand|overdrawn|mortgage"
            r"|schulde\w*|schulden|kredit\w*|pleite|insolven\w+|verspielt|gehalt|darlehen|geliehen"
            r"|debo|debe\w*|deudas?|pr[eé]stamo\w*|prestamista|millones|pesos|quiebra|sueldo|hipoteca|lucas|aposté|apuestas)(?!\w)|[$€£¥]|欠|借|贷|债|工资|破产|赌|万块|万元|[块元]钱",
        ),
        (
            r"(?<!\w)(?:health|medical|doctors?|test results?|results?|diagnos\w+|scan|illness|gesundheit\w*|befund\w*|untersuchung\w*|diagnose|krankheit|arztsache|salud|m[eé]dic\w+|ex[aá]men(?:es)?|resultados?|diagn[oó]stico|enfermedad)(?!\w)"
            r"|身体|身上|检查|体检|结果|病|健康|诊断",
            r"(?<!\w)(?:cancer|tumou?rs?|scans?|x-rays?|mri|test results|blood test|cysts?|biops\w+|diagnos\w+|hiv|diabet\w+|depress\w+|antidepress\w+|pregnan\w+|miscarr\w+|surgery|clinic|rehab|stroke|parkinson\w*|dementia|alzheimer\w*|seizures?|lump|benign|malignant|chemo|ultrasound"
            r"|\w*ärzt(?:in|innen|e|en)|\w*arzt|krebs|tumor|röntgen\w*|mrt|ct|zyste|biopsie|myom|diagnose|depression\w*|schwanger|fehlgeburt|operation|klinik|entzug|schlaganfall|demenz|knoten|befund"
            r"|c[aá]ncer|tumor|radiograf[ií]a|ecograf[ií]a|resonancia|quiste|biopsia|mioma|diagn[oó]stic\w+|depresi[oó]n|embarazad\w+|aborto|operaci[oó]n|cl[ií]nica|infarto|demencia|bulto|sida|vih)(?!\w)"
            r"|癌|瘤|囊肿|息肉|结节|糖尿|抑郁|怀孕|流产|手术|中风|帕金森|痴呆|阴性|阳性|确诊|查出|化疗|病",
        ),
        (
            r"(?<!\w)(?:love life|relationship|marriage|affair|romance|beziehung\w*|ehe|liebe\w*|affäre|relaci[oó]n|matrimonio|amor\w*|pareja)(?!\w)|感情|婚姻|恋",
            r"(?<!\w)(?:affair|cheat\w*|divorc\w+|separat\w+|kiss\w*|in love|crush|dating|girlfriend|boyfriend|fremdgeh\w*|fremdgegangen|betrogen|betrügt|scheid\w+|trennen|getrennt|verliebt|geküsst"
            r"|infiel|engañ\w+|divorci\w+|separ\w+|besé|enamorad\w+|amante|novi[oa])(?!\w)|出轨|离婚|分手|喜欢上|外遇|暧昧|相亲",
        ),
    )
)


def shares_theme(request: str, statement: str) -> bool:
    """Whether a request names by its theme alone what a statement tells of."""
    asked, told = aligned(request), aligned(statement)
    return any(named.search(asked) is not None and of.search(told) is not None for named, of in _THEMES)
