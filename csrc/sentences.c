/* Where sentences end: at marks, and at line breaks that mean it.
 *
 * The patterns of `refold.text.sentences` say what is right.
 */
#include "sentences.h"

/* What a character is, as `refold.text.sentence_tables` has it. */
enum {
    KIND = 7,       /* the bits of these: */
    SPACED = 1,     /* a mark that counts only before white space; 2 and 3 are other marks */
    PHRASE = 4,     /* a letter after which a space ends a phrase */
    LINE_BREAK = 5,
    END = 6,        /* the 0 behind a text, or in it */
    LOOK = 7,       /* a byte that says nothing of its character */
    CLOSES = 4,     /* shifted by the kind of a mark: may close a sentence behind it */
    STARTS_PHRASE = 64,
    HEADS_LIST = 128,
    TABLED = 0x10000
};

/* The places of the rules. */
enum {
    BYTES_RULE,
    MARKS_RULE,
    WORDS_RULE,
    MONTHS_RULE,
    LENGTHS_RULE,
    GOES_ON_RULE,
    LIST_RULE,
    ALL_RULES
};
enum { LONGEST_ITEM = 3 }; /* digits of the number of an item in a list */

typedef struct {
    const Text *text;
    const unsigned char *bytes; /* the kinds of bytes */
    const unsigned char *marks;
    const unsigned char *months; /* how they begin */
    Words abbreviations;
    Py_ssize_t longest_label;
    Py_ssize_t wrapped_from;
    PyObject *goes_on;
    PyObject *is_list_line;
    Sentences *found;
    Py_ssize_t known;      /* how many sentences are of other texts */
    Py_ssize_t start;      /* where the sentence begins */
    Py_ssize_t line;       /* where the line begins */
    Py_ssize_t wrapped_at; /* the last line break inside a sentence */
    Py_ssize_t paragraph;
} Cutter;

