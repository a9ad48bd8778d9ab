# ruff: noqa: E501  # a pattern stands on one line
"""More ways to ask for forgetting in Spanish. Pure."""

from __future__ import annotations

from reverie_server.heuristics.requests.forget_phrases.parts import LABEL, PAUSE, TOPIC, TOPIC_OF_WORDS

# Spanish; with and without accents, of tú, usted and vos.
_OYE = r"(?:(?:ya(?= no )|por favor|por fa|porfa|porfis|ok|vale|espera|espere|y|pero|perdona|perdón|perdon|ay|no(?=,)|oye|mira|bueno|mejor|disculpa|uy|ups|también|tambien|ah|entonces|che|te lo pido|sabes qu[eé])[ ,]++)*+"
_PUEDES = r"(?:puedes |podr[ií]as |pod[eé]s |puede |podr[ií]a |me puedes |quieres |haz el favor de |hazme el favor de |te importar[ií]a |necesito que |quiero que |te pido que |quisiera que |me gustar[ií]a que |prefiero que |preferir[ií]a que |te agradecer[ií]a que )?"
_FIN = r"(?:,? ?(?:por favor|por fa|porfa|porfis|ya|ahora|ahora mismo|de nuevo|en ning[uú]n (?:sitio|lado|lugar)|en ninguna parte|(?:de|en) (?:tu|la|su) memoria|de tus (?:notas|registros|archivos)|en tus (?:notas|registros)|gracias|s[ií]|vale|eh|quieres|puedes|mejor|tampoco|nunca|para siempre|del todo|te lo pido))*+"
_OLVIDA = r"(?:olvida|olvid[aá]|olvide|olvidar|olvides|olv[ií]date de|olvidarte de|olvídese de|te olvides de|borra|borr[aá]|borre|borrar|borres|b[oó]rrame|elimina|elimin[aá]|elimine|eliminar|elimines|quita|quit[aá]|quite|quitar|quites|saca|sac[aá]|saque|suprime)"
_PORQUE = r"(?:, ?(?:que|porque|pues|es que) [^.;!?]{2,140})?"
_OLVIDA_SOLO = r"(?:olvida|olvid[aá]|olvide|olvidar|olvides|olv[ií]date de|olvidarte de|te olvides de|borra|borr[aá]|borre|borrar|borres|b[oó]rrame|elimina|elimin[aá]|elimine|eliminar|elimines)"
_DIJE = r"(?:dije|habl[eé]|he dicho|cont[eé]|he contado|coment[eé]|he comentado|mencion[eé]|he mencionado|platiqu[eé]|expliqu[eé]|escrib[ií]|confes[eé]|dec[ií]a|ven[ií]a diciendo|acabo de (?:decir|contar|escribir|comentar|mencionar)(?:te)?|acabo de decirte)"
_HACE = r"(?: (?:ayer|antes|hace un rato|hace un momento|hace poco|reci[eé]n|hoy|esta ma[ñn]ana|el otro d[ií]a|justo|ahora))*+"
_ESO = (
    rf"(?:(?:eso|esto) [uú]ltimo(?: que (?:te )?{_DIJE}{_HACE})?|eso|esto|todo eso|todo esto|(?:todo )?(?:eso |esto )?(?:lo )?que (?:te )?{_DIJE}{_HACE}|lo [uú]ltimo(?: que (?:te )?{_DIJE})?|lo de (?:antes|reci[eé]n|ahora|hace un (?:rato|momento))|lo anterior"
    r"|(?:el|mi) [uú]ltimo mensaje|la [uú]ltima frase|ese dato|este dato|ese comentario|esa informaci[oó]n|ese detalle)"
)
_GUARDES = r"(?:guardes|guarde|recuerdes|anotes|anote|apuntes|apunte|almacenes|registres|registre|memorices|grabes|conserves|escribas|te acuerdes de|lo guardes|lo anotes|lo apuntes|lo registres|lo almacenes|lo recuerdes|lo conserves|lo memorices|te quedes con|quedes)"
_LOGUARDES = r"(?:guardes|guarde|anotes|anote|apuntes|apunte|almacenes|registres|registre|memorices|grabes|conserves|recuerdes|escribas)"
_SOBRE = r"(?:sobre|de|del|acerca de|acerca del|respecto a|respecto al|respecto de|con)"
_EL = r"(?:el |la |los |las |mi |mis |nuestro |nuestra )"
_PRIVADO = (
    r"(?:contrase[ñn]a|pin|nip|sueldo|salario|n[oó]mina|diagn[oó]stico|expediente|deudas?|secreto|enfermedad|iban)"
)
_CERRADO = (
    r"(?:clave|c[oó]digo|combinaci[oó]n|n[uú]mero) (?:de|del|para) (?:\w+ ){0,3}?(?:puerta|portal|caja|caja fuerte|alarma|candado|garaje|edificio|casa|taquilla|trastero|malet[ií]n|bici|bicicleta"
    r"|portero|tarjeta|cuenta|banco|m[oó]vil|tel[eé]fono|wifi|correo|gimnasio)(?: [^,;:.!?]{2,40}?)?"
)
_YO = (
    r"que (?!(?:yo )?(?:soy tu|existo|estoy aqu[ií]|pregunt[eé]|te pregunt[eé]|todo|como|cuando|esto|eso)(?!\w))(?:yo )?(?:ya )?(?:no )?(?:(?:mis?|me|nos|nuestr\w+|te (?:dije|cont[eé]|coment[eé]|habl[eé])"
    r"|he|estoy|estuve|soy|fui|voy|tengo|tuve|vivo|viv[ií]|sufr[ií]|\w{3,}[oé]|\w{2,}(?:aba|ía)|estamos|tenemos|vivimos)(?!\w))[^:;.!?]{0,120}"
)
SPANISH = (
    (
        rf"{_OYE}(?:{_EL}|(?={_PRIVADO} ?[:–—-])){LABEL}(?:por favor,? |porfa,? )?(?:b[oó]rral[oa]|olv[ií]dal[oa]|elim[ií]nal[oa]){_FIN}",
        "topic",
    ),
    (rf"{_OYE}(?:(?<=por favor )|(?<=por favor, ))olv[ií]da(?:te de)? {_EL}{TOPIC_OF_WORDS}{_FIN}", "topic"),
    (rf"{_OYE}olv[ií]da(?:te de)? {_EL}{TOPIC_OF_WORDS},? (?:por favor|porfa){_FIN}", "topic"),
    (rf"{_OYE}(?:puedes|podr[ií]as|pod[eé]s) olvidar(?:te de)? {_EL}{TOPIC_OF_WORDS}{_FIN}", "topic"),
    (
        rf"{_OYE}(?:quiero|prefiero|necesito|me gustar[ií]a|te pido|mejor) que (?:te )?olvides(?: de)? {_EL}{TOPIC}{_FIN}",
        "topic",
    ),
    (rf"{_OYE}{_PUEDES}(?:{_OLVIDA_SOLO}|no {_GUARDES}) {_EL}(?P<private>{_CERRADO}){_FIN}", "topic"),
    (
        rf"{_OYE}{_PUEDES}no {_GUARDES} {_EL}(?P<private>{_PRIVADO}(?: (?:de|del|para) [^,;:.!?]{{2,60}}?)?){_FIN}",
        "topic",
    ),
    (rf"{_OYE}{_PUEDES}{_OLVIDA} {_ESO}{_FIN}", "previous"),
    (
        rf"{_OYE}{_PUEDES}(?:b[oó]rralo|borralo|borrarlo|elim[ií]nalo|eliminarlo|qu[ií]talo|lo borres|lo elimines|lo olvides|olvidarlo|s[aá]calo de (?:tu memoria|tus notas)){_FIN}",
        "previous",
    ),
    (rf"{_OYE}{_ESO}[, ]+(?:b[oó]rralo|olv[ií]dalo|elim[ií]nalo|qu[ií]talo|borra|olvida){_FIN}", "previous"),
    (rf"{_OYE}{_PUEDES}no {_GUARDES} {_ESO}{_FIN}", "previous"),
    (rf"{_OYE}ni se te ocurra (?:guardar|apuntar|anotar|registrar|recordar)(?:lo| {_ESO}){_FIN}", "previous"),
    (rf"{_OYE}{_PUEDES}no (?:me |te )?lo {_LOGUARDES}{_FIN}", "previous"),
    (rf"{_OYE}{_ESO}[, ]+(?:mejor |por favor )?no (?:me )?lo {_LOGUARDES}{_FIN}", "previous"),
    (
        rf"{_OYE}no (?:quiero|quisiera|me gustar[ií]a|hace falta|es necesario|necesito|tienes por qu[eé]) (?:que )?(?:lo )?{_LOGUARDES}(?: {_ESO})?{_FIN}",
        "previous",
    ),
    (
        rf"{_OYE}(?:{_ESO} )?(?:no hace falta|no es necesario) (?:que lo {_LOGUARDES}|guardarlo|anotarlo|apuntarlo|registrarlo|recordarlo){_FIN}",
        "previous",
    ),
    (
        rf"{_OYE}(?:que )?(?:{_ESO} )?(?:que )?no (?:debe |tiene que |quiero que |debe de )?(?:quede|queda|quedar|quedarse|se guarde|guardarse|se registre|se quede|conste)(?: {_ESO})?(?: guardado| registrado| registro| anotado| escrito| constancia| rastro)?(?: (?:de|con) {_ESO})?{_FIN}",
        "previous",
    ),
    (
        rf"{_OYE}(?:haz|hagamos|haga|has) (?:como )?(?:de cuenta )?(?:si|que)? ?(?:yo )?(?:no|nunca) (?:te )?(?:lo )?(?:hubiera|hubiese|he|haya)? ?(?:dicho|contado|mencionado|dije|cont[eé])(?: (?:nada|eso|esto))?{_FIN}",
        "previous",
    ),
    (
        rf"{_OYE}{_PUEDES}no {_GUARDES} (?:lo siguiente|lo que sigue|lo que viene|lo que (?:te )?voy a (?:decir|contar)(?:te)?|lo pr[oó]ximo){_FIN}",
        "next",
    ),
    (
        rf"{_OYE}{_PUEDES}(?:olv[ií]d[ae]|olvid[aá]|olvides|olvidar|olv[ií]date de) (?:lo siguiente|lo que sigue|lo que viene|lo que (?:te )?voy a (?:decir|contar)(?:te)?(?: ahora)?|lo que te (?:digo|cuento) ahora){_FIN}|{_OYE}{_PUEDES}(?:b[oó]rr[ae](?:me)?|borr[aá]|borres|borrar) (?:lo que (?:te )?voy a (?:decir|contar)(?:te)?(?: ahora)?|lo que te (?:digo|cuento) ahora){_FIN}",
        "next",
    ),
    (
        rf"{_OYE}(?:lo siguiente|lo que sigue|lo que (?:te )?voy a (?:decir|contar)(?:te)?),? no lo {_LOGUARDES}{_FIN}",
        "next",
    ),
    (
        rf"{_OYE}{_PUEDES}no (?:lo )?{_GUARDES} (?:eso|esto|lo siguiente|lo que sigue|lo que (?:te )?voy a (?:decir|contar)(?:te)?) ?[:,–—-] ?.+",
        "own",
    ),
    (rf"{_OYE}esto (?:no lo {_LOGUARDES}|que no quede guardado|es para no guardar) ?[:,–—-] ?.+", "own"),
    (rf"{_OYE}{_PUEDES}{_OLVIDA_SOLO} (?:todo )?lo que (?:te )?{_DIJE}{_HACE} {_SOBRE} {_EL}?{TOPIC}{_FIN}", "topic"),
    (
        rf"{_OYE}{_PUEDES}{_OLVIDA_SOLO} (?:todo )?(?:lo|lo relacionado|lo referente|lo que sepas|lo que sabes|lo que tengas|el asunto|el tema|la historia|el dato|la parte|lo que tenga que ver|todo) (?:{_SOBRE}|a|al) {_EL}?{TOPIC}{_FIN}",
        "topic",
    ),
    (
        rf"{_OYE}{_PUEDES}{_OLVIDA_SOLO} que (?:te )?(?:dije|cont[eé]|coment[eé]|mencion[eé]) (?:que )?(?:lo (?:de|del) )?{_EL}?{TOPIC}{_FIN}",
        "topic",
    ),
    (
        rf"{_OYE}{_PUEDES}{_OLVIDA_SOLO} {_EL}(?P<private>{_PRIVADO}(?: (?:de|del|para|que abre) [^,;:.!?]{{2,60}}?)?){_FIN}",
        "topic",
    ),
    (rf"{_OYE}{_PUEDES}{_OLVIDA} {_EL}?{TOPIC} de (?:tu|la|su) memoria{_FIN}", "topic"),
    (rf"{_OYE}{_PUEDES}{_OLVIDA} {_EL}?{TOPIC} de tus (?:notas|registros|archivos){_FIN}", "topic"),
    (
        rf"{_OYE}(?:(?:todo )?lo|el asunto|el tema|lo que (?:te )?{_DIJE}{_HACE}) {_SOBRE} {_EL}?{TOPIC},? (?:b[oó]rralo|olv[ií]dalo|elim[ií]nalo|no lo {_LOGUARDES}){_FIN}",
        "topic",
    ),
    (
        rf"{_OYE}(?:la|el|las|los) (?:de|del) {_EL}?(?P<topic>[^\W\d_]{{2,30}}(?: (?!(?:es|son|pero|y) )[^\W\d_]{{2,30}}){{0,3}}?),? no l[oa]s? {_LOGUARDES}{_FIN}",
        "topic",
    ),
    (
        rf"{_OYE}{_PUEDES}(?:no |no quiero que )(?:{_GUARDES}) (?:nada|lo|lo que (?:te )?{_DIJE}{_HACE}) {_SOBRE} {_EL}?{TOPIC}{_FIN}",
        "topic",
    ),
    (
        rf"{_OYE}(?:(?:(?<=porfa )|(?<=porfa, )|(?<=por favor )|(?<=por favor, ))olvida(?:te de)?|olvida(?:te de)?,? (?:por favor|porfa)|{_PUEDES}(?:(?<=puedes )|(?<=podrías )|(?<=que )|(?<=favor de ))(?:te )?olvid\w+(?: de)?|{_OLVIDA} de tu memoria),? {_YO}",
        "told",
    ),
    (rf"{_OYE}olvida(?:te de)? {_YO},? (?:por favor|porfa)", "told"),
    (
        rf".+{PAUSE}(?:pero |y |as[ií] que )?{_OYE}(?:b[oó]rralo|olvida eso|borra eso|olv[ií]dalo por favor|olv[ií]dalo, por favor|(?:esto |eso )?no (?:me )?lo {_LOGUARDES}|no quiero que (?:lo {_LOGUARDES}|{_LOGUARDES} (?:eso|esto))|(?:eso|esto) que no (?:quede|se guarde)(?: guardado)?|que no quede (?:guardado|registrado|registro|anotado)){_FIN}",
        "own",
    ),
    # As `spelled_out` has it: "borre eso último que le dije, que uno no anda regando lo ajeno".
    (
        rf"{_OYE}(?:me )?{_OLVIDA} (?:(?:eso|esto|lo) )?(?:[uú]ltimo )?que te {_DIJE}{_HACE}{_FIN}{_PORQUE}",
        "previous",
    ),
    (
        rf"{_OYE}(?:me )?{_OLVIDA} (?:todo )?lo que te {_DIJE}{_HACE} {_SOBRE} {TOPIC}{_FIN}{_PORQUE}",
        "nearby",
    ),
)
