"""The languages that can be translated, and what each family of translation models calls them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from xling_metrics.words import language_code

from xling_tasks.errors import SettingError


class Language(NamedTuple):
    """A language as translators know it.

    Attributes:
        code: Our two-letter code; Hebrew is `he`.
        name: Its English name.
        nllb: Its code in NLLB-200; the first three letters are the ISO 639-3 code.
        others: Further codes that MADLAD-400 or Marian models use.
    """

    code: str
    name: str
    nllb: str
    others: tuple[str, ...] = ()

    @property
    def aliases(self) -> tuple[str, ...]:
        """Every code it may have outside NLLB, ours first."""
        return (self.code, self.nllb[:3], *self.others)


LANGUAGES = {
    row.code: row
    for row in (
        Language("ar", "Arabic", "arb_Arab", ("ara",)),
        Language("bn", "Bengali", "ben_Beng"),
        Language("cs", "Czech", "ces_Latn"),
        Language("de", "German", "deu_Latn"),
        Language("el", "Greek", "ell_Grek"),
        Language("en", "English", "eng_Latn"),
        Language("es", "Spanish", "spa_Latn"),
        Language("fa", "Persian", "pes_Arab", ("fas",)),
        Language("fr", "French", "fra_Latn"),
        Language("gu", "Gujarati", "guj_Gujr"),
        Language("he", "Hebrew", "heb_Hebr", ("iw",)),
        Language("hi", "Hindi", "hin_Deva"),
        Language("id", "Indonesian", "ind_Latn"),
        Language("it", "Italian", "ita_Latn"),
        Language("ja", "Japanese", "jpn_Jpan"),
        Language("kn", "Kannada", "kan_Knda"),
        Language("ko", "Korean", "kor_Hang"),
        Language("ml", "Malayalam", "mal_Mlym"),
        Language("nl", "Dutch", "nld_Latn"),
        Language("pa", "Punjabi", "pan_Guru", ("pan_Guru",)),
        Language("pl", "Polish", "pol_Latn"),
        Language("pt", "Portuguese", "por_Latn"),
        Language("ro", "Romanian", "ron_Latn"),
        Language("ru", "Russian", "rus_Cyrl"),
        Language("ta", "Tamil", "tam_Taml"),
        Language("te", "Telugu", "tel_Telu"),
        Language("th", "Thai", "tha_Thai"),
        Language("tr", "Turkish", "tur_Latn"),
        Language("ur", "Urdu", "urd_Arab"),
        Language("vi", "Vietnamese", "vie_Latn"),
        # Simplified script: what XLingHealth's Chinese is written in.
        Language("zh", "Chinese", "zho_Hans", ("cmn_Hans", "zho_Hans", "cmn", "zh_CN", "zh_cn")),
    )
}

_OTHERS = """
af Afrikaans afr_Latn|ak Akan aka_Latn|am Amharic amh_Ethi|an Aragonese arg_Latn
as Assamese asm_Beng|ay Aymara ayr_Latn|az Azerbaijani azj_Latn|be Belarusian bel_Cyrl
bg Bulgarian bul_Cyrl|bm Bambara bam_Latn|bo Tibetan bod_Tibt|br Breton bre_Latn
bs Bosnian bos_Latn|ca Catalan cat_Latn|ceb Cebuano ceb_Latn|ckb Kurdish,Sorani ckb_Arab
cy Welsh cym_Latn|da Danish dan_Latn|dz Dzongkha dzo_Tibt|ee Ewe ewe_Latn|eo Esperanto epo_Latn
et Estonian est_Latn|eu Basque eus_Latn|ff Fulah fuv_Latn|fi Finnish fin_Latn
fil Filipino fil_Latn|fo Faroese fao_Latn|ga Irish gle_Latn|gl Galician glg_Latn
gn Guarani grn_Latn|ha Hausa hau_Latn|hr Croatian hrv_Latn|ht Haitian,Creole hat_Latn
hu Hungarian hun_Latn|hy Armenian hye_Armn|ig Igbo ibo_Latn|is Icelandic isl_Latn
jv Javanese jav_Latn|ka Georgian kat_Geor|ki Kikuyu kik_Latn|kk Kazakh kaz_Cyrl|km Khmer khm_Khmr
ku Kurdish,Kurmanji kmr_Latn|ky Kyrgyz kir_Cyrl|la Latin lat_Latn|lb Luxembourgish ltz_Latn
lg Ganda lug_Latn|ln Lingala lin_Latn|lo Lao lao_Laoo|lt Lithuanian lit_Latn|lv Latvian lvs_Latn
mg Malagasy plt_Latn|mi Maori mri_Latn|mk Macedonian mkd_Cyrl|mn Mongolian khk_Cyrl
mr Marathi mar_Deva|ms Malay zsm_Latn|mt Maltese mlt_Latn|my Burmese mya_Mymr
nb Norwegian,Bokmal nob_Latn|ne Nepali npi_Deva|nn Norwegian,Nynorsk nno_Latn
no Norwegian nor_Latn|nso Northern,Sotho nso_Latn|ny Nyanja nya_Latn|oc Occitan oci_Latn
om Oromo gaz_Latn|or Odia ory_Orya|ps Pashto pbt_Arab|qu Quechua quy_Latn|rn Rundi run_Latn
rw Kinyarwanda kin_Latn|sd Sindhi snd_Arab|se Northern,Sami sme_Latn|si Sinhala sin_Sinh
sk Slovak slk_Latn|sl Slovenian slv_Latn|sn Shona sna_Latn|so Somali som_Latn|sq Albanian als_Latn
sr Serbian srp_Cyrl|ss Swati ssw_Latn|st Southern,Sotho sot_Latn|su Sundanese sun_Latn
sv Swedish swe_Latn|sw Swahili swh_Latn|tg Tajik tgk_Cyrl|ti Tigrinya tir_Ethi|tk Turkmen tuk_Latn
tl Tagalog tgl_Latn|tn Tswana tsn_Latn|ts Tsonga tso_Latn|tt Tatar tat_Cyrl|tw Twi twi_Latn
ug Uyghur uig_Arab|uk Ukrainian ukr_Cyrl|uz Uzbek uzn_Latn|vo Volapuk vol_Latn|wa Walloon wln_Latn
wo Wolof wol_Latn|xh Xhosa xho_Latn|yo Yoruba yor_Latn|zu Zulu zul_Latn
"""

OTHER_LANGUAGES = {
    code: Language(code, name.replace(",", " "), nllb)
    for code, name, nllb in (row.split() for row in _OTHERS.replace("\n", "|").split("|") if row)
}
"""Further languages of users' own data: name, and code of NLLB-200 where that has them.

