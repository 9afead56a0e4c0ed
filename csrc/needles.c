/* Which of many short words a text holds, and where some of them are: one pass for all.
 *
 * refold.scan.needles makes the tables. The first two characters of a word say in which row its
 * words begin; most places of a text begin no word and cost one look. All characters beyond ASCII
 * are one symbol.
 */
#include "scan.h"

#include <string.h>

enum { SYMBOLS = 128, OTHER = 1, MAX_WORD = 20, MAX_WORDS = 1024 };
enum { PLACED = 1, AT_BEGINNING = 2, LAST = 4 };

typedef struct {
    uint16_t number;
    uint8_t length;
    uint8_t flags;
    unsigned char word[MAX_WORD];
} Row;

typedef struct {
    const unsigned char *heads; /* the number of the first row for two symbols, from 1 on */
    const unsigned char *rows;
    Py_ssize_t row_count;
    unsigned char seen[MAX_WORDS];
    PyObject *numbers;
    PyObject *places;
} Look;

static int
add_number(PyObject *list, Py_ssize_t number)
{
    PyObject *object = PyLong_FromSsize_t(number);
    int result = object == NULL ? -1 : PyList_Append(list, object);
    Py_XDECREF(object);
    return result;
}

static int
is_plain_alnum(Py_UCS4 code)
{
    return code < BEYOND && (is_letter(code) || is_digit(code));
}

/* Whether a word, or a hump of one, begins at a place. */
static int
begins(PyObject *text, const unsigned char *lower, Py_ssize_t place)
{
    if (place == 0) {
        return 1;
    }
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_UCS4 before = PyUnicode_READ(kind, data, place - 1);
    if (lower[place - 1] == OTHER || !is_plain_alnum(lower[place - 1])) {
        return 1;
    }
    return PyUnicode_READ(kind, data, place) != lower[place] && before == lower[place - 1];
}

/* Note the words that begin at a place, by the rows from *first* on. */
static int
read_rows(Look *look, PyObject *text, const unsigned char *lower, Py_ssize_t place, Py_ssize_t size,
          Py_ssize_t first)
{
    int is_placed = 0;
    Row row = {0, 0, 0, {0}};
    for (Py_ssize_t at = first; at < look->row_count && !(row.flags & LAST); at++) {
        memcpy(&row, look->rows + (size_t)at * sizeof row, sizeof row);
        if (row.length > size - place || row.length > MAX_WORD
            || (row.length > 2 && lower[place + 2] != row.word[2])
            || memcmp(lower + place, row.word, row.length) != 0) {
            continue;
        }
        if (!(row.flags & PLACED)) {
            if (row.number < MAX_WORDS && !look->seen[row.number]) {
                look->seen[row.number] = 1;
                if (add_number(look->numbers, row.number) < 0) {
                    return -1;
                }
            }
        } else if (!is_placed && (!(row.flags & AT_BEGINNING) || begins(text, lower, place))) {
            is_placed = 1;
            if (add_number(look->places, place) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int
read_text(Look *look, PyObject *text, const unsigned char *lower, Py_ssize_t size)
{
    for (Py_ssize_t place = 0; place < size; place++) {
        size_t second = place + 1 < size ? lower[place + 1] : 0;
        uint16_t head;
        memcpy(&head, look->heads + sizeof head * ((size_t)lower[place] * SYMBOLS + second),
               sizeof head);
        if (head != 0 && read_rows(look, text, lower, place, size, head - 1) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Return the text with one symbol for each character, which the caller has to free. */
static unsigned char *
make_symbols(PyObject *text)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    unsigned char *made = PyMem_Malloc((size_t)size + 1);
    if (made == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t place = 0; place < size; place++) {
        Py_UCS4 code = PyUnicode_READ(kind, data, place);
        made[place] = (unsigned char)(code < BEYOND ? code : OTHER);
    }
    return made;
}

PyObject *
scan_needles(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Look look;
    if (count != 4 || !PyUnicode_Check(args[0]) || !PyUnicode_Check(args[1])
        || PyUnicode_GET_LENGTH(args[0]) != PyUnicode_GET_LENGTH(args[1])
        || !PyBytes_CheckExact(args[3])) {
        PyErr_SetString(PyExc_TypeError, "needles(text, lower, heads, rows) is wanted");
        return NULL;
    }
    look.heads = table_of(args[2], 2 * SYMBOLS * SYMBOLS);
    if (look.heads == NULL) {
        return NULL;
    }
    look.rows = (const unsigned char *)PyBytes_AS_STRING(args[3]);
    look.row_count = PyBytes_GET_SIZE(args[3]) / (Py_ssize_t)sizeof(Row);
    memset(look.seen, 0, sizeof look.seen);
    unsigned char *made = NULL;
    const unsigned char *lower = PyUnicode_DATA(args[1]);
    if (!PyUnicode_IS_ASCII(args[1])) {
        lower = made = make_symbols(args[1]);
        if (made == NULL) {
            return NULL;
        }
    }
    look.numbers = PyList_New(0);
    look.places = PyList_New(0);
    PyObject *found = NULL;
    if (look.numbers != NULL && look.places != NULL
        && read_text(&look, args[0], lower, PyUnicode_GET_LENGTH(args[1])) == 0) {
        found = PyTuple_Pack(2, look.numbers, look.places);
    }
    Py_XDECREF(look.numbers);
    Py_XDECREF(look.places);
    PyMem_Free(made);
    return found;
}
