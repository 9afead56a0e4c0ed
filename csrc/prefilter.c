/* What a text may hold: shapes by a bit-parallel automaton (Shift-And), words by a hash table.
 *
 * refold.scan.prefilter makes the tables from what each detector says that it needs. A lane has a
 * bit for each character of its shapes: the bit is set while the text so far ends like the shape up
 * to there.
 */
#include "scan.h"

enum { CODES = 0x10000, SYMBOLS = 256, BEYOND_CODES = 128, ANYTHING = 255 };

static const uint64_t HASH_START = UINT64_C(0xCBF29CE484222325);
static const uint64_t HASH_FACTOR = UINT64_C(0x100000001B3);

typedef struct {
    uint64_t hash;
    uint64_t number; /* of the word, from 1 on; 0 where the slot is free */
} Slot;

/* Return the text as symbols: itself if it is ASCII, else a copy that the caller has to free. */
static unsigned char *
copy_symbols(PyObject *text, const unsigned char *symbols)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    unsigned char *copy = PyMem_Malloc((size_t)size);
    if (copy == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t place = 0; place < size; place++) {
        Py_UCS4 code = PyUnicode_READ(kind, data, place);
        copy[place] = code < CODES ? symbols[code] : BEYOND_CODES;
    }
    return copy;
}

/* Return the bits that one lane reaches anywhere in the text; *lane* is where its shapes begin, and
 * then which characters have a symbol. */
static uint64_t
run_lane(const unsigned char *text, Py_ssize_t size, const unsigned char *lane)
{
    uint64_t table[1 + SYMBOLS], state = 0, seen = 0;
    memcpy(table, lane, sizeof table);
    for (Py_ssize_t place = 0; place < size; place++) {
        state = (state << 1 | table[0]) & table[1 + text[place]];
        seen |= state;
    }
    return seen;
}

/* Set the bit of a word, if it is one of those that are looked for. */
static void
note_word(uint64_t hash, const unsigned char *slots, uint64_t mask, unsigned char *bits)
{
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
        Slot slot;
        memcpy(&slot, slots + at * sizeof slot, sizeof slot);
        if (slot.number == 0) {
            return;
        }
        if (slot.hash == hash) {
            bits[(slot.number - 1) >> 3] |= (unsigned char)(1u << ((slot.number - 1) & 7));
            return;
        }
    }
}

/* Note every word: it goes from one character that is no ASCII letter to the next. */
static void
read_words(const unsigned char *text, Py_ssize_t size, const unsigned char *slots, uint64_t mask,
           unsigned char *bits)
{
    uint64_t hash = HASH_START;
    for (Py_ssize_t place = 0; place < size; place++) {
        unsigned char byte = text[place];
        if (is_letter(byte)) {
            hash = (hash ^ (byte | 32)) * HASH_FACTOR;
        } else if (hash != HASH_START) {
            note_word(hash, slots, mask, bits);
            hash = HASH_START;
        }
    }
    if (hash != HASH_START) {
        note_word(hash, slots, mask, bits);
    }
}

/* Tell whether the tables fit together, with an error if not. */
static int
are_tables(PyObject *const *args)
{
    if (!PyUnicode_Check(args[0]) || !PyBytes_CheckExact(args[2]) || !PyBytes_CheckExact(args[3])
        || !PyLong_Check(args[4])) {
        PyErr_SetString(PyExc_TypeError, "prefilter(text, symbols, lanes, slots, words) is wanted");
        return 0;
    }
    Py_ssize_t slots = PyBytes_GET_SIZE(args[3]) / (Py_ssize_t)sizeof(Slot);
    Py_ssize_t words = PyLong_AsSsize_t(args[4]);
    if (words < 0 || words >= slots || (slots & (slots - 1)) != 0
        || PyBytes_GET_SIZE(args[2]) % (Py_ssize_t)(8 * (1 + SYMBOLS)) != 0) {
        PyErr_SetString(PyExc_TypeError, "whole lanes and a power of two of slots are wanted");
        return 0;
    }
    return 1;
}

PyObject *
scan_prefilter(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    const unsigned char *symbols = count == 5 ? table_of(args[1], CODES) : NULL;
    if (symbols == NULL || !are_tables(args)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "five arguments are wanted");
        }
        return NULL;
    }
    const unsigned char *lanes = (const unsigned char *)PyBytes_AS_STRING(args[2]);
    const unsigned char *slots = (const unsigned char *)PyBytes_AS_STRING(args[3]);
    Py_ssize_t lane_count = PyBytes_GET_SIZE(args[2]) / (8 * (1 + SYMBOLS));
    uint64_t mask = (uint64_t)(PyBytes_GET_SIZE(args[3]) / (Py_ssize_t)sizeof(Slot)) - 1;
    Py_ssize_t size = PyUnicode_GET_LENGTH(args[0]);
    Py_ssize_t room = 8 * lane_count + (PyLong_AsSsize_t(args[4]) + 7) / 8;
    PyObject *found = PyBytes_FromStringAndSize(NULL, room);
    if (found == NULL) {
        return NULL;
    }
    unsigned char *bits = (unsigned char *)PyBytes_AS_STRING(found);
    memset(bits, 0, (size_t)room);
    unsigned char *copy = NULL;
    const unsigned char *text = PyUnicode_DATA(args[0]);
    if (!PyUnicode_IS_ASCII(args[0])) {
        text = copy = copy_symbols(args[0], symbols);
        if (copy == NULL) {
            Py_DECREF(found);
            return NULL;
        }
    }
    if (copy != NULL && memchr(copy, ANYTHING, (size_t)size) != NULL) {
        memset(bits, 0xFF, (size_t)room); /* it may stand for a letter: nothing is ruled out */
    } else {
        for (Py_ssize_t lane = 0; lane < lane_count; lane++) {
            uint64_t seen = run_lane(text, size, lanes + lane * 8 * (1 + SYMBOLS));
            for (int byte = 0; byte < 8; byte++) {
                bits[8 * lane + byte] = (unsigned char)(seen >> (8 * byte));
            }
        }
        read_words(text, size, slots, mask, bits + 8 * lane_count);
    }
    PyMem_Free(copy);
    return found;
}
