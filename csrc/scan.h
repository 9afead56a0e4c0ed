/* The functions of the scanner; src/refold/native.py says what each is for. */
#ifndef REFOLD_SCAN_H
#define REFOLD_SCAN_H

#include "text.h"

PyObject *scan_needles(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *scan_prefilter(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *scan_estimate_tokens(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* The shape of an item of ASCII, -1 with an error; *common* is a set of words that mean nothing. */
long scan_shape_of(PyObject *item, PyObject *common);

/* The types that find names, and index words and values. */
extern PyType_Spec names_spec, items_spec;

#endif
