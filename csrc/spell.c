/* Data like JSON as the one text that names it, in UTF-8: just what refold.model.wire.spell says.
 *
 * Messages are made of strings, lists and dicts, and a few numbers. Whatever else there is in them
 * is left to Python.
 */
#include "scan.h"
#include "bytes.h"

enum {
    MAX_DEPTH = 16, /* what has more levels may contain itself */
    FIRST_ROOM = 4000,
    LONGEST = 6, /* the most bytes that a character takes: \u001f */
    STRETCH = 256,
    MAX_DIGITS = 24,
};

typedef struct {
    PyObject *bytes;
    Py_ssize_t size;
    int failed; /* whether an error is set */
} Output;

/* Return where the next bytes go, with room for so many, or NULL with an error. */
static char *
room_for(Output *out, Py_ssize_t count)
{
    Py_ssize_t room = PyBytes_GET_SIZE(out->bytes);
    if (count > room - out->size) {
        if (room > PY_SSIZE_T_MAX / 2 - count) {
            PyErr_NoMemory();
            out->failed = 1;
            return NULL;
        }
        if (_PyBytes_Resize(&out->bytes, 2 * room + count) < 0) {
            out->failed = 1;
            return NULL;
        }
    }
    return PyBytes_AS_STRING(out->bytes) + out->size;
}

static int
add(Output *out, const char *bytes, Py_ssize_t count)
{
    char *at = room_for(out, count);
    if (at == NULL) {
        return 0;
    }
    memcpy(at, bytes, (size_t)count);
    out->size += count;
    return 1;
}

/* Spell an ASCII character that JSON does not show as it is. */
static char *
escape(char *to, unsigned code)
{
    static const char names[] = "btn?fr"; /* from 8 on */
    static const char digits[] = "0123456789abcdef";
    *to++ = '\\';
    if (code == '"' || code == '\\') {
        *to++ = (char)code;
    } else if (code >= 8 && code <= 13 && code != 11) {
        *to++ = names[code - 8];
    } else {
        memcpy(to, "u00", 3);
        to[3] = digits[code >> 4];
        to[4] = digits[code & 15];
        to += 5;
    }
    return to;
}

static inline char *
spell_char(char *to, Py_UCS4 code)
{
    if (code < 0x80) {
        if (code < 0x20 || code == '"' || code == '\\') {
            return escape(to, code);
        }
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (char)(0xE0 | code >> 12); /* half of a pair, too */
        } else {
            *to++ = (char)(0xF0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *to++ = (char)(0x80 | (code & 0x3F));
    return to;
}

/* Spell ASCII characters; mostly eight of them can be shown as they are. */
static char *
spell_ascii(char *to, const Py_UCS1 *from, Py_ssize_t size)
{
    while (size >= 8) {
        uint64_t bytes = eight_bytes(from);
        if (less_than(bytes, 0x20) | is_byte(bytes, '"') | is_byte(bytes, '\\')) {
            for (int place = 0; place < 8; place++) {
                to = spell_char(to, from[place]);
            }
        } else {
            memcpy(to, from, 8);
            to += 8;
        }
        from += 8;
        size -= 8;
    }
    while (size-- > 0) {
        to = spell_char(to, *from++);
    }
    return to;
}

/* Spell characters that are so wide each. */
#define SPELL_WIDE(name, type)                                     \
    static char *name(char *to, const type *from, Py_ssize_t size) \
    {                                                              \
        while (size-- > 0) {                                       \
            to = spell_char(to, *from++);                          \
        }                                                          \
        return to;                                                 \
    }
SPELL_WIDE(spell_1, Py_UCS1)
SPELL_WIDE(spell_2, Py_UCS2)
SPELL_WIDE(spell_4, Py_UCS4)

/* Spell a string; a stretch at a time, so that room for the worst case is never much. */
static int
spell_string(Output *out, PyObject *text)
{
    const void *data = PyUnicode_DATA(text);
    int kind = PyUnicode_KIND(text), is_ascii = PyUnicode_IS_ASCII(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    if (!add(out, "\"", 1)) {
        return 0;
    }
    for (Py_ssize_t start = 0; start < size; start += STRETCH) {
        Py_ssize_t end = size - start < STRETCH ? size : start + STRETCH;
        char *to = room_for(out, STRETCH * LONGEST);
        if (to == NULL) {
            return 0;
        }
        if (is_ascii) {
            to = spell_ascii(to, (const Py_UCS1 *)data + start, end - start);
        } else if (kind == PyUnicode_1BYTE_KIND) {
            to = spell_1(to, (const Py_UCS1 *)data + start, end - start);
        } else if (kind == PyUnicode_2BYTE_KIND) {
            to = spell_2(to, (const Py_UCS2 *)data + start, end - start);
        } else {
            to = spell_4(to, (const Py_UCS4 *)data + start, end - start);
        }
        out->size = to - PyBytes_AS_STRING(out->bytes);
    }
    return add(out, "\"", 1);
}

static int
spell_whole(Output *out, PyObject *number)
{
    char digits[MAX_DIGITS];
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    return !overflow && add(out, digits, PyOS_snprintf(digits, sizeof digits, "%lld", value));
}

static int spell_value(Output *out, PyObject *value, int depth);

static int
spell_list(Output *out, PyObject *list, int depth)
{
    for (Py_ssize_t place = 0; place < PyList_GET_SIZE(list); place++) {
        if (!add(out, place ? "," : "[", 1)
            || !spell_value(out, PyList_GET_ITEM(list, place), depth)) {
            return 0;
        }
    }
    return PyList_GET_SIZE(list) ? add(out, "]", 1) : add(out, "[]", 2);
}

static int
spell_dict(Output *out, PyObject *dict, int depth)
{
    PyObject *name, *value;
    Py_ssize_t place = 0;
    const char *before = "{";
    while (PyDict_Next(dict, &place, &name, &value)) {
        if (!PyUnicode_CheckExact(name) || !add(out, before, 1) || !spell_string(out, name)
            || !add(out, ":", 1) || !spell_value(out, value, depth)) {
            return 0;
        }
        before = ",";
    }
    return *before == ',' ? add(out, "}", 1) : add(out, "{}", 2);
}

/* Spell a value, or return 0 if there is anything in it that is not so simple. */
static int
spell_value(Output *out, PyObject *value, int depth)
{
    if (PyUnicode_CheckExact(value)) {
        return spell_string(out, value);
    }
    if (value == Py_None) {
        return add(out, "null", 4);
    }
    if (PyBool_Check(value)) {
        return value == Py_True ? add(out, "true", 4) : add(out, "false", 5);
    }
    if (PyLong_CheckExact(value)) {
        return spell_whole(out, value);
    }
    if (depth > 0 && PyDict_CheckExact(value)) {
        return spell_dict(out, value, depth - 1);
    }
    return depth > 0 && PyList_CheckExact(value) && spell_list(out, value, depth - 1);
}

PyObject *
scan_spell(PyObject *Py_UNUSED(module), PyObject *value)
{
    Output out = {PyBytes_FromStringAndSize(NULL, FIRST_ROOM), 0, 0};
    if (out.bytes == NULL) {
        return NULL;
    }
    if (spell_value(&out, value, MAX_DEPTH)) {
        _PyBytes_Resize(&out.bytes, out.size);
        return out.bytes;
    }
    Py_XDECREF(out.bytes);
    return out.failed ? NULL : Py_NewRef(Py_None);
}
