/* What an item looks like, if it is ASCII: refold.scan.items says what is right. */
#include "scan.h"

/* The shapes as refold.scan.items.Shape numbers them. */
enum {
    PATH, EMAIL, ID, NUMBER, LONG_NUMBER, SMALL_NUMBER, DATE, DOTTED, SNAKE, CAMEL, MIXED,
    SHORT_MIXED, WORD, NAME, UPPER, CJK, NONE,
};
enum { MIN_WORD = 3 };

/* How many characters of each sort an item has. */
typedef struct {
    Py_ssize_t size, small, capitals, digits;
    unsigned short of[BEYOND];
    int is_camel;
} Counts;

static Counts
count_characters(const unsigned char *item, Py_ssize_t size)
{
    Counts n = {.size = size};
    Py_ssize_t since = -1; /* small letters and digits since the last capital, -1 if others were */
    for (Py_ssize_t place = 0; place < size; place++) {
        unsigned char c = item[place];
        if (is_small(c) || is_digit(c)) {
            n.small += is_small(c);
            n.digits += is_digit(c);
            since += since >= 0;
        } else if (is_capital(c)) {
            n.is_camel |= since > 0 || (place > 0 && is_small(item[place - 1]));
            n.capitals++;
            since = 0;
        } else {
            n.of[c]++;
            since = -1;
        }
    }
    return n;
}

/* The shape of a word; *common* are those that mean nothing by themselves. */
static long
shape_of_word(PyObject *item, const Counts *n, PyObject *common)
{
    if (n->is_camel || n->size < MIN_WORD) {
        return n->is_camel ? CAMEL : NONE;
    }
    PyObject *word = n->capitals ? PyObject_CallMethod(item, "lower", NULL) : Py_NewRef(item);
    int is_common = word == NULL ? -1 : PySet_Contains(common, word);
    Py_XDECREF(word);
    if (is_common) {
        return is_common < 0 ? -1 : NONE;
    }
    return !is_capital(PyUnicode_1BYTE_DATA(item)[0]) ? WORD : n->small ? NAME : UPPER;
}

static long
shape_of_number(const Counts *n)
{
    if (n->of['-'] && n->size >= 8) {
        return DATE;
    }
    if (n->of['.'] || (n->size >= 3 && n->size < 6)) {
        return NUMBER;
    }
    return n->size >= 6 ? LONG_NUMBER : SMALL_NUMBER;
}

long
scan_shape_of(PyObject *item, PyObject *common)
{
    const unsigned char *text = PyUnicode_1BYTE_DATA(item);
    Py_ssize_t size = PyUnicode_GET_LENGTH(item), dots = 0; /* those that it begins with */
    Counts n = count_characters(text, size);
    Py_ssize_t letters = n.small + n.capitals;
    int mixed = size > 4 ? MIXED : SHORT_MIXED;
    if (letters == size) {
        return shape_of_word(item, &n, common);
    }
    if (n.digits == size) {
        return shape_of_number(&n);
    }
    if (n.of['@'] && n.of['.']) {
        return EMAIL;
    }
    if (letters + n.digits == size) {
        return mixed;
    }
    if (n.of['/']) {
        return letters ? PATH : n.digits ? NUMBER : NONE;
    }
    if (text[0] == '#' || text[0] == '$') {
        return !n.digits ? NONE : text[0] == '#' ? ID : NUMBER;
    }
    if (!letters) {
        return n.digits ? shape_of_number(&n) : NONE;
    }
    while (text[dots] == '.') {
        dots++;
    }
    if (n.of['_'] || n.of['.'] > dots) {
        return n.of['_'] ? SNAKE : DOTTED;
    }
    return n.digits ? mixed : shape_of_word(item, &n, common);
}
