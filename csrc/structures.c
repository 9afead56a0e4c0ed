/* Counting the structures of a text, all of which can be told by how lines begin and end. */
#include "scan.h"

enum { FENCE_LENGTH = 3, MAX_INDENT = 3, MIN_ROWS = 2 };

typedef struct {
    Py_ssize_t fences;
    Py_ssize_t brackets; /* alone on their lines */
    Py_ssize_t rows;     /* of tables */
} Structures;

static int
is_fence(int kind, const void *data, Py_ssize_t start, Py_ssize_t end)
{
    Py_ssize_t ticks = start;
    while (ticks < end && ticks < start + MAX_INDENT && PyUnicode_READ(kind, data, ticks) == ' ') {
        ticks++;
    }
    if (end - ticks < FENCE_LENGTH) {
        return 0;
    }
    for (Py_ssize_t place = ticks; place < ticks + FENCE_LENGTH; place++) {
        if (PyUnicode_READ(kind, data, place) != '`') {
            return 0;
        }
    }
    return 1;
}

static void
read_line(Structures *found, int kind, const void *data, Py_ssize_t start, Py_ssize_t end)
{
    switch (PyUnicode_READ(kind, data, start)) {
    case '{':
    case '[':
        found->brackets += end == start + 1;
        break;
    case '|':
        found->rows += end > start + 1 && PyUnicode_READ(kind, data, end - 1) == '|';
        break;
    case ' ':
    case '`':
        found->fences += is_fence(kind, data, start, end);
        break;
    default:
        break;
    }
}

PyObject *
scan_structures(PyObject *Py_UNUSED(module), PyObject *text)
{
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text is wanted");
        return NULL;
    }
    Structures found = {0, 0, 0};
    Py_ssize_t size = PyUnicode_GET_LENGTH(text), start = 0;
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    while (start < size) {
        Py_ssize_t end = PyUnicode_FindChar(text, '\n', start, size, 1);
        if (end == -2) {
            return NULL;
        }
        if (end < 0) {
            end = size;
        }
        read_line(&found, kind, data, start, end);
        start = end + 1;
    }
    return PyLong_FromSsize_t(found.fences / 2 + found.brackets + (found.rows >= MIN_ROWS));
}
