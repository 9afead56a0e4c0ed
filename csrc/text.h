/* Reading a Python string, character by character, without making objects. */
#ifndef REFOLD_TEXT_H
#define REFOLD_TEXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

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

/* The number of the lowest bit that is set; there is one. */
static inline int
lowest_bit(uint64_t bits)
{
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#elif defined(_MSC_VER) && defined(_WIN64)
    unsigned long number;
    _BitScanForward64(&number, bits);
    return (int)number;
#else
    int number = 0;
    for (; !(bits & 1); bits >>= 1) {
        number++;
    }
    return number;
#endif
}

#endif
