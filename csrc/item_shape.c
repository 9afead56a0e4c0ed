/* What an item looks like: `shape_of` of src/refold/planner/items.py, for items of ASCII. */
#include "items.h"

#include <string.h>

typedef struct {
    int has_letter, has_digit, has_capital, has_small;
    int has_at, has_dot, has_slash, has_dash, has_underscore;
    int has_other; /* neither letter nor digit */
} Signs;

static Signs
signs_of(const unsigned char *item, Py_ssize_t length)
{
    Signs signs = {0};
    for (Py_ssize_t place = 0; place < length; place++) {
        unsigned byte = item[place];
        if (is_small(byte)) {
            signs.has_small = signs.has_letter = 1;
        } else if (is_capital(byte)) {
            signs.has_capital = signs.has_letter = 1;
        } else if (is_digit(byte)) {
            signs.has_digit = 1;
        } else {
            signs.has_other = 1;
            signs.has_at |= byte == '@';
            signs.has_dot |= byte == '.';
            signs.has_slash |= byte == '/';
            signs.has_dash |= byte == '-';
            signs.has_underscore |= byte == '_';
        }
    }
    return signs;
}

/* A capital behind a small letter, or behind a capital with small letters or digits between. */
static int
is_camel(const unsigned char *item, Py_ssize_t length)
{
    int is_inside = 0; /* behind a capital, and small letters and digits alone */
    for (Py_ssize_t place = 1; place < length; place++) {
        unsigned before = item[place - 1], byte = item[place];
        int goes_on = is_small(before) || is_digit(before);
        is_inside = is_capital(before) || (is_inside && goes_on);
        if (is_capital(byte) && (is_small(before) || (is_inside && goes_on))) {
            return 1;
        }
    }
    return 0;
}

static Shape
shape_of_number(Signs signs, Py_ssize_t length)
{
    if (signs.has_dash && length >= 8) {
        return DATE;
    }
    if (signs.has_dot || (length >= 3 && length < 6)) {
        return NUMBER;
    }
    return length >= 6 ? LONG_NUMBER : SMALL_NUMBER;
}

static int
is_common(const KnownNames *stop, const unsigned char *item, Py_ssize_t length)
{
    unsigned char small[MAX_ITEM];
    for (Py_ssize_t place = 0; place < length; place++) {
        small[place] = (unsigned char)(is_capital(item[place]) ? item[place] | 32 : item[place]);
    }
    Letters letters = {small, length, PyUnicode_1BYTE_KIND};
    return known_find(stop, letters)->name != NULL;
}

static Shape
shape_of_word(const KnownNames *stop, Signs signs, const unsigned char *item, Py_ssize_t length)
{
    if (signs.has_capital && is_camel(item, length)) {
        return CAMEL;
    }
    if (length < 3 || is_common(stop, item, length)) {
        return NONE;
    }
    if (is_capital(item[0])) {
        return signs.has_small ? NAME : UPPER;
    }
    return WORD;
}

Shape
shape_of(const KnownNames *stop, const unsigned char *item, Py_ssize_t length)
{
    Signs signs = signs_of(item, length);
    if (!signs.has_other) {
        if (signs.has_letter && signs.has_digit) {
            return length > 4 ? MIXED : SHORT_MIXED;
        }
        return signs.has_letter ? shape_of_word(stop, signs, item, length)
                                : shape_of_number(signs, length);
    }
    if (signs.has_at && signs.has_dot) {
        return EMAIL;
    }
    if (signs.has_slash) {
        return signs.has_letter ? PATH : signs.has_digit ? NUMBER : NONE;
    }
    if (item[0] == '#' || item[0] == '$') {
        return !signs.has_digit ? NONE : item[0] == '#' ? ID : NUMBER;
    }
    if (!signs.has_letter) {
        return signs.has_digit ? shape_of_number(signs, length) : NONE;
    }
    if (signs.has_underscore) {
        return SNAKE;
    }
    Py_ssize_t first = 0; /* behind the dots that it begins with */
    while (item[first] == '.') {
        first++;
    }
    if (memchr(item + first, '.', (size_t)(length - first)) != NULL) {
        return DOTTED;
    }
    if (signs.has_digit) {
        return length > 4 ? MIXED : SHORT_MIXED;
    }
    return shape_of_word(stop, signs, item, length);
}
