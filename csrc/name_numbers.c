/* Names that are more than a word: quantities, versions, paths. */
#include "names.h"

enum { LONGEST_UNIT = 9, LONGEST_EXTENSION = 6, MOST_PARTS = 3 };

static inline int
is_ideograph(unsigned byte)
{
    return byte == BEYOND + IDEOGRAPH || byte == BEYOND + MARK;
}

/* Whether a character may belong to a unit, though it is beyond ASCII: some count as ASCII letters
 * where case is ignored, and microseconds have a letter of their own. */
static inline int
may_be_of_unit(unsigned byte)
{
    return byte >= BEYOND && byte != BEYOND + IDEOGRAPH && byte != BEYOND + OTHER;
}

/* Ask the pattern itself where a quantity ends. */
static Py_ssize_t
ask_quantity_end(Reading *reading, Py_ssize_t start)
{
    PyObject *match_at = reading->tables->match_quantity;
    PyObject *match = PyObject_CallFunction(match_at, "On", reading->text, start);
    if (match == Py_None) {
        Py_DECREF(match);
        return NOWHERE;
    }
    PyObject *number = match == NULL ? NULL : PyObject_CallMethod(match, "end", NULL);
    Py_ssize_t end = number == NULL ? NOWHERE : PyLong_AsSsize_t(number);
    reading->has_failed = PyErr_Occurred() != NULL;
    Py_XDECREF(match);
    Py_XDECREF(number);
    return end;
}

/* Where the unit of the number from start to place ends, or NOWHERE. */
static Py_ssize_t
unit_end(Reading *reading, Py_ssize_t start, Py_ssize_t place)
{
    const unsigned char *plain = reading->plain;
    if (plain[place] == '%') {
        return place + 1;
    }
    if (is_ideograph(plain[place])) {
        return is_ideograph(plain[place + 1]) ? place + 2 : place + 1;
    }
    if (plain[place] == ' ') {
        place++;
    }
    unsigned char unit[LONGEST_UNIT + 1];
    Py_ssize_t length = 0;
    while (length <= LONGEST_UNIT && is_letter(plain[place + length])) {
        unit[length] = plain[place + length] | 32;
        length++;
    }
    Py_ssize_t end = place + length;
    if (class_at(reading, end) > JOINT) {
        return may_be_of_unit(plain[end]) ? ask_quantity_end(reading, start) : NOWHERE;
    }
    if (length == 0) {
        return NOWHERE;
    }
    Letters letters = {unit, length, PyUnicode_1BYTE_KIND};
    return known_find(reading->known, letters)->flags & IS_UNIT ? end : NOWHERE;
}

void
reading_add_quantity(Reading *reading, Py_ssize_t start, Py_ssize_t end)
{
    const unsigned char *plain = reading->plain;
    while ((plain[end] == '.' || plain[end] == ',') && is_digit(plain[end + 1])) {
        end = skip_digits(reading, end + 1);
    }
    if (!reading->has_failed) {
        end = unit_end(reading, start, end);
        if (end > 0) {
            reading_add_slice(reading, QUANTITY_KIND, start, end);
        }
    }
}

static void
add_version(Reading *reading, Py_ssize_t start, Py_ssize_t end)
{
    const unsigned char *plain = reading->plain;
    int parts = 1;
    while (parts < MOST_PARTS && plain[end] == '.' && is_digit(plain[end + 1])) {
        end = skip_digits(reading, end + 1);
        parts++;
    }
    if (parts > 1 && plain[end] != '.' && class_at(reading, end) <= JOINT) {
        reading_add_slice(reading, VERSION_KIND, start, end);
    }
}

void
reading_add_numbers(Reading *reading, Py_ssize_t start)
{
    unsigned before = byte_before(reading, start);
    if (before == '.' || before == ',') {
        return;
    }
    if (is_digit(reading->plain[start])) {
        Py_ssize_t end = skip_digits(reading, start);
        reading_add_quantity(reading, start, end);
        add_version(reading, start, end);
    } else if (is_digit(reading->plain[start + 1])) {
        add_version(reading, start, skip_digits(reading, start + 1));
    }
}

/* Where the part of a path ends that begins there. */
static Py_ssize_t
skip_part(const Reading *reading, Py_ssize_t place)
{
    while (class_at(reading, place) > JOINT || reading->plain[place] == '-') {
        place++;
    }
    return place;
}

/* Whether a part of a path is a dot and a few ASCII letters and digits. */
static int
is_extension(const Reading *reading, Py_ssize_t start, Py_ssize_t end)
{
    const unsigned char *plain = reading->plain;
    if (plain[start - 1] != '.' || !is_letter(plain[start]) || end - start > LONGEST_EXTENSION) {
        return 0;
    }
    Py_ssize_t place = start + 1;
    while (place < end && (is_letter(plain[place]) || is_digit(plain[place]))) {
        place++;
    }
    return place == end;
}

void
reading_add_path(Reading *reading, Py_ssize_t start)
{
    const unsigned char *plain = reading->plain;
    Py_ssize_t place = start;
    while (plain[place] == '.' && place < start + 2) {
        place++;
    }
    Py_ssize_t first = plain[place] == '/' ? place + 1 : start;
    Py_ssize_t part = first, last = first, end = first;
    while ((place = skip_part(reading, part)) > part) {
        last = part;
        end = place;
        if (plain[place] != '.' && plain[place] != '/') {
            break;
        }
        part = place + 1;
    }
    if (last > first && plain[end] != '/' && is_extension(reading, last, end)) {
        reading_add_slice(reading, PATH_KIND, start, end);
    }
}
