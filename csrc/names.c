/* The type that finds names in texts, and remembers the strings of those it has found. */
#include "names.h"
#include "scan.h"

typedef struct {
    PyObject_HEAD
    NameTables tables;
    KnownNames known;
} Names;

/* Add the names of a list. */
static void
add_all(Reading *reading, int kind, PyObject *names)
{
    if (!PyList_Check(names)) {
        PyErr_SetString(PyExc_TypeError, "a list of names is wanted");
        reading->has_failed = 1;
        return;
    }
    for (Py_ssize_t place = 0; place < PyList_GET_SIZE(names); place++) {
        PyObject *name = PyList_GET_ITEM(names, place);
        if (!PyUnicode_Check(name)) {
            PyErr_SetString(PyExc_TypeError, "a name is a string");
            reading->has_failed = 1;
            return;
        }
        reading_add_string(reading, kind, name);
    }
}

/* Ask for addresses and titles. */
static void
add_others(Reading *reading)
{
    PyObject *others = PyObject_CallOneArg(reading->tables->others, reading->text);
    if (others == NULL || !PyTuple_Check(others) || PyTuple_GET_SIZE(others) != 2) {
        if (others != NULL) {
            PyErr_SetString(PyExc_TypeError, "a list of addresses and one of titles is wanted");
        }
        reading->has_failed = 1;
    } else {
        add_all(reading, ADDRESS_KIND, PyTuple_GET_ITEM(others, 0));
        add_all(reading, TITLE_KIND, PyTuple_GET_ITEM(others, 1));
    }
    Py_XDECREF(others);
}

static PyObject *
names_find(PyObject *object, PyObject *text)
{
    Names *self = (Names *)object;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text is wanted");
        return NULL;
    }
    unsigned char *made = NULL;
    if (!PyUnicode_IS_ASCII(text) && (made = name_plain(&self->tables, text)) == NULL) {
        return NULL;
    }
    Reading reading;
    reading.tables = &self->tables;
    reading.known = &self->known;
    reading.text = text;
    reading.plain = made == NULL ? PyUnicode_1BYTE_DATA(text) : made;
    reading.size = PyUnicode_GET_LENGTH(text);
    reading.is_ascii = made == NULL;
    reading_run(&reading);
    if (reading.has_others && !reading.has_failed) {
        add_others(&reading);
    }
    PyObject *found = reading.has_failed ? NULL : reading_names(&reading);
    reading_end(&reading);
    PyMem_Free(made);
    return found;
}

/* Note what the words of a set are besides; they are ASCII, so that a plain text has them as is. */
static int
note_words(KnownNames *known, PyObject *words, uint32_t flag)
{
    PyObject *iterator = PyObject_GetIter(words), *word;
    if (iterator == NULL) {
        return -1;
    }
    while ((word = PyIter_Next(iterator)) != NULL) {
        Known *noted = NULL;
        if (PyUnicode_Check(word) && PyUnicode_IS_ASCII(word)) {
            noted = known_add(known, word);
        } else {
            PyErr_SetString(PyExc_TypeError, "a word of ASCII letters is wanted");
        }
        Py_DECREF(word);
        if (noted == NULL) {
            break;
        }
        noted->flags |= flag;
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? -1 : 0;
}

/* What an object holds never leads back to it, so the garbage collector need not know of it. */
static void
names_dealloc(PyObject *object)
{
    Names *self = (Names *)object;
    PyTypeObject *type = Py_TYPE(object);
    known_clear(&self->known);
    name_tables_clear(&self->tables);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *
names_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named))
{
    PyObject *classes, *steps, *marks, *ideographs, *match_quantity, *others, *starters, *units;
    if (!PyArg_ParseTuple(args, "(SSS)U(OO)(OO):names", &classes, &steps, &marks, &ideographs,
                          &match_quantity, &others, &starters, &units)) {
        return NULL;
    }
    Names *self = (Names *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    if (name_tables_init(&self->tables, classes, steps, marks, ideographs, match_quantity, others)
            < 0
        || known_init(&self->known) < 0 || note_words(&self->known, starters, IS_STARTER) < 0
        || note_words(&self->known, units, IS_UNIT) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    {"find", names_find, METH_O, NULL},
    {"count_survivors", (PyCFunction)(void (*)(void))names_count_survivors, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)names_new},
    {Py_tp_dealloc, (void *)names_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec names_spec = {
    .name = "refold._scan.names",
    .basicsize = sizeof(Names),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
