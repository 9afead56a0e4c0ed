/* Which names a text does not hold: each is looked for by its rarest letter. */
#include "scan.h"

#include <string.h>

typedef struct {
    PyObject *text;
    const unsigned char *plain; /* a byte for each character; 255 for those beyond ASCII */
    size_t size;
    unsigned char *made; /* the same if it had to be made */
} Haystack;

static int
haystack_init(Haystack *stack, PyObject *text)
{
    stack->text = text;
    stack->size = (size_t)PyUnicode_GET_LENGTH(text);
    stack->made = NULL;
    if (PyUnicode_KIND(text) == PyUnicode_1BYTE_KIND) {
        stack->plain = PyUnicode_1BYTE_DATA(text);
        return 0;
    }
    stack->made = PyMem_Malloc(stack->size);
    if (stack->made == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    for (size_t place = 0; place < stack->size; place++) {
        Py_UCS4 code = PyUnicode_READ(kind, data, place);
        stack->made[place] = (unsigned char)(code < BEYOND ? code : 0xFF);
    }
    stack->plain = stack->made;
    return 0;
}

/* The place of the first character that is no small letter: names have one, and texts few. */
static size_t
rare_place(const unsigned char *name, size_t length)
{
    for (size_t place = 0; place < length; place++) {
        if (!is_small(name[place])) {
            return place;
        }
    }
    return 0;
}

/* Whether a text holds a name of ASCII characters. */
static int
holds_ascii(const Haystack *stack, const unsigned char *name, size_t length)
{
    if (length == 0 || length > stack->size) {
        return length == 0;
    }
    size_t rare = rare_place(name, length);
    const unsigned char *place = stack->plain + rare;
    const unsigned char *end = stack->plain + (stack->size - length) + rare + 1;
    while (place < end && (place = memchr(place, name[rare], (size_t)(end - place))) != NULL) {
        const unsigned char *start = place - rare; /* the ends tell most others apart */
        if (start[0] == name[0] && start[length - 1] == name[length - 1]
            && memcmp(start, name, length) == 0) {
            return 1;
        }
        place++;
    }
    return 0;
}

static int
holds(const Haystack *stack, PyObject *name)
{
    if (PyUnicode_IS_ASCII(name)) {
        return holds_ascii(stack, PyUnicode_1BYTE_DATA(name), (size_t)PyUnicode_GET_LENGTH(name));
    }
    return PyUnicode_Contains(stack->text, name);
}

static int
add_missing(PyObject *missing, const Haystack *stack, PyObject *names, Py_ssize_t longest,
            Py_ssize_t most)
{
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(names); place++) {
        PyObject *name = PyTuple_GET_ITEM(names, place);
        if (!PyUnicode_Check(name)) {
            PyErr_SetString(PyExc_TypeError, "a name is a string");
            return -1;
        }
        if (PyList_GET_SIZE(missing) >= most) {
            return 0;
        }
        int is_held = PyUnicode_GET_LENGTH(name) > longest ? 1 : holds(stack, name);
        if (is_held < 0 || (!is_held && PyList_Append(missing, name) < 0)) {
            return -1;
        }
    }
    return 0;
}

PyObject *
scan_names_not_in(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 4 || !PyTuple_Check(args[0]) || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "names_not_in(names, text, longest, most) is wanted");
        return NULL;
    }
    Py_ssize_t longest = PyLong_AsSsize_t(args[2]), most = PyLong_AsSsize_t(args[3]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    Haystack stack;
    if (haystack_init(&stack, args[1]) < 0) {
        return NULL;
    }
    PyObject *missing = PyList_New(0);
    if (missing != NULL && add_missing(missing, &stack, args[0], longest, most) < 0) {
        Py_CLEAR(missing);
    }
    PyMem_Free(stack.made);
    return missing;
}
