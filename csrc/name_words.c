/* The words of a text: what each of them is, and which are names. */
#include "names.h"

#include <string.h>

void
reading_add(Reading *reading, int kind, const Known *known)
{
    if (known == NULL) {
        reading->has_failed = 1;
        return;
    }
    if (reading->count == reading->room) {
        size_t size = reading->room * sizeof *reading->found;
        FoundName *old = reading->found == reading->few ? NULL : reading->found;
        FoundName *found = PyMem_Realloc(old, 2 * size);
        if (found == NULL) {
            PyErr_NoMemory();
            reading->has_failed = 1;
            return;
        }
        if (old == NULL) {
            memcpy(found, reading->few, size);
        }
        reading->found = found;
        reading->room *= 2;
    }
    reading->found[reading->count].name = known->name;
    reading->found[reading->count].kind = kind;
    reading->count++;
}

void
reading_end(Reading *reading)
{
    if (reading->found != reading->few) {
        PyMem_Free(reading->found);
    }
}

/* Whether a slice of the text is ASCII: each is, if the text is. */
static inline int
is_ascii(const Reading *reading, Py_ssize_t start, Py_ssize_t end)
{
    unsigned all = 0;
    for (Py_ssize_t place = reading->is_ascii ? end : start; place < end; place++) {
        all |= reading->plain[place];
    }
    return all < BEYOND;
}

/* The string of a slice; NULL with an error if there is no memory. */
static const Known *
known_slice(Reading *reading, Py_ssize_t start, Py_ssize_t end)
{
    if (is_ascii(reading, start, end)) {
        return known_add_ascii(reading->known, reading->plain + start, end - start);
    }
    PyObject *name = PyUnicode_Substring(reading->text, start, end);
    const Known *known = name == NULL ? NULL : known_add(reading->known, name);
    Py_XDECREF(name);
    return known;
}

void
reading_add_slice(Reading *reading, int kind, Py_ssize_t start, Py_ssize_t end)
{
    if (!reading->has_failed) {
        reading_add(reading, kind, known_slice(reading, start, end));
    }
}

void
reading_add_string(Reading *reading, int kind, PyObject *name)
{
    if (!reading->has_failed) {
        reading_add(reading, kind, known_add(reading->known, name));
    }
}

void
reading_add_short(Reading *reading, Py_ssize_t start, Py_ssize_t end)
{
    if (byte_before(reading, start) != '\'' && reading->plain[end] != '\'') {
        reading_add_slice(reading, SHORT_KIND, start, end);
    }
}

void
reading_end_row(Reading *reading)
{
    Py_ssize_t start = reading->row_start, end = reading->first_end;
    if (reading->row_end < 0 || reading->has_failed) {
        return;
    }
    if (end == reading->row_end) {
        const Known *known = known_slice(reading, start, end);
        if (known == NULL || !(known->flags & IS_STARTER)) {
            reading_add(reading, PROPER_KIND, known);
        }
        return;
    }
    Letters first = {reading->plain + start, end - start, PyUnicode_1BYTE_KIND};
    if (!(known_find(reading->known, first)->flags & IS_STARTER)) {
        reading_add_slice(reading, PROPER_KIND, start, reading->row_end);
    }
}

void
reading_add_to_row(Reading *reading, Py_ssize_t start, Py_ssize_t end, int is_proper)
{
    Py_ssize_t before = reading->row_end;
    if (before < 0 || start != before + 1 || reading->plain[before] != ' ') {
        reading_end_row(reading);
        reading->row_start = start;
        reading->first_end = end;
    }
    reading->row_end = is_proper ? end : NOWHERE;
}

/* Add a word as everything that it is. */
static void
add_word(Reading *reading, Py_ssize_t start, Py_ssize_t end, unsigned marks)
{
    if (marks & (IS_PROPER | IS_HALF_PROPER)) {
        reading_add_to_row(reading, start, end, (marks & IS_PROPER) != 0);
    }
    if (marks & IS_PASCAL) {
        reading_add_slice(reading, PASCAL_KIND, start, end);
    } else if (marks & IS_CAMEL) {
        reading_add_slice(reading, CAMEL_KIND, start, end);
    } else if (marks & IS_SNAKE) {
        reading_add_slice(reading, SNAKE_KIND, start, end);
    }
    if (marks & IS_SHORT) {
        reading_add_short(reading, start, end);
    }
}

Py_ssize_t
reading_word(Reading *reading, Py_ssize_t start)
{
    const unsigned char *of_byte = reading->tables->of_byte, *plain = reading->plain;
    const unsigned char *steps = reading->tables->steps, *marks = reading->tables->marks;
    unsigned state = 0, kind = of_byte[plain[start]];
    Py_ssize_t place = start;
    if (kind == DIGIT || plain[start] == 'v') {
        reading_add_numbers(reading, start);
    }
    while (kind > JOINT) {
        if (kind == DIGIT && marks[state] & ENDS_IN_IDEOGRAPH) {
            reading_add_quantity(reading, place, skip_digits(reading, place));
        }
        state = steps[state * CLASSES + kind];
        place++;
        kind = of_byte[plain[place]];
    }
    if (marks[state]) {
        add_word(reading, start, place, marks[state]);
    }
    return place;
}