They are not in `LANGUAGES`, which are those of our prompts and of arXiv:2505.21999.
"""


# Groups by which Marian models name one of their sides (ISO 639-5, and two older names).
_ROMANCE = frozenset({"es", "fr", "it", "pt", "ro"})
_INDIC = frozenset({"bn", "gu", "hi", "pa", "ur"})
_GERMANIC = frozenset({"de", "en", "nl"})
_SEMITIC = frozenset({"ar", "he"})
_GROUPS = {
    "mul": frozenset(LANGUAGES),
    "ine": _ROMANCE | _INDIC | _GERMANIC | {"cs", "el", "fa", "pl", "ru"},
    "itc": _ROMANCE, "roa": _ROMANCE, "romance": _ROMANCE,
    "gem": _GERMANIC, "gmw": _GERMANIC,
    "sla": frozenset({"cs", "pl", "ru"}), "zlw": frozenset({"cs", "pl"}),
    "zle": frozenset({"ru"}), "grk": frozenset({"el"}),
    "inc": _INDIC, "iir": _INDIC | {"fa"}, "ira": frozenset({"fa"}),
    "dra": frozenset({"kn", "ml", "ta", "te"}),
    "sem": _SEMITIC, "afa": _SEMITIC,
    "trk": frozenset({"tr"}), "map": frozenset({"id"}), "poz": frozenset({"id"}),
    "sit": frozenset({"zh"}), "aav": frozenset({"vi"}),
}  # fmt: skip


SCRIPT_GROUPS = {
    "latin": ("cs", "de", "es", "fr", "id", "it", "nl", "pl", "pt", "ro", "tr", "vi"),
    "indic": ("bn", "gu", "hi", "kn", "ml", "pa", "ta", "te"),
    "perso_arabic": ("ar", "fa", "ur"),
    "other": ("el", "he", "ja", "ko", "ru", "th", "zh"),
}
"""The languages other than English by script, as arXiv:2505.21999 groups them."""

FAMILY_GROUPS = {
    "romance": ("de", "es", "fr", "it", "nl", "pt", "ro"),
    "slavic": ("cs", "pl", "ru"),
    "indo_aryan": ("bn", "fa", "gu", "hi", "pa", "ur"),
    "dravidian": ("kn", "ml", "ta", "te"),
    "other": ("ar", "el", "he", "id", "ja", "ko", "th", "tr", "vi", "zh"),
}
"""The same languages by family as arXiv:2505.21999 (Table 12) groups them.

