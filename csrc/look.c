/* One look at a text that tells which detectors may find something in it.
 *
 * This does what the gates of the detectors do, all at once: each sign says "there may be", and none
 * is left out where there is. Everything that is a list (characters, words) comes from Python.
 */
#include "look.h"

/* How the detectors measure what they look for. */
enum {
    CODE_INDENT = 4,
    MAX_YAML_KEY = 64,
    MAX_YAML_INDENT = 16,
    MAX_LABEL_GAP = 8,
    KEY_LENGTH = 20,
    DATA_LENGTH = 40,
    MIN_KEYWORDS = 3,
    MIN_MARKERS = 3,
    MIN_STEPS = 3,
    MIN_LINES = 4,
    SMALL_ROOM = 4096,
};
static const double MAX_SPECIAL = 0.15;
static const double MAX_VARIATION = 1.44 - 1e-9; /* squared; less what rounding may take away */

/* Tell whether a colon may follow a word, perhaps after some white space. */
static int
is_label(const Look *look, Py_ssize_t place)
{
    Py_ssize_t limit = place + MAX_LABEL_GAP;
    while (place < look->size && place < limit) {
        unsigned kind = kind_at(look, place);
        if (kind != BLANK && kind != LINE_END && kind != OTHER && kind != FOREIGN) {
            break;
        }
        place++;
    }
    return kind_at(look, place) == COLON;
}

/* Tell whether "at" begins an indented line and may name a function or a place in a file: a
 * parenthesis comes right after the name, or one with a colon in it somewhere. */
static int
is_frame(const Look *look, Py_ssize_t start, Py_ssize_t end)
{
    if (start != look->indent || start == look->line) {
        return 0;
    }
    Py_ssize_t place = end + 1;
    unsigned kind = kind_at(look, place);
    while (kind >= LETTER || kind == DIGIT || kind == JOINT || kind == STOP || kind == DOLLAR) {
        kind = kind_at(look, ++place);
    }
    if (kind == SPECIAL && place > end + 1) {
        return 1;
    }
    while (place < look->size && kind != LINE_END && kind != COLON) {
        kind = kind_at(look, ++place);
    }
    return kind == COLON;
}

/* Take note of a term. Those that are counted are counted once. */
static void
note_term(Look *look, Term term, Py_ssize_t start, Py_ssize_t end)
{
    if (term.flags & STATUS) {
        look->reply = end;
    }
    if (term.flags & LABEL && !is_label(look, end)) {
        term.flags -= LABEL;
    }
    if (term.flags & FRAME && !is_frame(look, start, end)) {
        term.flags -= FRAME;
    }
    if (term.flags & (KEYWORD | MARKER)) {
        uint64_t own = (uint64_t)1 << (term.flags >> OWN_SHIFT & 63);
        look->keywords += !(look->terms & own) && term.flags & KEYWORD;
        look->markers += !(look->terms & own) && term.flags & MARKER;
        look->terms |= own;
    }
    look->flags |= term.flags;
    look->signs |= term.signs;
}

/* Take note of a word that may be a term, and of the pair with the word before, if any. */
static void
end_word(Look *look, Word word, uint64_t before, Py_ssize_t start)
{
    Term term = term_of(look, word.key);
    if (term.key == 0) {
        return;
    }
    note_term(look, term, start, start + word.length);
    if (before) {
        note_term(look, term_of(look, pair_key(before, word.key)), start, start + word.length);
    }
}

/* Take note of a long run, if it is one of the characters of keys or of those of encoded data. */
static void
end_run(Look *look, Py_ssize_t start, Py_ssize_t end)
{
    Py_ssize_t key = 0, data = 0;
    for (Py_ssize_t place = start; place < end; place++) {
        unsigned kind = kind_at(look, place);
        key = kind == SLASH || kind == PLUS ? 0 : key + 1;
        data = kind == JOINT ? 0 : data + 1;
        look->signs |= key >= KEY_LENGTH ? API_KEY : 0;
        look->signs |= data >= DATA_LENGTH ? BASE64_CONTENT | HASH_OR_SHA : 0;
    }
}

/* Take note of a key that begins a line, if it is not the first one. */
static void
end_key(Look *look, Py_ssize_t colon)
{
    Py_ssize_t indent = look->indent - look->line, length = colon - look->indent;
    unsigned after = kind_at(look, colon + 1);
    if (look->line && indent <= MAX_YAML_INDENT && 1 <= length && length <= MAX_YAML_KEY
        && (after == BLANK || after == LINE_END || after == END || after == OTHER)) {
        look->signs |= YAML_STRUCTURE;
    }
}

