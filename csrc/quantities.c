/* Numbers and their units: a sign of worth that looks ahead. */
#include "features.h"

enum { LONGEST_ASCII_UNIT = 8 };

/* Return where the number ends that begins at *place*, dots and commas inside included. */
static Py_ssize_t
number_end(const Text *text, Py_ssize_t place)
{
    for (;;) {
        unsigned byte = text->plain[place];
        if (byte == ',' || byte == '.') {
            byte = text->plain[place + 1];
        }
        if (!is_digit(byte)) {
            return place;
        }
        place++;
    }
}

/* Return where the unit ends that begins at *place*; letters in disguise are left to Python. */
static Py_ssize_t
unit_end(const Text *text, const Rules *rules, Py_ssize_t place)
{
    const unsigned char *plain = text->plain;
    Py_ssize_t end = place;
    while (is_letter(plain[end]) && end - place <= LONGEST_ASCII_UNIT) {
        end++;
    }
    unsigned kind = end < text->size ? kind_of(rules, code_at(text, end)) : 0;
    if (kind == FOLDED) {
        PyObject *found = PyObject_CallFunction(rules->unit_end, "On", text->object, place);
        if (found == NULL) {
            return FAILED;
        }
        end = PyLong_AsSsize_t(found);
        Py_DECREF(found);
        if (end == -1 && PyErr_Occurred()) {
            return FAILED;
        }
        return end > place && end <= text->size ? end : NO_QUANTITY;
    }
    if (kind > JOINT || end == place || !find_word(&rules->units, plain + place, end - place)) {
        return NO_QUANTITY;
    }
    return end;
}

Py_ssize_t
quantity_end(const Text *text, const Rules *rules, Py_ssize_t place, Py_ssize_t start)
{
    const unsigned char *plain = text->plain;
    if (place > start && (plain[place - 1] == ',' || plain[place - 1] == '.')) {
        return NO_QUANTITY;
    }
    Py_ssize_t after = number_end(text, place);
    if (after == text->size) {
        return NO_QUANTITY;
    }
    Py_UCS4 code = code_at(text, after);
    unsigned kind = code < TABLED_KINDS ? rules->kinds[code] : 0;
    int is_spaced = 0;
    Py_ssize_t end = after;
    if (code != '%' && kind != IDEOGRAPH && kind != ASK_IDEOGRAPH) {
        is_spaced = Py_UNICODE_ISSPACE(code);
        end = unit_end(text, rules, after + is_spaced);
        if (end < 0) {
            return end;
        }
    }
    return is_spaced || memchr(plain + place, ',', (size_t)(after - place)) ? end : place;
}
