/* What finding names has to know of characters and words: tables that Python has made. */
#include "names.h"

/* The class of any character; those far beyond the table are words if they are letters. */
static unsigned
class_of(const NameTables *tables, Py_UCS4 code)
{
    if (code < TABLE_SIZE) {
        return tables->classes[code] & (CLASSES - 1);
    }
    for (int range = 0; range < tables->range_count; range++) {
        if (tables->ideographs[range][0] <= code && code <= tables->ideographs[range][1]) {
            return Py_UNICODE_ISALNUM(code) ? IDEOGRAPH : MARK;
        }
    }
    return Py_UNICODE_ISALNUM(code) ? OTHER : BREAK;
}

/* The loop for one kind of string, of which the compiler makes one for each. */
static inline void
fill_plain(const NameTables *tables, unsigned char *plain, int kind, const void *data,
           Py_ssize_t size)
{
    for (Py_ssize_t place = 0; place < size; place++) {
        Py_UCS4 code = PyUnicode_READ(kind, data, place);
        plain[place] = (unsigned char)(code < BEYOND ? code : BEYOND + class_of(tables, code));
    }
    plain[size] = 0;
}

unsigned char *
name_plain(const NameTables *tables, PyObject *text)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    const void *data = PyUnicode_DATA(text);
    unsigned char *plain = PyMem_Malloc((size_t)size + 1);
    if (plain == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        fill_plain(tables, plain, PyUnicode_1BYTE_KIND, data, size);
        break;
    case PyUnicode_2BYTE_KIND:
        fill_plain(tables, plain, PyUnicode_2BYTE_KIND, data, size);
        break;
    default:
        fill_plain(tables, plain, PyUnicode_4BYTE_KIND, data, size);
    }
    return plain;
}

/* Read ranges as a class of characters spells them: `a-zA-Z`. */
static int
take_ranges(NameTables *tables, PyObject *ranges)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(ranges);
    if (size % 3 != 0 || size > 3 * MAX_RANGES) {
        PyErr_SetString(PyExc_ValueError, "a few ranges of characters are wanted");
        return -1;
    }
    for (Py_ssize_t place = 0; place < size; place += 3) {
        Py_UCS4 *range = tables->ideographs[tables->range_count++];
        range[0] = PyUnicode_READ_CHAR(ranges, place);
        range[1] = PyUnicode_READ_CHAR(ranges, place + 2);
    }
    return 0;
}

/* Take the automaton over, if no step leads out of it. */
static int
take_automaton(NameTables *tables, PyObject *steps, PyObject *marks)
{
    Py_ssize_t states = PyBytes_GET_SIZE(marks);
    tables->steps = table_of(steps, states * CLASSES);
    tables->marks = table_of(marks, states);
    if (tables->steps == NULL || tables->marks == NULL) {
        return -1;
    }
    for (Py_ssize_t step = 0; step < states * CLASSES; step++) {
        if (tables->steps[step] >= states) {
            PyErr_SetString(PyExc_ValueError, "a step leads out of the automaton");
            return -1;
        }
    }
    if (states == 0) {
        PyErr_SetString(PyExc_ValueError, "an automaton has a state to begin with");
        return -1;
    }
    return 0;
}

static uint32_t
flags_of(unsigned kind, unsigned byte)
{
    uint32_t is_word = kind > JOINT, is_consonant = kind == SMALL_CONSONANT;
    uint32_t is_special = is_word && !is_small(byte);
    uint32_t is_sign = byte == '.' || byte == ':' || kind == OPENING;
    return is_word << IN_WORD | is_consonant << CONSONANT | is_special << SPECIAL | is_sign << SIGN;
}

static int
take_classes(NameTables *tables, PyObject *classes)
{
    tables->classes = table_of(classes, TABLE_SIZE);
    if (tables->classes == NULL) {
        return -1;
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned kind = byte < BEYOND ? tables->classes[byte] : byte;
        tables->of_byte[byte] = kind & (CLASSES - 1);
    }
    tables->of_byte[0] = BREAK; /* whatever else a table may say: there, a text ends */
    for (unsigned place = 0; place < 8; place++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            tables->flags[place][byte] = flags_of(tables->of_byte[byte], byte) << place;
        }
    }
    return 0;
}

int
name_tables_init(NameTables *tables, PyObject *classes, PyObject *steps, PyObject *marks,
                 PyObject *ideographs, PyObject *match_quantity, PyObject *others)
{
    tables->owners[0] = Py_NewRef(classes);
    tables->owners[1] = Py_NewRef(steps);
    tables->owners[2] = Py_NewRef(marks);
    tables->match_quantity = Py_NewRef(match_quantity);
    tables->others = Py_NewRef(others);
    return take_classes(tables, classes) < 0 || take_automaton(tables, steps, marks) < 0
            || take_ranges(tables, ideographs) < 0
        ? -1
        : 0;
}

void
name_tables_clear(NameTables *tables)
{
    for (int owner = 0; owner < 3; owner++) {
        Py_CLEAR(tables->owners[owner]);
    }
    Py_CLEAR(tables->match_quantity);
    Py_CLEAR(tables->others);
}
