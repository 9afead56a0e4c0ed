/* What the look at a text sees of it, and how it reads bytes and words. */
#ifndef REFOLD_LOOK_H
#define REFOLD_LOOK_H

#include "bytes.h"
#include "scan.h"

/* What each byte is: the names and numbers of refold.detectors._kinds. */
enum {
    END, /* or a zero in the text */
    BLANK,
    LINE_END,
    DIGIT,
    STOP,
    QUOTE,
    OTHER,
    FOREIGN,
    /* From here to the plus, they are parts of keys or of data, as letters and digits are. */
    JOINT,
    SLASH,
    /* From the plus on, they are what `high_special_char_ratio` counts. */
    PLUS,
    COLON,
    DOLLAR,
    AT,
    TICK,
    TILDE,
    SPECIAL,
    LETTER,
};

/* What a character beyond ASCII is. */
enum {
    FOREIGN_OTHER,
    FOREIGN_STOP,
    FOREIGN_CAPITAL,
    FOREIGN_QUOTE,
    FOREIGN_MATH,
    FOREIGN_THEREFORE,
    FOREIGN_UNIT,
    FOREIGN_LETTER = 'a', /* and above: the ASCII letter that it counts as where case is ignored */
};

/* The signs of refold.detectors._signs. */
enum {
    CODE_FENCE = 1 << 0,
    INDENTED_CODE = 1 << 1,
    LATEX_MATH = 1 << 2,
    UNICODE_MATH = 1 << 3,
    JSON_STRUCTURE = 1 << 4,
    YAML_STRUCTURE = 1 << 5,
    VERSE_PATTERN = 1 << 6,
    HIGH_LINE_LENGTH_VARIANCE = 1 << 7,
    HIGH_SPECIAL_CHAR_RATIO = 1 << 8,
    SQL_CONTENT = 1 << 9,
    API_KEY = 1 << 10,
    REASONING_CHAIN = 1 << 11,
    URL = 1 << 12,
    EMAIL = 1 << 13,
    PHONE = 1 << 14,
    VERSION_NUMBER = 1 << 15,
    HASH_OR_SHA = 1 << 16,
    BASE64_CONTENT = 1 << 17,
    FILE_PATH = 1 << 18,
    IP_OR_SEMVER = 1 << 19,
    QUOTED_KEY = 1 << 20,
    DIRECT_QUOTE = 1 << 22,
    NUMERIC_WITH_UNITS = 1 << 23,
    ERROR_TRACEBACK = 1 << 24,
    HTTP_ERROR = 1 << 25,
};

/* What more there is to a term than its signs: the flags of refold.detectors._terms. */
enum {
    KEYWORD = 1 << 0,
    WEAK = 1 << 1,
    MARKER = 1 << 2,
    ORDINAL = 1 << 3,
    LABEL = 1 << 4,
    ANALYSIS = 1 << 5,
    FRAME = 1 << 6,
    STATUS = 1 << 7,
    VERSION = 1 << 8,
    UNIT = 1 << 9,
    FIRST = 1 << 10,  /* of a pair that is looked for where its first word stands */
    SECOND = 1 << 11, /* of any other pair */
    OWN_SHIFT = 16,   /* above it, the number of a term that is counted */
};

typedef struct {
    uint64_t key;
    uint32_t signs;
    uint32_t flags;
} Term;

enum { SLOT_BITS = 13, CODES = 0x10000 };

typedef struct {
    const unsigned char *kinds;   /* of each byte */
    const unsigned char *foreign; /* of each character below CODES */
    const unsigned char *slots;   /* the number of the one term that a key can be of, or 0 */
    const unsigned char *terms;   /* by number; instead of term 0, how to spread keys over slots */
    unsigned term_count;
    uint64_t factor;
} Tables;

enum {
    MARGIN = 8,    /* zeros before and behind the bytes, for those who look around */
};

