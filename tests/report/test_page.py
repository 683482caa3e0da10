"""The page of `xling report` in a real browser, and the samples that it shows."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from browser import Opened
from builders import STAMP, task_of, write_run
from pictured import conclusion, contrast

from xling_tasks.criteria import LABELS, NO_RESPONSE
from xling_tasks.errors import DataError
from xling_tasks.pages import FOLDER
from xling_tasks.report.data import read_models
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Options, Report
from xling_tasks.report.page.html import attribute, text
from xling_tasks.report.page.page import page
from xling_tasks.report.page.samples import LIMIT, samples_to_read
from xling_tasks.report.pictures.all import Picture, pictures
from xling_tasks.report.pictures.drawing import Drawing, Panel
from xling_tasks.report.pictures.svg import box
from xling_tasks.report.tables.all import tables
from xling_tasks.report.tables.table import Table

HOSTILE = {
    "script": "<script>window.hacked=1;alert(1)</script>",
    "image": "<img src=x onerror=alert(2)><svg onload=alert(3)><iframe src=https://x.example/>",
    "end": "</style></textarea></title><!-- ]]> --> {{main}} {{style}}",
    "quotes": "\"'`${alert(4)}` &lt;b&gt; &amp; \\u003c <a href=javascript:alert(5)>x</a>",
    "lines": "one\u2028two\u2029three\r\nfour\tfive",
    "bidi": "safe \u202eetsisnoc\u202c \u2066x\u2069 end",
    "odd": "nul \u0000 half \ud83d bom \ufeff tag \U000e0041 emoji \U0001f600",
    "long": "Donaudampfschifffahrt" * 60,
}
ARABIC = "هل يمكنني تناول الباراسيتامول مع الكحول؟"
HINDI = "क्या मैं बुखार में पैरासिटामोल ले सकता हूँ?"
CHINESE = "发烧时可以服用对乙酰氨基酚吗？请问需要注意什么？"
MORE, LESS, NEITHER, CONTRADICTORY = LABELS


# Outputs in the harness's shape


def write(out, tasks, model="m", **config):
    """A folder as `lm_eval --output_path --log_samples` leaves it; tasks are lists of samples."""
    record = {
        "version": "0.1.0",
        "settings": {"judge": {"model": "j", "model_args": {"api_key": "s3cret"}}, "k": 2},
        "data": {"name": "d.jsonl", "sha256": "abc123", "questions": 3, "rows": 3,
                 "dataset": "Demo", "licence": "CC0", "citation": "nobody"},
        "prompts": {"answer": {"digest": "d1g357"}},
        "signatures": {"chrf": "chrf|made:so"},
    }  # fmt: skip
    made = {name: task_of(means(rows), rows, record=record) for name, rows in tasks.items()}
    config = {"model_args": {"pretrained": model}, "random_seed": 7, **config}
    write_run(out / "one", made, config=config)
    return out


def means(rows):
    """The harness's numbers, as far as they are means; macro scores are none of them."""
    values_of = {}
    for name in {key for row in rows for key in row} - {"doc", "resps", "arguments"}:
        values = [row[name] for row in rows if row.get(name) is not None]
        if values and all(isinstance(value, float) for value in values):
            values_of[name] = sum(values) / len(values)
        elif values and isinstance(values[0], list) and isinstance(values[0][0], list):
            pairs = [pair for value in values for pair in value if pair[1] is not None]
            right = [float((p >= 0.5) == bool(label)) for label, p in pairs]
            values_of[name] = sum(right) / len(right)
        elif values and isinstance(values[0], list):
            values_of[name] = sum(value[0] for value in values) / sum(value[1] for value in values)
    return values_of


def judged(number, label, language, **texts):
    """A question of correctness."""
    said = {
        "question": f"Question {number} in {language}?", "reference": f"Reference {number}.",
        "answer": f"Answer {number} in {language}.", "reply": f"Reason {number}.",
    } | texts  # fmt: skip
    doc = {"question_id": str(number), "question": said["question"], "reference": said["reference"]}
    return {
        "doc": doc, "resps": [[said["answer"]]],
        **{name: float(name == label) for name in (*LABELS, NO_RESPONSE)},
        "n_judged": {"label": label, "reply": said["reply"], "judge": "j"},
    }  # fmt: skip


C = "xlinghealth_correctness_liveqa_"


