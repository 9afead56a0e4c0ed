/* Following names from where they were said to where they are shown.
 *
 * All of them were found by one finder, so the same name is the same string, and its address is
 * enough to look it up: the strings themselves, far apart in memory, are not touched.
 */
#include "names.h"

enum { FIRST_COUNT = 1024, IS_SHOWN = 1, IS_IN_PLACE = 2 };

typedef struct {
    PyObject *name; /* borrowed, NULL where there is none */
    int32_t place;  /* where it was said first */
    int32_t fate;   /* whether it is shown, and in that place */
} Traced;

typedef struct {
    Traced *slots;
    size_t count; /* of slots: a power of two, and at least half of them are free */
    size_t used;
} Trace;

static inline Traced *
traced_of(const Trace *trace, PyObject *name)
{
    size_t place = hash_of_address(name) & (trace->count - 1);
    while (trace->slots[place].name != NULL && trace->slots[place].name != name) {
        place = (place + 1) & (trace->count - 1);
    }
    return &trace->slots[place];
}

/* Make a table of so many slots, and put what there is into it. */
static int
make_slots(Trace *trace, size_t count)
{
    Traced *slots = trace->slots;
    size_t old_count = trace->count;
    trace->slots = PyMem_Calloc(count, sizeof *slots);
    if (trace->slots == NULL) {
        trace->slots = slots;
        PyErr_NoMemory();
        return -1;
    }
    trace->count = count;
    for (size_t old = 0; old < old_count; old++) {
        if (slots[old].name != NULL) {
            *traced_of(trace, slots[old].name) = slots[old];
        }
    }
    PyMem_Free(slots);
    return 0;
}

/* Note where names are said, unless they were said before. */
static int
note_said(Trace *trace, PyObject *names, int32_t place)
{
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(names); number++) {
        PyObject *name = PyTuple_GET_ITEM(names, number);
        if (trace->used * 2 >= trace->count && make_slots(trace, trace->count * 2) < 0) {
            return -1;
        }
        Traced *traced = traced_of(trace, name);
        if (traced->name == NULL) {
            traced->name = name;
            traced->place = place;
            traced->fate = 0;
            trace->used++;
        }
    }
    return 0;
}

/* Note which names are shown. */
static int
note_shown(Trace *trace, PyObject *names, int32_t place)
{
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(names); number++) {
        Traced *traced = traced_of(trace, PyTuple_GET_ITEM(names, number));
        if (traced->name != NULL) {
            traced->fate |= traced->place == place ? IS_SHOWN | IS_IN_PLACE : IS_SHOWN;
        }
    }
    return 0;
}

/* Note the names of every text, in the message that its number says. */
static int
note_all(Trace *trace, PyObject *texts, PyObject *places,
         int (*note)(Trace *, PyObject *, int32_t))
{
    if (PyList_GET_SIZE(texts) != PyList_GET_SIZE(places)) {
        PyErr_SetString(PyExc_ValueError, "as many places as texts are wanted");
        return -1;
    }
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(texts); number++) {
        PyObject *names = PyList_GET_ITEM(texts, number);
        long place = PyLong_AsLong(PyList_GET_ITEM(places, number));
        if (place < 0 || place > INT32_MAX || !PyTuple_Check(names)) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_TypeError, "tuples of names and their places are wanted");
            }
            return -1;
        }
        if (note(trace, names, (int32_t)place) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *
count_fates(const Trace *trace)
{
    Py_ssize_t shown = 0, in_place = 0;
    for (size_t place = 0; place < trace->count; place++) {
        if (trace->slots[place].name != NULL) {
            shown += (trace->slots[place].fate & IS_SHOWN) != 0;
            in_place += (trace->slots[place].fate & IS_IN_PLACE) != 0;
        }
    }
    return Py_BuildValue("nnn", (Py_ssize_t)trace->used, shown, in_place);
}

PyObject *
names_count_survivors(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count)
{
    if (count != 4 || !PyList_Check(args[0]) || !PyList_Check(args[1]) || !PyList_Check(args[2])
        || !PyList_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError, "trace(said, said_in, shown, shown_in) is wanted");
        return NULL;
    }
    Trace trace = {NULL, 0, 0};
    PyObject *counts = NULL;
    if (make_slots(&trace, FIRST_COUNT) == 0 && note_all(&trace, args[0], args[1], note_said) == 0
        && note_all(&trace, args[2], args[3], note_shown) == 0) {
        counts = count_fates(&trace);
    }
    PyMem_Free(trace.slots);
    return counts;
}
