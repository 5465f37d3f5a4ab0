"""Words too common to tell texts apart, by language."""

from __future__ import annotations

STOP_WORDS: dict[str, tuple[str, ...]] = {
    # The function words of English: articles, pronouns, prepositions, conjunctions, auxiliaries, and the fragments that
    # contractions leave behind once they are cut at the apostrophe.
    "english": tuple(
        """
        a an the this that these those some any each every either neither both all such no nor not only own same other another
        i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
        it its itself they them their theirs themselves one who whom whose which what
        and or but if then else than so because as until while though although whether unless since
        of at by for with about against between into through during before after above below to from up down in out on off over
        under near per via within without among upon toward towards onto across along behind beside besides beyond despite
        again further once here there when where why how ever never always also too very just more most less least few many much
        quite rather still yet already even almost
        am is are was were be been being have has had having do does did doing done can could may might must shall should will
        would ought
        s t d ll m o re ve don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn needn shan ain
        """.split()
    )
}