def correctness(labels, **texts):
    """Tasks by language from labels by question."""
    return {
        C + code: [judged(i, label, code, **texts) for i, label in own.items()]
        for code, own in labels.items()
    }


def report_of(*folders):
    return Report(tuple(read_models(folders)), (), (), (), Options(n_resamples=1000))


def read(*folders, n=5):
    return samples_to_read(report_of(*folders), n)


def html_of(report, tables=(), pictures=(), samples=(), banner=(), created=STAMP):
    return page(report, list(tables), list(pictures), list(samples), list(banner), created)


def texts_of(part):
    return [[item.text for item in side] for side in (part.english, part.other)]


def passages(part):
    return (*part.english, *part.other)


def consistency(**by_language):
    """Tasks of consistency from samples by language."""
    return {f"xlinghealth_consistency_liveqa_{code}": own for code, own in by_language.items()}


# Which samples, and what of them


def test_correctness_contradictory_first_then_size_then_question(tmp_path):
    labels = {
        "en": {"2": MORE, "10": MORE, "3": NEITHER, "4": LESS, "5": MORE, "6": CONTRADICTORY},
        "hi": {"2": NEITHER, "10": LESS, "3": CONTRADICTORY, "4": MORE, "5": MORE, "6": NEITHER},
        "zh": {"2": NEITHER, "10": CONTRADICTORY, "3": NEITHER, "4": LESS, "5": NO_RESPONSE},
    }
    samples = read(write(tmp_path, correctness(labels)), n=9)
    assert [(item.language, item.question) for item in samples] == [
        ("zh", "10"), ("hi", "3"), ("zh", "5"), ("hi", "2"), ("zh", "2"), ("hi", "10")
    ]  # fmt: skip
    first = samples[0]
    assert (first.model, first.criterion, first.dataset) == ("m", "correctness", "liveqa")
    assert first.why == "contradictory; in English more comprehensive"
    assert [part.title for part in first.parts] == ["Question", "Reference", "Answer", "Judge"]
    assert texts_of(first.parts[2]) == [["Answer 10 in en."], ["Answer 10 in zh."]]
    marks = [item.mark for item in passages(first.parts[3])]
    assert marks == ["more comprehensive", "contradictory"]
    assert [item.language for item in passages(first.parts[0])] == ["en", "zh"]
    assert read(tmp_path, n=2) == samples[:2] and read(tmp_path, n=0) == []
    both = read(f"x={tmp_path}", f"y={tmp_path}", n=2)  # so many of each model
    assert [item.model for item in both] == ["x", "x", "y", "y"]


def concluded(language, meaning, verdict="worse"):
    return conclusion(language, verdict, 0.1, meaning=meaning)


def test_examples_are_of_the_conclusions_above_them(tmp_path):
    questions = range(6)
    labels = {
        "en": dict.fromkeys(questions, MORE),
        "hi": dict.fromkeys(questions, CONTRADICTORY),
        "zh": {**dict.fromkeys(questions, LESS), 5: CONTRADICTORY},
        "es": dict.fromkeys(questions, NEITHER),
    }
    report = report_of(write(tmp_path, correctness(labels)))

    def first(n, *conclusions):
        found = samples_to_read(replace(report, conclusions=conclusions), n)
        return [(item.language, item.question) for item in found]

    # The widest gaps are Hindi's, but Chinese is what the conclusions call worse.
    assert first(3) == [("hi", "0"), ("hi", "1"), ("hi", "2")]
    harm = concluded("zh", "harm"), concluded("hi", "harm", "inconclusive")
    assert first(3, *harm) == [("zh", "5"), ("hi", "0"), ("hi", "1")]
    # Of several languages that are worse each has its turn.
    both = concluded("zh", "help"), concluded("es", "help")
    assert first(4, *both) == [("es", "0"), ("zh", "0"), ("es", "1"), ("zh", "1")]


def test_similarities_in_their_own_language_rank_no_languages(tmp_path):
    def row(q, value):
        return {"doc": {"question_id": q, "question": q}, "resps": [["a", "b"]],
                "empty_rate_t1.0": [0, 2], "sim_1gram_src_t1.0": value}  # fmt: skip

    assert read(write(tmp_path, consistency(en=[row("a", 0.9)], hi=[row("a", 0.1)]))) == []


