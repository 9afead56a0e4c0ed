/* A text as bytes, one for each character, and words of a vocabulary that stand in it. */
#ifndef REFOLD_PLAIN_H
#define REFOLD_PLAIN_H

#include <string.h>

#include "text.h"

enum { WIDE = 0xFF, LETTER_BITS = 31, LETTER_ROWS = 32, TOO_LONG = 15 };

typedef struct {
    PyObject *object;
    const unsigned char *plain; /* a byte for each character, and a 0 behind them; see `open_text` */
    const void *data;
    int kind;
    Py_ssize_t size;
    unsigned char *made; /* the bytes, if they had to be made */
} Text;

/* A row for each first letter: a bit for each size that its words have, in two bytes, and the words
 * in lower case: size, meaning, letters. `refold.text.scan.word_rows` makes them. */
typedef struct {
    const unsigned char *rows;
    Py_ssize_t width;
} Words;

/* Read a string. If it has one byte for each character these are read where they are; else there are
 * bytes made for it: ASCII, or WIDE for any character beyond. */
static inline int
open_text(Text *text, PyObject *object)
{
    if (!PyUnicode_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "a string is wanted");
        return -1;
    }
    text->object = object;
    text->kind = PyUnicode_KIND(object);
    text->data = PyUnicode_DATA(object);
    text->size = PyUnicode_GET_LENGTH(object);
    text->plain = text->data;
    text->made = NULL;
    if (text->kind == PyUnicode_1BYTE_KIND) {
        return 0;
    }
    text->made = PyMem_Malloc((size_t)text->size + 1);
    if (text->made == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t place = 0; place < text->size; place++) {
        Py_UCS4 code = PyUnicode_READ(text->kind, text->data, place);
        text->made[place] = (unsigned char)(code < BEYOND ? code : WIDE);
    }
    text->made[text->size] = 0;
    text->plain = text->made;
    return 0;
}

static inline void
close_text(Text *text)
{
    PyMem_Free(text->made);
}

static inline Py_UCS4
code_at(const Text *text, Py_ssize_t place)
{
    return PyUnicode_READ(text->kind, text->data, place);
}

static inline int
is_space_at(const Text *text, Py_ssize_t place)
{
    return Py_UNICODE_ISSPACE(code_at(text, place));
}

static inline int
words_of(Words *words, PyObject *object)
{
    if (!PyBytes_CheckExact(object) || PyBytes_GET_SIZE(object) % LETTER_ROWS != 0
        || PyBytes_GET_SIZE(object) < 2 * LETTER_ROWS) {
        PyErr_SetString(PyExc_TypeError, "rows of words are wanted");
        return -1;
    }
    words->rows = (const unsigned char *)PyBytes_AS_STRING(object);
    words->width = PyBytes_GET_SIZE(object) / LETTER_ROWS;
    return 0;
}

/* Return the first word that may begin with a letter, or the next one; NULL if there is none. */
static inline const unsigned char *
next_word(const Words *words, unsigned letter, const unsigned char *word)
{
    const unsigned char *row = words->rows + (letter & LETTER_BITS) * words->width;
    word = word == NULL ? row + 2 : word + 2 + word[0];
    Py_ssize_t left = words->width - (word - row);
    return left > 2 && word[0] != 0 && word[0] <= left - 2 ? word : NULL;
}

/* Tell whether bytes of at least that size begin with a word, in any case. */
static inline int
begins_with(const unsigned char *plain, const unsigned char *word)
{
    for (unsigned place = 0; place < word[0]; place++) {
        if (lowered(plain[place]) != word[2 + place]) {
            return 0;
        }
    }
    return 1;
}

/* Return the word that the *size* bytes are, in any case, or NULL. */
static inline const unsigned char *
find_word(const Words *words, const unsigned char *plain, Py_ssize_t size)
{
    const unsigned char *row = words->rows + (plain[0] & LETTER_BITS) * words->width;
    if (!((row[0] | row[1] << 8) >> Py_MIN(size, TOO_LONG) & 1)) {
        return NULL;
    }
    const unsigned char *word = next_word(words, plain[0], NULL);
    while (word != NULL && (word[0] != size || !begins_with(plain, word))) {
        word = next_word(words, plain[0], word);
    }
    return word;
}

#endif
