/* The names of a text as a tuple: kind by kind, in reading order, nothing twice. */
#include "names.h"

#include <string.h>

/* Put names in the order of their kinds; within a kind, the order stays. */
static void
sort_by_kind(const Reading *reading, PyObject **sorted)
{
    size_t starts[KIND_COUNT + 1] = {0};
    for (size_t number = 0; number < reading->count; number++) {
        starts[reading->found[number].kind + 1]++;
    }
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        starts[kind + 1] += starts[kind];
    }
    for (size_t number = 0; number < reading->count; number++) {
        sorted[starts[reading->found[number].kind]++] = reading->found[number].name;
    }
}

/* Leave only the first of names that are the same, and return how many are left.
 *
 * The slots, a power of two and twice as many as there are names at least, are all NULL. */
static size_t
drop_repeated(PyObject **names, size_t count, PyObject **slots, size_t slot_count)
{
    size_t left = 0;
    for (size_t number = 0; number < count; number++) {
        size_t place = hash_of_address(names[number]) & (slot_count - 1);
        while (slots[place] != NULL && slots[place] != names[number]) {
            place = (place + 1) & (slot_count - 1);
        }
        if (slots[place] == NULL) {
            slots[place] = names[number];
            names[left++] = names[number];
        }
    }
    return left;
}

PyObject *
reading_names(const Reading *reading)
{
    size_t count = reading->count, slot_count = 4;
    while (slot_count < 2 * count) {
        slot_count *= 2;
    }
    PyObject *few[2 * FEW + FEW], **space = few;
    if (count > FEW) {
        space = PyMem_Malloc((slot_count + count) * sizeof *space);
        if (space == NULL) {
            return PyErr_NoMemory();
        }
    }
    PyObject **names = space + slot_count;
    memset(space, 0, slot_count * sizeof *space);
    sort_by_kind(reading, names);
    size_t left = drop_repeated(names, count, space, slot_count);
    PyObject *found = PyTuple_New((Py_ssize_t)left);
    for (size_t number = 0; found != NULL && number < left; number++) {
        PyTuple_SET_ITEM(found, (Py_ssize_t)number, Py_NewRef(names[number]));
    }
    if (space != few) {
        PyMem_Free(space);
    }
    return found;
}