typedef struct {
    const Tables *tables;
    PyObject *text;
    unsigned char *bytes; /* of the text, one for each character */
    Py_ssize_t size;
    unsigned signs;     /* those that need nothing more to be known */
    unsigned present;   /* the kinds that there are, a bit for each */
    unsigned flags;     /* of all terms */
    uint64_t counted;   /* the terms that are counted, a bit for each */
    int keywords;       /* how many of them are keywords, */
    int markers;        /* and how many are markers */
    int has_disguise;   /* whether a character beyond ASCII may stand for a letter of a term */
    Py_ssize_t special; /* how many special characters there are */
    Py_ssize_t stop;    /* where the last sentence ended */
    Py_ssize_t line;    /* where the line begins */
    Py_ssize_t indent;  /* where its indent ends */
    Py_ssize_t lines;   /* how many have ended */
    double squares;     /* the sum of the squares of their lengths */
    Py_ssize_t steps;   /* how many numbers stand as those of steps do */
    Py_ssize_t digits;  /* how many digits the last number had */
    Py_ssize_t number;  /* where it ended */
    Py_ssize_t grouped; /* how many digits it had together with those hardly divided from it */
    Py_ssize_t reply;   /* where the last thing ended after which the number of an error may come */
} Look;

/* A word goes from one character that is no ASCII letter to the next. Its key is made of its first
 * eight letters, in lower case, and of their number. */
typedef struct {
    uint64_t key;
    Py_ssize_t length;
} Word;

/* Read the text from its beginning to its end. */
void read_text(Look *look);

/* Take note of the digits from there on, and return where they end. */
Py_ssize_t read_number(Look *look, Py_ssize_t start);

/* Take note of a word that may be a term, and of the pairs with the words beside it. The key of the
 * one before is *before*, if there is just a blank between, and else 0. */
void end_word(Look *look, Word word, uint64_t before, Py_ssize_t start);

static inline unsigned
kind_at(const Look *look, Py_ssize_t place)
{
    return look->tables->kinds[look->bytes[place]];
}

static inline unsigned
foreign_at(const Look *look, Py_ssize_t place)
{
    Py_UCS4 code = PyUnicode_READ_CHAR(look->text, place);
    return code < CODES ? look->tables->foreign[code] : FOREIGN_OTHER;
}

enum { LENGTH_SHIFT = 58 };

/* Return the highest bit of each of eight bytes that is no letter; *small* are the same bytes, with
 * small letters. */
static inline uint64_t
no_letters(uint64_t bytes, uint64_t small)
{
    uint64_t low = small & EACH(0x7F);
    return (~(low + EACH(0x80 - 'a')) | (low + EACH(0x7F - 'z')) | bytes) & EACH(0x80);
}

/* Read the word that begins there, eight letters at a time. */
static inline Word
word_at(const unsigned char *at)
{
    uint64_t bytes = eight_bytes(at), small = bytes | EACH(0x20), key = small;
    uint64_t others = no_letters(bytes, small);
    Py_ssize_t length = 0;
    if (others) {
        key &= ((others & (0 - others)) >> 7) - 1; /* all before the first of them */
    }
    while (others == 0) {
        length += 8;
        bytes = eight_bytes(at + length);
        others = no_letters(bytes, bytes | EACH(0x20));
    }
    length += lowest_bit(others) >> 3;
    return (Word){key ^ (uint64_t)length << LENGTH_SHIFT, length};
}

/* Return the number of the one term that a key can be of: that of most words is 0. */
static inline unsigned
term_number(const Tables *tables, uint64_t key)
{
    return tables->slots[key * tables->factor >> (64 - SLOT_BITS)];
}

/* Return the term of a key; that of most is one that says nothing. */
static inline Term
term_of(const Tables *tables, uint64_t key)
{
    Term term = {0, 0, 0};
    unsigned number = term_number(tables, key);
    if (number && number < tables->term_count) {
        memcpy(&term, tables->terms + number * sizeof term, sizeof term);
    }
    return term.key == key ? term : (Term){0, 0, 0};
}

#endif