German and Dutch, which are Germanic, count as Romance there, and Persian, which is Iranian, as
Indo-Aryan. These groups stand beside the paper's figures; `BRANCH_GROUPS` has the linguists'.
"""

BRANCH_GROUPS = {
    "romance": ("es", "fr", "it", "pt", "ro"),
    "germanic": ("de", "nl"),
    "slavic": ("cs", "pl", "ru"),
    "indo_aryan": ("bn", "gu", "hi", "pa", "ur"),
    "dravidian": ("kn", "ml", "ta", "te"),
    "other": ("ar", "el", "fa", "he", "id", "ja", "ko", "th", "tr", "vi", "zh"),
}
"""The same languages by linguistic branch; `other` has the branches with one language here."""


def find(code: str, names: Mapping[str, str] | None = None) -> Language:
    """The language of a code such as `iw`, `he` or `zh-CN`.

    Args:
        code: The code.
        names: Code -> name of languages that only a user's own data know.

    Raises:
        SettingError: If translators here do not know it.
    """
    language = known_language(code)
    if language is None and names and code in names:
        return Language(code, names[code], "")
    if language is None:
        raise SettingError(
            f"translator: language {code!r} is not known to it. Name a model of the harness that "
            "may know it, or a file of translations; or leave the language out, with "
            "--metadata languages=..."
        )
    return language


def unknown_names(names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """(code, name) of the languages that only a user's own data know."""
    return tuple(sorted(pair for pair in names.items() if known_language(pair[0]) is None))


def known_language(code: str) -> Language | None:
    """The language of a code such as `sw` or `pt-BR`, of ours or of the others; None if unknown."""
    short = language_code(code)
    return LANGUAGES.get(short) or OTHER_LANGUAGES.get(short)


def first_in(vocabulary: Container[str], form: str, language: Language) -> str | None:
    """The first of a language's codes that a model has a token for.

    Args:
        vocabulary: The model's tokens.
        form: How it writes a code as a token, with `{}` for the code: `<2{}>`.
        language: The language.
    """
    tokens = (form.format(alias) for alias in language.aliases)
    return next((token for token in tokens if token in vocabulary), None)


def side_covers(label: str, language: Language) -> bool:
    """Whether one side of a Marian model (`es`, `zho`, `cat+spa`, `ROMANCE`) has a language."""
    parts = {label, *re.split(r"[+_]", label)}
    return any(
        part in language.aliases or language.code in _GROUPS.get(part.lower(), ()) for part in parts
    )


def language_name(code: str) -> str:
    """A language's English name; the code itself where it is not known."""
    language = known_language(code)
    return _NAMED.get(code, code) if language is None else language.name


_NAMED: dict[str, str] = {}
"""Code -> name of languages that only users' own data know, by the results that were read."""

_NAME = re.compile(r"[^\W\d_][\w '’()-]{1,59}")


def name_languages(names: object) -> None:
    """Take names of languages from what results record (`language_names`); others are left."""
    for code, name in names.items() if isinstance(names, Mapping) else ():
        if not isinstance(code, str) or not isinstance(name, str) or known_language(code):
            continue
        if _NAME.fullmatch(name) and name != nameless(code):
            _NAMED[code] = name


def nameless(code: str) -> str:
    """What prompts call a language whose name is not known."""
    return f"the language with the code {code}"


_FIRST = ("en", "es", "zh", "hi")


def rank(code: str) -> tuple[int, str, str]:
    """What languages are sorted by: XLingHealth's as its papers have them, then others by name."""
    return (_FIRST.index(code) if code in _FIRST else len(_FIRST), language_name(code), code)


def in_order(codes: Iterable[str]) -> list[str]:
    """Languages in the one order of every table, picture and page."""
    return sorted(codes, key=rank)