def test_nothing_is_called_translated_that_was_not(tmp_path):
    def page_of(folder, suffix):
        values = {f"sim_1gram{suffix}_t1.0": 0.5, "empty_rate_t1.0": 0.0}
        row = {"doc": {"question_id": "a", "question": "a"}, "resps": [["a", "b"]], **values}
        models = read_models([write(folder, consistency(en=[row], hi=[row]))])
        report = make_report(models, Options(n_resamples=1000))
        return html_of(report, tables(report))

    assert "translated to English" not in page_of(tmp_path / "a", "_src")
    assert "translated to English" in page_of(tmp_path / "b", "")


def test_only_the_lines_that_are_shown_are_read(tmp_path):
    labels = {"en": {i: MORE for i in range(50)}, "hi": {i: MORE for i in range(50)}}
    labels["hi"][31] = CONTRADICTORY
    out = write(tmp_path, correctness(labels))
    report = report_of(out)
    for path in out.rglob("samples_*"):
        lines = path.read_bytes().split(b"\n")
        kept = [line if i == 31 else b"#" * len(line) for i, line in enumerate(lines)]
        path.write_bytes(b"\n".join(kept))
    (sample,) = samples_to_read(report)
    assert sample.question == "31"
    next(out.rglob("samples_*_hi_*")).write_bytes(b"{}\n" * 9)
    with pytest.raises(DataError, match=r"samples_.*_hi_.*question '31' cannot be shown"):
        samples_to_read(report)


def test_long_texts_are_cut_and_say_so(tmp_path):
    long = "क्" * LIMIT
    tasks = correctness({"en": {1: MORE}, "hi": {1: CONTRADICTORY}}, answer=long)
    (sample,) = read(write(tmp_path, tasks))
    shown = sample.parts[2].other[0]
    assert len(shown.text) in (LIMIT, LIMIT + 1) and shown.text.endswith("क्")
    assert shown.cut == len(long) - len(shown.text)
    html = html_of(report_of(tmp_path), samples=[sample])
    assert f"and {shown.cut:,} more characters" in html


def test_consistency_takes_the_headline_metric_at_the_highest_temperature(tmp_path):
    def row(q, value, code):
        answers = [[f"cold {code}"], [f"{code} {i}" for i in range(5)]]
        doc = {"question_id": q, "question": f"{q} {code}"}
        return {
            "doc": doc, "resps": answers, "empty_rate_t0.0": [0, 1], "empty_rate_t1.0": [0, 5],
            "sim_1gram_t0.5": 1 - value, "sim_1gram_t1.0": value, "sim_lda20_t1.0": 1 - value,
        }  # fmt: skip

    values = {"en": (0.9, 0.8, 0.1), "hi": (0.5, 0.2, 0.7)}
    tasks = {code: [row(*each, code) for each in zip("abc", own)] for code, own in values.items()}
    samples = read(write(tmp_path, consistency(**tasks)))
    assert [(item.question, item.why) for item in samples] == [
        ("b", "sim_1gram_t1.0 0.200; in English 0.800"),
        ("a", "sim_1gram_t1.0 0.500; in English 0.900"),
    ]
    answers = samples[0].parts[1]
    assert answers.title == "Answers at temperature 1.0 (the first 3 of 5)"
    assert texts_of(answers) == [["en 0", "en 1", "en 2"], ["hi 0", "hi 1", "hi 2"]]


def test_verifiability_shows_a_row_that_english_has_right_and_the_language_wrong(tmp_path):
    def row(q, verdicts, code, order="ab"):
        labels = {"a": 1, "b": 0}
        rows = [[labels[key], verdicts[key]] for key in order]
        answers = [
            {"answer_id": key, "label": labels[key], "text": f"{key} {code}"} for key in order
        ]
        doc = {"question_id": q, "question": f"{q} {code}", "answers": answers}
        words = {1: "Yes", 0: "No", None: "Perhaps"}
        resps = [[text] for key in order for text in (f"{words[verdicts[key]]} {key}", "hot")]
        return {"doc": doc, "resps": resps, "acc_t0.0": rows, "acc_t1.0": rows}

    name = "xlinghealth_verifiability_liveqa_"
    right = {"a": 1, "b": 0}
    tasks = {
        name + "en": [row(q, right, "en") for q in "123"],
        name + "es": [row("1", {"a": 1, "b": 1}, "es", "ba"), row("2", right, "es"),
                      row("3", {"a": 0, "b": 1}, "es")],
    }  # fmt: skip
    samples = read(write(tmp_path, tasks))
    assert [item.question for item in samples] == ["3", "1"]
    _, answer, verdict = samples[1].parts
    assert texts_of(answer) == [["b en"], ["b es"]]
    assert verdict.title == "Verdict (right: No)"
    assert texts_of(verdict) == [["No b"], ["Yes b"]]
    assert (verdict.english[0].mark, verdict.other[0].mark) == ("right", "wrong")