/* Take note of a character beyond ASCII. */
static void
pass_foreign(Look *look, Py_ssize_t place)
{
    unsigned kind = foreign_at(look, place);
    if (kind == FOREIGN_STOP) {
        look->stop = place;
    } else if (kind == FOREIGN_MATH) {
        look->signs |= UNICODE_MATH;
    } else if (kind == FOREIGN_QUOTE) {
        look->signs |= DIRECT_QUOTE;
    } else if (kind == FOREIGN_THEREFORE) {
        look->signs |= REASONING_CHAIN;
    } else if (kind >= FOREIGN_LETTER) {
        look->has_disguise = 1;
    }
}

/* Take note of a character that is no letter, no digit, no blank and no line feed. */
static void
pass_sign(Look *look, unsigned kind, Py_ssize_t place)
{
    const unsigned char *at = look->bytes + place;
    look->present |= 1u << kind;
    look->special += kind >= PLUS;
    if (kind == STOP) {
        look->stop = place;
    } else if (kind == FOREIGN) {
        pass_foreign(look, place);
    } else if (kind == SLASH && at[-1] == '/' && at[-2] == ':') {
        look->signs |= URL;
    } else if ((kind == TICK || kind == TILDE) && at[-1] == at[0] && at[-2] == at[0]) {
        look->signs |= CODE_FENCE;
    }
}

static int
is_capital(const Look *look, Py_ssize_t place)
{
    unsigned char byte = look->bytes[place];
    return byte == BEYOND ? foreign_at(look, place) == FOREIGN_CAPITAL : 'A' <= byte && byte <= 'Z';
}

/* Take note of the indent of a line, and return where it ends. */
static Py_ssize_t
begin_line(Look *look, Py_ssize_t start)
{
    Py_ssize_t place = start;
    while (kind_at(look, place) == BLANK) {
        place++;
    }
    if (start && (place - start >= CODE_INDENT || look->bytes[start] == '\t')) {
        look->signs |= INDENTED_CODE;
    }
    look->line = start;
    look->indent = place;
    return place;
}

/* Take note of the length of a line, and whether it may be verse with the next one. */
static void
end_line(Look *look, Py_ssize_t end)
{
    Py_ssize_t start = look->line;
    double length = (double)(end - start);
    look->squares += length * length;
    look->lines++;
    if (start && look->stop < start && is_capital(look, start) && is_capital(look, end + 1)) {
        look->signs |= VERSE_PATTERN;
    }
}

/* Read the text from its beginning to its end. */
static void
read_text(Look *look)
{
    const unsigned char *bytes = look->bytes;
    Py_ssize_t place = begin_line(look, 0);
    Py_ssize_t run = place;      /* where what may be a key or encoded data began */
    Py_ssize_t before_end = -1;  /* where the word before ended */
    uint64_t before = 0;         /* its key */
    for (;;) {
        unsigned kind = kind_at(look, place);
        if (kind == LETTER) {
            Word word = word_at(bytes + place);
            if (term_number(look, word.key)) {
                int is_next = before_end == place - 1 && kind_at(look, before_end) == BLANK;
                end_word(look, word, is_next ? before : 0, place);
            }
            before = word.key;
            place += word.length;
            before_end = place;
            continue;
        }
        if (kind == DIGIT) {
            place = read_number(look, place);
            continue;
        }
        if (kind < JOINT || kind > PLUS) {
            if (place - run >= KEY_LENGTH) {
                end_run(look, run, place);
            }
            if (kind == COLON && run == look->indent) {
                end_key(look, place);
            }
            run = place + 1;
        }
        if (kind == LINE_END) {
            end_line(look, place);
            place = run = begin_line(look, place + 1);
            continue;
        }
        if (kind != BLANK) {
            if (kind == END && place >= look->size) {
                break;
            }
            pass_sign(look, kind, place);
        }
        place++;
    }
    end_line(look, place);
}

static int
may_argue(const Look *look)
{
    int markers = look->markers + (look->flags & ORDINAL ? 1 : 0);
    int has_label = look->flags & ANALYSIS && look->present & 1u << COLON;
    return look->flags & LABEL
           || (look->markers
               && (markers >= MIN_MARKERS || has_label || look->steps >= MIN_STEPS));
}

