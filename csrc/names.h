/* Finding names: what is known of characters and words, and a text that is being read. */
#ifndef REFOLD_NAMES_H
#define REFOLD_NAMES_H

#include "known.h"

/* Classes of characters, as src/refold/scan/name_tables.py numbers them; beyond JOINT are words. */
enum {
    BREAK = 0,
    OPENING = 1,
    MARK = 2,
    JOINT = 3,
    SMALL_CONSONANT = 5,
    CAPITAL_CONSONANT = 7,
    DIGIT = 8,
    IDEOGRAPH = 12,
    OTHER = 15,
};
enum { CLASSES = 16, TABLE_SIZE = 0x3100, MAX_RANGES = 8 };

/* What a word is, as bits. */
enum {
    IS_PASCAL = 1,
    IS_CAMEL = 2,
    IS_SNAKE = 4,
    IS_SHORT = 8,
    IS_PROPER = 16,
    IS_HALF_PROPER = 32,
    ENDS_IN_IDEOGRAPH = 64,
};

/* The kinds of names, in the order in which they are listed. */
enum {
    PROPER_KIND,
    PASCAL_KIND,
    CAMEL_KIND,
    SNAKE_KIND,
    SHORT_KIND,
    QUANTITY_KIND,
    PATH_KIND,
    ADDRESS_KIND,
    VERSION_KIND,
    TITLE_KIND,
    KIND_COUNT,
};

/* What a block of text notes of eight bytes, and with which bit it begins: bytes of words; small
 * consonants; what of a word is no small letter; signs that a path, an address or a title has. */
enum { IN_WORD = 0, CONSONANT = 8, SPECIAL = 16, SIGN = 24 };

typedef struct {
    const unsigned char *classes; /* of each character up to kana */
    const unsigned char *steps;   /* the state after each state and class */
    const unsigned char *marks;   /* what a word is in each state */
    unsigned char of_byte[256];   /* the class of each byte of a plain text */
    Py_UCS4 ideographs[MAX_RANGES][2];
    int range_count;
    uint32_t flags[8][256];       /* what a block notes of each byte, by its place in eight */
    PyObject *match_quantity;     /* of the pattern, for units with letters beyond ASCII */
    PyObject *others;             /* a function that finds addresses and titles */
    PyObject *owners[3];          /* of classes, steps and marks */
} NameTables;

/* Take tables over, zeros before; they have to be cleared even if that has failed. */
int name_tables_init(NameTables *tables, PyObject *classes, PyObject *steps, PyObject *marks,
                     PyObject *ideographs, PyObject *match_quantity, PyObject *others);
void name_tables_clear(NameTables *tables);

/* A byte for each character of a text and a 0, or NULL with an error; PyMem_Free gives it back. */
unsigned char *name_plain(const NameTables *tables, PyObject *text);

typedef struct {
    PyObject *name; /* borrowed from the known names */
    int kind;
} FoundName;

enum { FEW = 64, NOWHERE = -1 };

/* A text and the names found in it so far. */
typedef struct {
    const NameTables *tables;
    KnownNames *known;
    PyObject *text;
    const unsigned char *plain; /* a byte for each character: ASCII itself, or BEYOND + its class */
    Py_ssize_t size;
    int is_ascii;         /* then the text is read in place */
    int has_others;       /* signs of addresses or titles */
    int has_failed;       /* then an error is set, and nothing more is added */
    Py_ssize_t row_start; /* a row of proper names that may go on, */
    Py_ssize_t first_end; /* the end of its first one, */
    Py_ssize_t row_end;   /* and of its last one, or NOWHERE */
    FoundName *found;
    size_t count;
    size_t room;
    FoundName few[FEW]; /* the room for what most texts name */
} Reading;

/* Read a text; what is found is in the reading, which has to be ended even if this has failed. */
void reading_run(Reading *reading);
void reading_end(Reading *reading);

/* A tuple of what was found: kind by kind, each once. */
PyObject *reading_names(const Reading *reading);

/* Add what is known, or a slice of the text, or a string. */
void reading_add(Reading *reading, int kind, const Known *known);
void reading_add_slice(Reading *reading, int kind, Py_ssize_t start, Py_ssize_t end);
void reading_add_string(Reading *reading, int kind, PyObject *name);

/* Read a word of any kind, and return where it ends. */
Py_ssize_t reading_word(Reading *reading, Py_ssize_t start);

/* Add an abbreviation in small letters, unless it is a part of a word with an apostrophe. */
void reading_add_short(Reading *reading, Py_ssize_t start, Py_ssize_t end);

/* Go on with the row of proper names or begin a new one; half a name spoils its row. */
void reading_add_to_row(Reading *reading, Py_ssize_t start, Py_ssize_t end, int is_proper);

/* Add the row of proper names, if there is one and its first word does not begin a sentence. */
void reading_end_row(Reading *reading);

/* Add the quantity or version that begins with a digit or a `v`, the quantity whose first digits go
 * to an end, the path that starts there; if there is one. */
void reading_add_numbers(Reading *reading, Py_ssize_t start);
void reading_add_quantity(Reading *reading, Py_ssize_t start, Py_ssize_t end);
void reading_add_path(Reading *reading, Py_ssize_t start);

/* Method of the type: count the names that were said, those shown, those shown in their place. */
PyObject *names_count_survivors(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* A number for an address of a string, of which the lowest bits are always the same. */
static inline size_t
hash_of_address(const PyObject *object)
{
    return (size_t)((uint64_t)((uintptr_t)object >> 4) * 0x9E3779B97F4A7C15u >> 32);
}

static inline unsigned
class_at(const Reading *reading, Py_ssize_t place)
{
    return reading->tables->of_byte[reading->plain[place]];
}

/* The byte before a place; a text begins like a line. */
static inline unsigned
byte_before(const Reading *reading, Py_ssize_t place)
{
    return place > 0 ? reading->plain[place - 1] : '\n';
}

static inline Py_ssize_t
skip_digits(const Reading *reading, Py_ssize_t place)
{
    while (is_digit(reading->plain[place])) {
        place++;
    }
    return place;
}

#endif
