/* How much of a text is structure: see refold.quality.metrics. */
#include "scan.h"

enum { MAX_INDENT = 3, FENCE = 3, MIN_ROWS = 2 };

/* Tell whether a line begins with a fence, indented a little at most. */
static int
is_fence(int kind, const void *text, Py_ssize_t start, Py_ssize_t end)
{
    Py_ssize_t place = start;
    while (place < end && place - start < MAX_INDENT && PyUnicode_READ(kind, text, place) == ' ') {
        place++;
    }
    for (int marks = 0; marks < FENCE; marks++, place++) {
        if (place >= end || PyUnicode_READ(kind, text, place) != '`') {
            return 0;
        }
    }
    return 1;
}

PyObject *
scan_structures(PyObject *Py_UNUSED(module), PyObject *text)
{
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a string is wanted");
        return NULL;
    }
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text), fences = 0, brackets = 0, rows = 0;
    for (Py_ssize_t start = 0, end; start < size; start = end + 1) {
        end = PyUnicode_FindChar(text, '\n', start, size, 1);
        if (end == -2) {
            return NULL;
        }
        end = end < 0 ? size : end;
        Py_UCS4 first = PyUnicode_READ(kind, data, start);
        if (first == '{' || first == '[') {
            brackets += end - start == 1;
        } else if (first == '|') {
            rows += end - start > 1 && PyUnicode_READ(kind, data, end - 1) == '|';
        } else if (first == '`' || first == ' ') {
            fences += is_fence(kind, data, start, end);
        }
    }
    return PyLong_FromSsize_t(fences / 2 + brackets + (rows >= MIN_ROWS));
}
