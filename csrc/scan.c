/* The scanner: what has to be fast, and what no compiler of Python makes fast enough.
 *
 * Everything here has a form in Python that says what is right; the tests hold both against each
 * other. No function keeps anything between two calls;
 * what an object keeps, it alone has, and nobody reads it but with the lock of the interpreter.
 */
#include "scan.h"

static PyMethodDef functions[] = {
    {"needles", (PyCFunction)(void (*)(void))scan_needles, METH_FASTCALL, NULL},
    {"prefilter", (PyCFunction)(void (*)(void))scan_prefilter, METH_FASTCALL, NULL},
    {"estimate_tokens", (PyCFunction)(void (*)(void))scan_estimate_tokens, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static int
add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    int result = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return result;
}

static int
add_types(PyObject *module)
{
    return add_type(module, &names_spec) < 0 ? -1 : add_type(module, &items_spec);
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
