"""The small words of some languages, by which a text in one of them is known."""

from __future__ import annotations

from typing import Final

_BY_LANGUAGE: Final = {
    "English": "the of and to is was that it for with are this be by from were has have which they",
    "German": "der die und das ist nicht den von zu mit sich des auf für dem ein eine wird sind",
    "French": "le les et des est une que dans pour pas sur qui avec au du sont cette il nous être",
    "Spanish": "el los y las del una por con para es se lo como más está pero sus fue son hay",
    "Portuguese": "o os e do da em um uma não com para dos das mais foi são ao pelo ele isso",
    "Italian": "il di che è per non una sono con della del gli dei alla nel le anche più questo",
    "Dutch": "de het een van en is dat niet te op zijn voor met wordt er aan ook door naar bij",
    "Polish": "w na się nie jest że do z to jak po są dla przez od ale tego tym przed oraz",
    "Swedish": "och att det som på är av för den med inte till ett har om kan var från eller ska",
    "Turkish": "ve bir bu için ile da de olarak daha çok olan gibi ne değil var kadar sonra en her",
    "Indonesian": "yang dan di ini untuk dengan dari pada tidak adalah itu dalam akan ke oleh juga",
}
LANGUAGES: Final = {name: frozenset(words.split()) for name, words in _BY_LANGUAGE.items()}
FUNCTION_WORDS: Final = frozenset().union(*LANGUAGES.values())
"""The small words of all these languages, which carry no subject."""