int
add_sentence(Sentences *found, Sentence sentence)
{
    if (found->count == found->room) {
        size_t bytes = (size_t)found->room * sizeof(Sentence);
        Sentence *more = PyMem_Realloc(found->items == found->few ? NULL : found->items, 2 * bytes);
        if (more == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        if (found->items == found->few) {
            memcpy(more, found->few, bytes);
        }
        found->items = more;
        found->room *= 2;
    }
    found->items[found->count++] = sentence;
    return 0;
}

static inline unsigned
marks_at(const Cutter *cutter, Py_ssize_t place)
{
    unsigned byte = cutter->text->plain[place];
    if (byte < BEYOND) {
        return cutter->marks[byte];
    }
    Py_UCS4 code = code_at(cutter->text, place);
    return code < TABLED ? cutter->marks[code] : 0;
}

/* Add a sentence without the white space around it, if anything is left. */
static int
add(Cutter *cutter, Py_ssize_t start, Py_ssize_t end)
{
    const Text *text = cutter->text;
    while (start < end && is_space_at(text, start)) {
        start++;
    }
    while (start < end && is_space_at(text, end - 1)) {
        end--;
    }
    Sentence sentence = {text, start, end, cutter->paragraph, cutter->wrapped_at > start, 0};
    return start < end ? add_sentence(cutter->found, sentence) : 0;
}

/* Tell whether a rule in Python says yes; -1 if it fails. */
static int
says_yes(PyObject *said)
{
    if (said == NULL) {
        return -1;
    }
    int answer = PyObject_IsTrue(said);
    Py_DECREF(said);
    return answer;
}

/* Tell whether a line begins like an item of a list; most do not even begin with such a character,
 * or with a number that is no label. */
static int
is_list_line(const Cutter *cutter, Py_ssize_t start, Py_ssize_t end)
{
    const unsigned char *plain = cutter->text->plain;
    if (!(marks_at(cutter, start) & HEADS_LIST)) {
        return 0;
    }
    Py_ssize_t place = start;
    while (is_digit(plain[place]) && place - start < LONGEST_ITEM) {
        place++;
    }
    if (place > start && plain[place] != '.' && plain[place] != ')') {
        return 0;
    }
    PyObject *object = cutter->text->object;
    return says_yes(PyObject_CallFunction(cutter->is_list_line, "Onn", object, start, end));
}

/* Tell whether the line break at *feed* only wraps a sentence that goes on. */
static int
is_wrapped(const Cutter *cutter, Py_ssize_t feed)
{
    const Text *text = cutter->text;
    Py_ssize_t after = feed + 1;
    while (after - feed < 8 && (text->plain[after] == ' ' || text->plain[after] == '\t')) {
        after++;
    }
    if (after >= text->size) {
        return 0;
    }
    Py_UCS4 code = code_at(text, after);
    if (Py_UNICODE_ISLOWER(code)) {
        return 1;
    }
    if (feed - cutter->line < cutter->wrapped_from || !Py_UNICODE_ISALNUM(code)) {
        return 0;
    }
    int is_listed = is_list_line(cutter, feed + 1, text->size);
    if (is_listed == 0) {
        is_listed = is_list_line(cutter, cutter->line, feed);
    }
    return is_listed < 0 ? -1 : !is_listed;
}

/* Return where the next paragraph begins if the line after *feed* is blank, else 0. */
static Py_ssize_t
after_gap(const Text *text, Py_ssize_t feed)
{
    Py_ssize_t place = feed + 1;
    while (text->plain[place] == ' ' || text->plain[place] == '\t' || text->plain[place] == '\r') {
        place++;
    }
    if (text->plain[place] != '\n') {
        return 0;
    }
    while (place < text->size && is_space_at(text, place)) {
        place++;
    }
    return place;
}

/* Take the line break at *feed*; return where to go on. */
static Py_ssize_t
take_line_break(Cutter *cutter, Py_ssize_t feed)
{
    Py_ssize_t following = after_gap(cutter->text, feed);
    int goes_on = following > 0 ? 0 : is_wrapped(cutter, feed);
    if (goes_on < 0) {
        return -1;
    }
    cutter->line = following > 0 ? following : feed + 1;
    if (goes_on) {
        cutter->wrapped_at = feed;
    } else {
        if (add(cutter, cutter->start, feed) < 0) {
            return -1;
        }
        cutter->start = cutter->line;
    }
    cutter->paragraph += following > 0 && cutter->found->count > cutter->known;
    return cutter->line;
}

/* Tell whether what stands behind a number and its full stop may be a month. */
static int
may_be_month(const Cutter *cutter, Py_ssize_t stop)
{
    const Text *text = cutter->text;
    unsigned blank = text->plain[stop];
    return (blank == ' ' || blank >= BEYOND) && text->plain[stop + 1] < BEYOND
           && cutter->months[text->plain[stop + 1]];
}

/* Tell whether what ends before *mark* may be an abbreviation, a day or a list label. */
static int
may_go_on(const Cutter *cutter, Py_ssize_t mark, Py_ssize_t stop)
{
    const unsigned char *plain = cutter->text->plain;
    Py_ssize_t first = mark;
    while (first > cutter->start && is_letter(plain[first - 1])) {
        first--;
    }
    if (mark - first > 1) {
        return find_word(&cutter->abbreviations, plain + first, mark - first) != NULL;
    }
    if (is_digit(plain[mark - 1])) {
        return stop - cutter->start <= cutter->longest_label || may_be_month(cutter, stop);
    }
    return mark > first;
}

/* Tell whether a mark belongs to one of these, not to a sentence. Few sentences look as if, so the
 * rule itself is seldom asked. */
static int
goes_on(const Cutter *cutter, Py_ssize_t mark, Py_ssize_t stop)
{
    const Text *text = cutter->text;
    if (stop - mark > 1 || text->plain[mark] != '.' || !may_go_on(cutter, mark, stop)) {
        return 0;
    }
    Py_ssize_t end = text->size;
    if (text->plain[stop] == '\n') {
        int wraps = is_wrapped(cutter, stop);
        if (wraps < 0) {
            return -1;
        }
        end = wraps ? end : stop;
    }
    return says_yes(PyObject_CallFunction(cutter->goes_on, "Onnnn", text->object, cutter->start,
                                          mark, stop, end));
}

/* Tell whether a blank or two are there, and a word of Thai or Lao behind them. */
static int
ends_phrase(const Cutter *cutter, Py_ssize_t place)
{
    const Text *text = cutter->text;
    if (text->plain[place] != ' ') {
        return 0;
    }
    place += text->plain[place + 1] == ' ' ? 2 : 1;
    return place < text->size && (marks_at(cutter, place) & STARTS_PHRASE);
}

/* Take the marks of a *kind* that begin at *place*; return where to go on. */
static Py_ssize_t
take_marks(Cutter *cutter, Py_ssize_t place, unsigned kind)
{
    const Text *text = cutter->text;
    Py_ssize_t after = place + 1;
    while (after < text->size && (marks_at(cutter, after) & KIND) == kind) {
        after++;
    }
    if (kind == PHRASE) {
        if (!ends_phrase(cutter, after)) {
            return after;
        }
        place = after - 1;
    }
    Py_ssize_t stop = after;
    while (kind != PHRASE && stop < text->size && (marks_at(cutter, stop) & (CLOSES << kind))) {
        stop++;
    }
    if (kind == SPACED && stop < text->size && !is_space_at(text, stop)) {
        return after;
    }
    if (place - cutter->start < 2) {
        return stop;
    }
    int is_none = goes_on(cutter, place, stop);
    if (is_none < 0 || (!is_none && add(cutter, cutter->start, stop) < 0)) {
        return -1;
    }
    cutter->start = is_none ? cutter->start : stop;
    return stop;
}

static int
cut(Cutter *cutter)
{
    const Text *text = cutter->text;
    const unsigned char *plain = text->plain, *kinds = cutter->bytes;
    Py_ssize_t place = 0;
    while (place >= 0 && place < text->size) {
        while (kinds[plain[place]] == 0) {
            place++;
        }
        unsigned kind = kinds[plain[place]];
        if (kind == LOOK) {
            kind = marks_at(cutter, place) & KIND;
        }
        if (kind == 0 || kind == END) {
            place++;
        } else if (kind == LINE_BREAK) {
            place = take_line_break(cutter, place);
        } else {
            place = take_marks(cutter, place, kind);
        }
    }
    return place < 0 ? -1 : add(cutter, cutter->start, text->size);
}

int
cut_sentences(const Text *text, PyObject *rules, Sentences *found)
{
    if (!PyTuple_CheckExact(rules) || PyTuple_GET_SIZE(rules) != ALL_RULES) {
        PyErr_SetString(PyExc_TypeError, "the rules of sentences are wanted");
        return -1;
    }
    const unsigned char *lengths = table_of(PyTuple_GET_ITEM(rules, LENGTHS_RULE), 2);
    Cutter cutter = {
        .text = text,
        .bytes = table_of(PyTuple_GET_ITEM(rules, BYTES_RULE), 256),
        .marks = table_of(PyTuple_GET_ITEM(rules, MARKS_RULE), TABLED),
        .months = table_of(PyTuple_GET_ITEM(rules, MONTHS_RULE), BEYOND),
        .goes_on = PyTuple_GET_ITEM(rules, GOES_ON_RULE),
        .is_list_line = PyTuple_GET_ITEM(rules, LIST_RULE),
        .found = found,
        .known = found->count,
        .paragraph = found->count > 0 ? found->items[found->count - 1].paragraph + 1 : 0,
    };
    if (!lengths || !cutter.bytes || !cutter.marks || !cutter.months
        || words_of(&cutter.abbreviations, PyTuple_GET_ITEM(rules, WORDS_RULE)) < 0) {
        return -1;
    }
    cutter.longest_label = lengths[0];
    cutter.wrapped_from = lengths[1];
    return cut(&cutter);
}