def test_likelihood_information_empathy_and_multiple_choice(tmp_path):
    def likely(chance, code):
        doc = {"question_id": "1", "question": "1",
               "answers": [{"answer_id": "0", "label": 1, "text": code}]}  # fmt: skip
        return {"doc": doc, "resps": [[["-1", "True"]], [["-2", "False"]]], "acc": [[1, chance]]}

    def prompt(q, **values):
        doc = {"question_id": q, "text": {"en": "Prompt?", "ar": ARABIC}}
        return {"doc": doc, "resps": [["English answer."], ["جواب."]], **values}

    def choice(q, right, jaccard):
        doc = {
            "question_id": q,
            "question": f"{q}?",
            "options": {"A": "x", "B": "y"},
            "answer": ["B"],
        }
        return {
            "doc": doc, "acc": right, "jaccard": jaccard,
            "resps": [[["-2.0", "False"]], [["-1.0", "True"]], [["-1.0", "False"]]],
            "arguments": {f"gen_args_{i}": {"arg_1": w} for i, w in enumerate([" A", " B", " A, B"])},
        }  # fmt: skip

    claims = {"n": 1, "english": "An answer.", "claims": ["It is."], "unscored": None}
    both = {
        "n_claims_en": {**claims, "claims": ["One.", "Two."], "supported": []},
        "n_claims_ar": {**claims, "supported": [None], "reference_supported": [True, False]},
    }
    profile = {"profile_ar": {"english": "I hear.", "profile": [1]}, "explorations_present_en": 1.0}
    ll, mc = "xlinghealth_verifiability_ll_liveqa_", "mmedbench_mcqa_ll_"
    tasks = {
        ll + "en": [likely(0.9, "en")], ll + "hi": [likely(0.2, "hi")],
        "xling_information": [
            prompt(q, information_f1_by_prompt_ar=f1, **both) for q, f1 in (("1", 0.5), ("2", 1.0), ("3", 0.25))
        ],
        "xling_empathy": [
            prompt(q, empathy_ar=x, explorations_present_ar=x, explorations_agreement_ar=x, **profile)
            for q, x in (("1", 1.0), ("2", 0.0))
        ],
        mc + "en": [choice("e1", 1.0, 1.0)],
        mc + "fr": [choice("f1", 0.0, 0.0), choice("f2", 1.0, 1.0)],
        mc + "ru": [choice("r1", 0.0, 0.5), choice("r2", 0.0, None)],
    }  # fmt: skip
    samples = read(write(tmp_path, tasks))
    assert [(item.criterion, item.language, item.question) for item in samples] == [
        ("verifiability_ll", "hi", "1"), ("mmedbench_mcqa_ll", "ru", "r2"),
        ("mmedbench_mcqa_ll", "ru", "r1"), ("mmedbench_mcqa_ll", "fr", "f1"),
        ("information", "ar", "3"), ("information", "ar", "1"), ("empathy", "ar", "2"),
    ]  # fmt: skip
    by = {item.criterion: item for item in reversed(samples)}
    assert texts_of(by["verifiability_ll"].parts[2]) == [["P(Yes) = 0.900"], ["P(Yes) = 0.200"]]
    shown = {part.title: texts_of(part)[1] for part in by["mmedbench_mcqa_ll"].parts}
    assert shown["Question"] == ["r2?\n\nA. x\nB. y"] and shown["Right"] == ["B"]
    assert shown["Most likely"] == ["undecided between B / A, B"]
    asked, _, english, support = by["information"].parts
    assert texts_of(asked) == [["Prompt?"], [ARABIC]] and texts_of(english) == [[], ["An answer."]]
    assert [(item.text, item.mark) for item in passages(support)] == [
        ("One.", "supported"), ("Two.", "not supported"), ("It is.", "not verified")
    ]  # fmt: skip
    assert texts_of(by["empathy"].parts[3]) == [["explorations"], ["none"]]


