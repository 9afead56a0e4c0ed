/* The estimate of tokens: what every pair of neighbours weighs, and every script. */
#include "scan.h"

enum { ROW = 16 };

typedef struct {
    const unsigned char *classes; /* of each byte of UTF-8, from 1 to 15 */
    const unsigned char *pairs;   /* the weight of two classes: 16 × the first + the second */
    const unsigned char *scripts; /* the weight of a UTF-16 unit, by its high byte */
} Weights;

/* What the neighbours weigh if each character is one byte; those beyond ASCII have one class. */
static Py_ssize_t
weigh_pairs(const Py_UCS1 *text, Py_ssize_t size, const Weights *weights, unsigned before)
{
    const unsigned char *classes = weights->classes, *pairs = weights->pairs;
    Py_ssize_t total = 0, place = 0;
    for (; size - place >= 4; place += 4) { /* so that they need not wait for each other */
        unsigned first = classes[text[place]], second = classes[text[place + 1]];
        unsigned third = classes[text[place + 2]], fourth = classes[text[place + 3]];
        total += pairs[before * ROW + first] + pairs[first * ROW + second]
                 + pairs[second * ROW + third] + pairs[third * ROW + fourth];
        before = fourth;
    }
    for (; place < size; place++) {
        unsigned after = classes[text[place]];
        total += pairs[before * ROW + after];
        before = after;
    }
    return total;
}

/* The second byte of each character beyond ASCII, and the scripts. */
static Py_ssize_t
weigh_latin(const Py_UCS1 *text, Py_ssize_t size, const Weights *weights)
{
    const unsigned foreign = weights->classes[BEYOND];
    Py_ssize_t beyond = 0;
    for (Py_ssize_t place = 0; place < size; place++) {
        beyond += text[place] >= BEYOND;
    }
    return beyond * weights->pairs[foreign * ROW + foreign] + size * weights->scripts[0];
}

/* A character beyond ASCII is two to four bytes of one class, and one or two units of UTF-16. */
static Py_ssize_t
weigh_any(int kind, const void *text, Py_ssize_t size, const Weights *weights, unsigned before)
{
    const unsigned foreign = weights->classes[BEYOND];
    const unsigned between = weights->pairs[foreign * ROW + foreign];
    Py_ssize_t total = 0;
    for (Py_ssize_t place = 0; place < size; place++) {
        Py_UCS4 code = PyUnicode_READ(kind, text, place);
        unsigned after = code < BEYOND ? weights->classes[code] : foreign;
        total += weights->pairs[before * ROW + after];
        before = after;
        if (code < BEYOND) {
            total += weights->scripts[0];
        } else if (code < 0x10000) {
            total += between * (code < 0x800 ? 1 : 2) + weights->scripts[code >> 8];
        } else {
            unsigned high = 0xD8 + ((code - 0x10000) >> 18);
            unsigned low = 0xDC + ((code >> 8) & 3);
            total += between * 3 + weights->scripts[high] + weights->scripts[low];
        }
    }
    return total;
}

/* Tell whether every class has a row in the table of pairs. */
static int
have_rows(const unsigned char *classes)
{
    unsigned all = 0;
    for (int byte = 0; byte < 256; byte++) {
        all |= classes[byte];
    }
    return all < ROW;
}

PyObject *
scan_estimate_tokens(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || !PyUnicode_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "estimate_tokens(text, classes, pairs, scripts, first) is wanted");
        return NULL;
    }
    PyObject *text = args[0];
    Weights weights = {table_of(args[1], 256), table_of(args[2], 256), table_of(args[3], 256)};
    long first = PyLong_AsLong(args[4]);
    if (weights.classes == NULL || weights.pairs == NULL || weights.scripts == NULL
        || (first == -1 && PyErr_Occurred())) {
        return NULL;
    }
    if (!have_rows(weights.classes)) {
        PyErr_SetString(PyExc_ValueError, "there is no such class");
        return NULL;
    }
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    unsigned before = (unsigned)first & (ROW - 1);
    int kind = PyUnicode_KIND(text);
    if (kind != PyUnicode_1BYTE_KIND) {
        return PyLong_FromSsize_t(weigh_any(kind, PyUnicode_DATA(text), size, &weights, before));
    }
    const Py_UCS1 *data = PyUnicode_1BYTE_DATA(text);
    Py_ssize_t total = weigh_pairs(data, size, &weights, before);
    return PyLong_FromSsize_t(
        PyUnicode_IS_ASCII(text) ? total : total + weigh_latin(data, size, &weights));
}
