/* The scanner: what has to be fast, and what no compiler of Python makes fast enough.
 *
 * Everything here has a form in Python that says what is right; the tests hold both against each
 * other. No function keeps anything between two calls;
 * what an object keeps, it alone has, and nobody reads it but with the lock of the interpreter.
 */
#include "scan.h"

static PyMethodDef functions[] = {
    {"names_not_in", (PyCFunction)(void (*)(void))scan_names_not_in, METH_FASTCALL, NULL},
    {"needles", (PyCFunction)(void (*)(void))scan_needles, METH_FASTCALL, NULL},
    {"prefilter", (PyCFunction)(void (*)(void))scan_prefilter, METH_FASTCALL, NULL},
    {"estimate_tokens", (PyCFunction)(void (*)(void))scan_estimate_tokens, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static int
add_types(PyObject *module)
{
    PyObject *names = PyType_FromModuleAndSpec(module, &names_spec, NULL);
    int result = names == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)names);
    Py_XDECREF(names);
    return result;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)add_types},
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_scan", "What has to be fast.", 0, functions, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC
PyInit__scan(void)
{
    return PyModuleDef_Init(&module);
}