# The page as text


class Outline(HTMLParser):
    """Headings, tables with their captions, identifiers and what points to them."""

    def __init__(self, html):
        super().__init__()
        self.levels, self.tags, self.ids, self.targets = [], [], [], []
        self.tables = self.captions = 0
        self.open = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        self.tags.append((tag, own))
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        self.tables += tag == "table"
        self.captions += tag == "caption"
        self.ids += [own["id"]] if "id" in own else []
        self.targets += [own["aria-labelledby"]] if "aria-labelledby" in own else []
        self.targets += [own["href"][1:]] if own.get("href", "").startswith("#") else []
        if tag not in ("meta", "link", "img", "wbr", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def well_built(html):
    """What every page must be, whatever is on it."""
    outline = Outline(html)
    assert outline.open == [] and outline.levels[0] == 1 and outline.levels.count(1) == 1
    steps = zip(outline.levels, outline.levels[1:])
    assert all(after <= before + 1 for before, after in steps)
    assert outline.tables == outline.captions
    assert len(outline.ids) == len(set(outline.ids)) and set(outline.targets) <= set(outline.ids)
    for tag, own in outline.tags:
        assert tag not in ("script", "iframe", "object", "embed", "form", "base")
        assert not any(name.startswith("on") or name == "style" for name in own)
        # A picture is heard as one thing, or not at all.
        if tag == "svg" and own.get("class", "").startswith("chart"):
            assert (own.get("role") == "img" and own["aria-label"]) or own["aria-hidden"] == "true"
        assert tag != "th" or own["scope"] in ("row", "col")
        assert tag != "img" or (own["src"].startswith("data:image/") and own["alt"])
        if "scroll" in own.get("class", "").split():
            assert own["tabindex"] == "0" and own["role"] == "region" and own["aria-labelledby"]
    return outline


def a_table(key="one", section="correctness", rows=((1, 2.0),), **more):
    columns = tuple(f"c{i}" for i in range(len(rows[0])))
    return Table(key, section, f"Title {key}", columns, rows, **more)


def a_picture(key="p", section="correctness", title="A picture", alt="It shows."):
    return Picture(key, section, title, alt, Drawing([Panel(title, "a note", box(0, 0, 1, 9), 9, alt)]))  # fmt: skip


@pytest.fixture
def small(tmp_path):
    labels = {"en": {1: MORE}, "hi": {1: CONTRADICTORY}}
    return report_of(write(tmp_path / "small", correctness(labels)))


def test_order_of_the_sections(small):
    tables = [
        a_table(key, section) for key, section in (
            ("tukey_consistency_demo", "statistics"),
            ("against_english_mmedbench_mcqa_ll", "statistics"), ("ranks", "statistics"),
            ("strange", "nowhere"), ("correctness_demo", "correctness"), ("coverage_all", "coverage"),
            ("coverage_correctness", "coverage"), ("anova_correctness_demo", "statistics"),
        )
    ]  # fmt: skip
    html = html_of(small, tables, [a_picture()], samples_to_read(small), ["Read <this>"])
    outline = well_built(html)
    order = [
        "answer-title", "know-first", "correctness", "picture-p", "table-correctness_demo",
        "table-coverage_correctness", "table-anova_correctness_demo", "samples-correctness",
        "consistency", "table-tukey_consistency_demo", "mmedbench_mcqa_ll",
        "table-against_english_mmedbench_mcqa_ll", "statistics", "table-ranks", "coverage",
        "table-coverage_all", "other", "table-strange", "glossary", "settings", "model-1",
        "model-1-run-1", "sources",
    ]  # fmt: skip
    assert [key for key in outline.ids if key in order] == order
    assert html.index("does not show that any answer is safe") < html.index('id="correctness"')
    assert "Read &lt;this&gt;" in html and "2026-01-02 03:04" in html
    assert html == html_of(small, tables, [a_picture()], samples_to_read(small), ["Read <this>"])
    outline = well_built(html_of(small))  # of nothing but numbers
    assert "know-first" not in outline.ids and "correctness" not in outline.ids


def test_cells_undefined_published_numbers_long_tables_and_pictures(small):
    rows = (("a", 1, -2.5, None), ("GPT_x", 2, 0.25, "x" * 40))
    table = a_table(rows=rows, notes=("Mind & this.",), published=frozenset({1}), digits=2)
    many = a_table("many", rows=tuple((str(i), i) for i in range(40)))
    html = html_of(small, [table, many], [a_picture(), a_picture("q", title="<b>", alt='"')])
    for part in (
        '<td class="number">\u22122.50</td>', "undefined</span></td>", "Mind &amp; this.",
        '<tr class="published"><th scope="row" dir="auto">GPT_<wbr>x <span class="mark">published',
        '<details id="table-many"><summary>Title many <span class="what">(40 rows)</span>',
        'aria-label="&#34;"', "<b><bdi>&lt;b&gt;",
    ):  # fmt: skip
        assert part in html, part
    assert '<details id="table-one">' not in html and "<img" not in html
    assert html.count('<svg class="chart" width="100%" height="9" role="img"') == 2


def test_settings_signatures_and_no_secrets(tmp_path):
    tasks = correctness({"en": {1: MORE}, "hi": {1: MORE}})
    args = {"pretrained": "https://me:pw@host/x", "token": "t0ken"}
    html = html_of(
        report_of(write(tmp_path, tasks, model_args=args, gen_kwargs={"api_key": "s3cret"}))
    )
    for shown in ("0.4.13", "abc123", "d1g357", "chrf|made:so", "random_seed", "setting: judge",
                  "1,000 resamples", "nobody", "CC0", "arXiv:2310.13132", f"results_{STAMP}.json"):  # fmt: skip
        assert shown in html, shown
    assert "s3cret" not in html and "t0ken" not in html and "me:pw" not in html


def test_texts_and_attributes():
    assert text('a<b> & "c" \u202e\u0000\ud800\r\nx') == (
        "a&lt;b&gt; &amp; &#34;c&#34; "
        '<span class="control">U+202E</span><span class="control">U+0000</span>'
        '<span class="control">U+D800</span>\nx'
    )
    assert attribute('"><b>\u202e') == "&#34;&gt;&lt;b&gt;U+202E"
    assert text("क\u200dष می\u200cخواهم 👨\u200d👩") == "क\u200dष می\u200cخواهم 👨\u200d👩"


def test_contrast_in_both_schemes():
    css = (FOLDER / "report.css").read_text(encoding="utf-8")
    assert len(css.encode()) < 20_000
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in css.split("@media")[:2]
    )
    for scheme in (light, dark):
        for ink in ("ink", "soft", "main", "warn"):
            for paper in ("paper", "shade", "tint"):
                assert contrast(scheme[ink], scheme[paper]) >= 4.5, (ink, paper)


