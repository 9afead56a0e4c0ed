/* Choosing sentences: the best of each paragraph first, then the others, as long as they fit. */
#include <stdlib.h>

#include "scan.h"

enum { NOT_CHOSEN, CHOSEN };

typedef struct {
    Py_ssize_t place;
    size_t order; /* among equals, so that a few of them already cover a text */
    double score;
    int is_lead; /* the best of its paragraph */
} Ranked;

static int
compare(const void *one, const void *other)
{
    const Ranked *left = one, *right = other;
    if (left->is_lead != right->is_lead) {
        return left->is_lead ? -1 : 1;
    }
    if (left->score != right->score) {
        return left->score > right->score ? -1 : 1;
    }
    return left->order < right->order ? -1 : 1;
}

/* Return the place with its bits the other way round: first, middle, first quarter, … come first. */
static size_t
spread(size_t place, size_t count)
{
    size_t order = 0;
    for (size_t bound = 1; bound < count; bound *= 2) {
        order = order * 2 + place % 2;
        place /= 2;
    }
    return order;
}

/* Put all sentences into the order in which they are tried; return -1 with an error. */
static int
rank(Ranked *ranked, PyObject *scores, PyObject *paragraphs)
{
    Py_ssize_t count = PyList_GET_SIZE(paragraphs), lead = 0;
    long paragraph = -1;
    for (Py_ssize_t place = 0; place < count; place++) {
        double score = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(scores, place));
        long number = PyLong_AsLong(PyList_GET_ITEM(paragraphs, place));
        if (PyErr_Occurred() != NULL) {
            return -1;
        }
        ranked[place] = (Ranked){place, spread((size_t)place, (size_t)count), score, 0};
        if (number != paragraph) {
            paragraph = number;
            lead = place;
            ranked[place].is_lead = 1;
        } else if (score > ranked[lead].score) {
            ranked[lead].is_lead = 0;
            lead = place;
            ranked[place].is_lead = 1;
        }
    }
    qsort(ranked, (size_t)count, sizeof(Ranked), compare);
    return 0;
}

typedef struct {
    PyObject *texts;
    PyObject *taken; /* a set of texts: nothing is said twice */
    unsigned char *chosen;
    Py_ssize_t joint;
    Py_ssize_t left;
} Pack;

/* Take a sentence unless it has been said; return -1 with an error. */
static int
take(Pack *pack, Py_ssize_t place, int is_given)
{
    PyObject *text = PyList_GET_ITEM(pack->texts, place);
    Py_ssize_t known = PySet_GET_SIZE(pack->taken);
    if (PySet_Add(pack->taken, text) < 0) {
        return -1;
    }
    if (PySet_GET_SIZE(pack->taken) > known) {
        pack->left -= PyUnicode_GET_LENGTH(text) + pack->joint;
        pack->chosen[place] = CHOSEN;
    } else if (is_given) {
        pack->chosen[place] = CHOSEN;
    }
    return 0;
}

static int
take_first(Pack *pack, PyObject *first)
{
    for (Py_ssize_t number = 0; number < PySequence_Fast_GET_SIZE(first); number++) {
        Py_ssize_t place = PyLong_AsSsize_t(PySequence_Fast_GET_ITEM(first, number));
        if (place < 0 || place >= PyList_GET_SIZE(pack->texts)) {
            if (PyErr_Occurred() == NULL) {
                PyErr_SetString(PyExc_IndexError, "there is no such sentence");
            }
            return -1;
        }
        if (take(pack, place, 1) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
take_best(Pack *pack, const Ranked *ranked)
{
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(pack->texts); number++) {
        Py_ssize_t place = ranked[number].place;
        Py_ssize_t cost = PyUnicode_GET_LENGTH(PyList_GET_ITEM(pack->texts, place)) + pack->joint;
        if (cost <= pack->left && ranked[number].score >= 0 && take(pack, place, 0) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Return the places that were chosen, in reading order. */
static PyObject *
places_of(const Pack *pack)
{
    PyObject *places = PyList_New(0);
    for (Py_ssize_t place = 0; places != NULL && place < PyList_GET_SIZE(pack->texts); place++) {
        if (pack->chosen[place] == NOT_CHOSEN) {
            continue;
        }
        PyObject *number = PyLong_FromSsize_t(place);
        if (number == NULL || PyList_Append(places, number) < 0) {
            Py_CLEAR(places);
        }
        Py_XDECREF(number);
    }
    return places;
}

/* Choose from the sentences of as many texts, scores and paragraphs. */
static PyObject *
pack(PyObject *texts, PyObject *scores, PyObject *paragraphs, PyObject *first, Py_ssize_t chars,
     Py_ssize_t joint)
{
    size_t count = (size_t)PyList_GET_SIZE(texts);
    Ranked *ranked = PyMem_Malloc(count * (sizeof(Ranked) + 1) + 1);
    if (ranked == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *places = NULL, *taken = PySet_New(NULL);
    /* The first sentence may have a joint as well. */
    Pack pack = {texts, taken, (unsigned char *)(ranked + count), joint, chars + joint};
    memset(pack.chosen, NOT_CHOSEN, count);
    if (taken != NULL && rank(ranked, scores, paragraphs) == 0 && take_first(&pack, first) == 0
        && take_best(&pack, ranked) == 0) {
        places = places_of(&pack);
    }
    Py_XDECREF(taken);
    PyMem_Free(ranked);
    return places;
}

static int
are_columns(PyObject *texts, PyObject *scores, PyObject *paragraphs)
{
    Py_ssize_t count = PyList_GET_SIZE(texts);
    for (Py_ssize_t place = 0; place < count; place++) {
        if (!PyUnicode_Check(PyList_GET_ITEM(texts, place))) {
            return 0;
        }
    }
    return PySequence_Fast_GET_SIZE(scores) == count && PyList_GET_SIZE(paragraphs) == count;
}

PyObject *
scan_pack(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    static const char wanted[] = "pack((texts, scores, paragraphs), chars, joint, first) is wanted";
    PyObject *texts, *given, *paragraphs;
    if (count != 4 || !PyTuple_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, wanted);
        return NULL;
    }
    if (!PyArg_ParseTuple(args[0], "O!OO!", &PyList_Type, &texts, &given, &PyList_Type,
                          &paragraphs)) {
        return NULL;
    }
    Py_ssize_t chars = PyLong_AsSsize_t(args[1]), joint = PyLong_AsSsize_t(args[2]);
    if (PyErr_Occurred() != NULL) {
        return NULL;
    }
    PyObject *scores = PySequence_Fast(given, wanted);
    PyObject *first = PySequence_Fast(args[3], wanted);
    PyObject *places = NULL;
    if (scores != NULL && first != NULL) {
        if (are_columns(texts, scores, paragraphs)) {
            places = pack(texts, scores, paragraphs, first, chars, joint);
        } else {
            PyErr_SetString(PyExc_TypeError, wanted);
        }
    }
    Py_XDECREF(first);
    Py_XDECREF(scores);
    return places;
}