/* Return the signs that follow from all that has been seen. */
static unsigned
judge(const Look *look)
{
    unsigned signs = look->signs, present = look->present;
    double size = (double)look->size, total = size - (double)(look->lines - 1);
    Py_UCS4 first = PyUnicode_READ_CHAR(look->text, 0);
    signs |= present & 1u << DOLLAR ? LATEX_MATH : 0;
    signs |= present & 1u << AT ? EMAIL : 0;
    signs |= present & 1u << SLASH ? FILE_PATH : 0;
    signs |= present & 1u << QUOTE ? QUOTED_KEY | DIRECT_QUOTE : 0;
    signs |= first == '{' || first == '[' || Py_UNICODE_ISSPACE(first) ? JSON_STRUCTURE : 0;
    signs |= look->flags & FRAME ? ERROR_TRACEBACK : 0;
    signs |= look->flags & VERSION && look->digits ? VERSION_NUMBER : 0;
    signs |= look->flags & WEAK && look->keywords >= MIN_KEYWORDS ? SQL_CONTENT : 0;
    signs |= may_argue(look) ? REASONING_CHAIN : 0;
    signs |= (double)look->special > MAX_SPECIAL * size ? HIGH_SPECIAL_CHAR_RATIO : 0;
    double spread = (double)look->lines * look->squares - total * total;
    if (look->lines >= MIN_LINES && spread > MAX_VARIATION * total * total) {
        signs |= HIGH_LINE_LENGTH_VARIANCE;
    }
    return signs;
}

/* Copy the text as bytes, with zeros around them; *small* takes it if it is short enough. */
static unsigned char *
plain_copy(PyObject *text, unsigned char *small)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    unsigned char *room = small;
    if (size > SMALL_ROOM - 2 * MARGIN) {
        room = PyMem_Malloc((size_t)size + 2 * MARGIN);
        if (room == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
    }
    unsigned char *bytes = room + MARGIN;
    memset(room, 0, MARGIN);
    memset(bytes + size, 0, MARGIN);
    if (PyUnicode_IS_ASCII(text)) {
        memcpy(bytes, PyUnicode_1BYTE_DATA(text), (size_t)size);
        return room;
    }
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    for (Py_ssize_t place = 0; place < size; place++) {
        Py_UCS4 code = PyUnicode_READ(kind, data, place);
        bytes[place] = code < BEYOND ? (unsigned char)code : BEYOND;
    }
    return room;
}

/* Take the tables that Python has made; return 0 with an error if they are not as they should. */
static int
read_tables(PyObject *const *args, Tables *tables)
{
    tables->kinds = table_of(args[0], 256);
    tables->foreign = table_of(args[1], CODES);
    tables->slots = table_of(args[2], 1 << SLOT_BITS);
    if (!tables->kinds || !tables->foreign || !tables->slots) {
        return 0;
    }
    if (!PyBytes_CheckExact(args[3]) || PyBytes_GET_SIZE(args[3]) < (Py_ssize_t)sizeof(Term)) {
        PyErr_SetString(PyExc_TypeError, "terms are wanted");
        return 0;
    }
    Term first;
    tables->terms = (const unsigned char *)PyBytes_AS_STRING(args[3]);
    tables->term_count = (unsigned)(PyBytes_GET_SIZE(args[3]) / (Py_ssize_t)sizeof(Term));
    memcpy(&first, tables->terms, sizeof first);
    tables->factor = first.key;
    return 1;
}

static Look
new_look(PyObject *text, unsigned char *bytes, const Tables *tables)
{
    Look look = {0};
    look.tables = *tables;
    look.text = text;
    look.bytes = bytes;
    look.size = PyUnicode_GET_LENGTH(text);
    look.stop = look.number = look.reply = -1;
    return look;
}

/* Read once more, with ASCII letters for the few others that count as such in any case: they may be
 * a letter of a term or none. */
static void
read_undisguised(Look *look)
{
    Look again = new_look(look->text, look->bytes, &look->tables);
    for (Py_ssize_t place = 0; place < again.size; place++) {
        if (again.bytes[place] == BEYOND && foreign_at(&again, place) >= FOREIGN_LETTER) {
            again.bytes[place] = (unsigned char)foreign_at(&again, place);
        }
    }
    again.terms = look->terms;
    again.keywords = look->keywords;
    again.markers = look->markers;
    read_text(&again);
    look->keywords = again.keywords;
    look->markers = again.markers;
    look->flags |= again.flags;
    look->signs |= again.signs;
}

PyObject *
scan_look(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Tables tables;
    if (count != 5 || !PyUnicode_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "look(text, kinds, foreign, slots, terms) is wanted");
        return NULL;
    }
    if (PyUnicode_GET_LENGTH(args[0]) == 0) {
        return PyLong_FromLong(0);
    }
    unsigned char small[SMALL_ROOM];
    unsigned char *room = read_tables(args + 1, &tables) ? plain_copy(args[0], small) : NULL;
    if (room == NULL) {
        return NULL;
    }
    Look look = new_look(args[0], room + MARGIN, &tables);
    read_text(&look);
    if (look.has_disguise) {
        read_undisguised(&look);
    }
    if (room != small) {
        PyMem_Free(room);
    }
    return PyLong_FromUnsignedLong(judge(&look));
}