# The page in a browser


@pytest.fixture
def opened(browser):
    """`opened(path, ...)`: a page in a context of its own."""
    return lambda path, width=1280, **more: Opened(browser, path, (width, 844), **more)


def as_shown(hostile):
    """A text as the page shows it."""
    text = hostile.replace("\r\n", "\n")
    odd = "[\u0000\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0041]"
    return re.sub(odd, lambda m: f"U+{ord(m[0]):04X}", text)


def hostile_page(tmp_path):
    tasks = {C + "en": [], C + "ar": []}
    for key, value in HOSTILE.items():
        own = {"question": value, "answer": value, "reply": value, "reference": value}
        tasks[C + "en"].append(judged(key, MORE, "en", **own))
        tasks[C + "ar"].append(judged(key, CONTRADICTORY, "ar", **own))
    everything = "".join(HOSTILE.values()).replace("/", "\\")
    out = write(tmp_path / "out", tasks, model=everything, gen_kwargs=dict(HOSTILE))
    report = report_of(out)
    table = Table("t", "correctness", everything, (everything, "n"), ((everything, 1.0),),
                  notes=(everything,))  # fmt: skip
    drawn = [a_picture(title=everything, alt=everything), *pictures(report)]
    samples = samples_to_read(report, n=len(HOSTILE))
    return put(tmp_path, html_of(report, [table], drawn, samples, HOSTILE.values(), everything))


