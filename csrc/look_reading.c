/* Reading a text once, character by character: its words, its signs and its lines. */
#include "look.h"

/* How the detectors measure what they look for. */
enum {
    CODE_INDENT = 4,
    MAX_YAML_KEY = 64,
    MAX_YAML_INDENT = 16,
    KEY_LENGTH = 20,
    DATA_LENGTH = 40,
};

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
is_capital_at(const Look *look, Py_ssize_t place)
{
    unsigned char byte = look->bytes[place];
    return byte == BEYOND ? foreign_at(look, place) == FOREIGN_CAPITAL : is_capital(byte);
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
    if (start && look->stop < start && is_capital_at(look, start) && is_capital_at(look, end + 1)) {
        look->signs |= VERSE_PATTERN;
    }
}

void
read_text(Look *look)
{
    const unsigned char *bytes = look->bytes, *kinds = look->tables->kinds;
    Py_ssize_t place = begin_line(look, 0);
    Py_ssize_t run = place;     /* where what may be a key or encoded data began */
    Py_ssize_t before_end = -1; /* where the word before ended */
    uint64_t before = 0;        /* its key */
    for (;;) {
        unsigned kind = kinds[bytes[place]];
        if (kind == LETTER) {
            Word word = word_at(bytes + place);
            if (term_number(look->tables, word.key)) {
                int is_next = before_end == place - 1 && kinds[bytes[before_end]] == BLANK;
                end_word(look, word, is_next ? before : 0, place);
            }
            before = word.key;
            place += word.length;
            before_end = place;
            if (bytes[place] == ' ' && place - run < KEY_LENGTH) { /* as most words do */
                run = ++place;
            }
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
