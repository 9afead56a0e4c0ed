/* Reading a Python string, character by character, without making objects. */
#ifndef REFOLD_TEXT_H
#define REFOLD_TEXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "bytes.h"

/* The bytes of a table that Python has made, or NULL with an error if it is not as long as that. */
static inline const unsigned char *
table_of(PyObject *object, Py_ssize_t size)
{
    if (!PyBytes_CheckExact(object) || PyBytes_GET_SIZE(object) != size) {
        PyErr_Format(PyExc_TypeError, "a table of %zd bytes is wanted", size);
        return NULL;
    }
    return (const unsigned char *)PyBytes_AS_STRING(object);
}

#endif