def put(folder, html):
    """The file of a page, which is well built."""
    well_built(html)
    path = folder / "report.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_text_is_shown_literally(tmp_path, opened, width):
    shown = opened(hostile_page(tmp_path), width=width)
    assert shown.page.title().startswith("Health answers by language: <script>window.hacked=1")
    assert "U+202E" in shown.page.title() and "class=" not in shown.page.title()
    shown.unfold()
    assert shown.fits()
    blocks = shown.page.locator(".sample .text").all_text_contents()
    assert len(blocks) == 8 * len(HOSTILE)
    for value in HOSTILE.values():
        assert blocks.count(as_shown(value)) == 8
    banner = shown.page.locator(".banner li").all_text_contents()
    assert banner == [as_shown(value) for value in HOSTILE.values()]
    made = "main script, main iframe, .sample svg, main a[href^=javascript]"
    assert shown.page.locator(made).count() == 0
    assert shown.page.evaluate("window.hacked") is None and shown.well()


def sights(tmp_path):
    """A page with three scripts and a wide table, without JavaScript."""
    tasks = {C + "en": [judged(1, MORE, "en")]} | {
        C + code: [judged(1, label, code, question=said, answer=said * 4)]
        for code, label, said in (("ar", CONTRADICTORY, ARABIC), ("hi", NEITHER, HINDI), ("zh", LESS, CHINESE))
    }  # fmt: skip
    report = report_of(write(tmp_path / "out", tasks))
    wide = Table("wide", "correctness", "Wide", tuple(f"column {i}" for i in range(30)),
                 (tuple(range(30)),), published=frozenset({0}))  # fmt: skip
    folded = a_table("folded", rows=tuple((str(i), i) for i in range(40)))
    return put(tmp_path, html_of(report, [wide, folded], [a_picture()], samples_to_read(report)))


@pytest.mark.parametrize("width", [390, 1280])
def test_readable_without_javascript(tmp_path, opened, width):
    shown = opened(sights(tmp_path), width=width, java_script_enabled=False)
    page = shown.page
    folded = page.locator("section[aria-labelledby=correctness] td", has_text=re.compile("^39$"))
    assert not folded.is_visible()
    page.locator("summary", has_text="40 rows").click()
    folded.wait_for(state="visible")
    page.locator("summary", has_text="Arabic").click()
    question = page.locator(".sample[open] .text[lang=ar]").first
    question.wait_for(state="visible")
    assert question.inner_text() == ARABIC
    page.locator("nav a", has_text="Settings").click()
    assert page.url.endswith("#settings") and page.locator("#settings").is_visible()
    assert [url for url in shown.requests if not url.startswith(("data:", shown.url))] == []


def test_wide_tables_scroll_by_themselves_and_arabic_runs_right_to_left(tmp_path, opened):
    shown = opened(sights(tmp_path), width=390)
    shown.unfold()
    assert shown.fits()
    frame = shown.page.locator(".scroll", has=shown.page.locator("caption", has_text="Wide"))
    assert frame.evaluate("e => e.scrollWidth > e.clientWidth && e.tabIndex === 0")
    side = "e => getComputedStyle(e).direction"
    assert shown.page.locator(".text[lang=ar]").first.evaluate(side) == "rtl"
    assert shown.page.locator(".text[lang=hi]").first.evaluate(side) == "ltr"
    style = "e => getComputedStyle(e).textAlign"
    assert shown.page.locator("td.number").first.evaluate(style) == "end"
    assert shown.page.locator("tr.published .mark").inner_text() == "published"
    assert shown.well()


def test_schemes_differ_and_printed_are_the_sentences_and_what_is_open(tmp_path, opened):
    shown = opened(sights(tmp_path))
    for scheme, color in (("dark", "rgb(20, 24, 29)"), ("light", "rgb(255, 255, 255)")):
        shown.page.emulate_media(color_scheme=scheme)
        assert shown.page.evaluate("getComputedStyle(document.body).backgroundColor") == color
    answer = shown.page.locator(".text[lang=ar]").first
    sentence = shown.page.locator("details.printed li, details.printed dd").first
    assert not sentence.is_visible() and not answer.is_visible()
    shown.page.emulate_media(media="print")
    assert sentence.is_visible() and not answer.is_visible()
    assert shown.page.locator(".paper").is_visible() and not shown.page.locator("nav").is_visible()
    shown.page.emulate_media(media="screen")
    assert not shown.page.locator(".paper").is_visible()
    answer.evaluate(
        "e => { for (let d = e.closest('details'); d; d = d.parentElement.closest('details')) d.open = true }"
    )
    shown.page.emulate_media(media="print")
    assert answer.is_visible()
