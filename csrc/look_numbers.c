/* The numbers of a text: what they may be by their length and by what stands around them. */
#include "look.h"

enum {
    PHONE_DIGITS = 10,
    PHONE_END = 4, /* the least digits that come last, together or with others */
    PHONE_GAP = 2, /* the most that divides one group of digits from the next */
    STATUS_DIGITS = 3,
    MAX_REPLY = 12, /* the most between "status" and its number: " code", " is" and four signs */
};

/* Tell whether a unit may stand there; those that begin beyond ASCII are all alike. */
static int
is_unit(const Look *look, Py_ssize_t place)
{
    if (look->bytes[place] == BEYOND) {
        return foreign_at(look, place) == FOREIGN_UNIT;
    }
    return kind_at(look, place) == LETTER
           && (term_of(look->tables, word_at(look->bytes + place).key).flags & UNIT) != 0;
}

/* Tell whether a unit may follow a number, perhaps after a blank, which may be beyond ASCII. */
static int
has_unit(const Look *look, Py_ssize_t end)
{
    unsigned after = kind_at(look, end);
    return (after >= LETTER && is_unit(look, end))
           || (after == BLANK && is_unit(look, end + 1))
           || (after == FOREIGN && (is_unit(look, end) || is_unit(look, end + 1)));
}

/* Tell whether a number whose last digits begin there is no part of something else. */
static int
is_whole(const Look *look, Py_ssize_t start)
{
    if (look->bytes[start - 1] == '.' && look->number == start - 1) {
        start -= look->digits + 1;
    }
    unsigned char before = look->bytes[start - 1];
    return kind_at(look, start - 1) != LETTER && before != '_' && before != '.' && before != ',';
}

/* Tell whether the word before a number may be "step". */
static int
is_step(const Look *look, Py_ssize_t start)
{
    return start == look->indent
           || (kind_at(look, start - 1) == BLANK && (look->bytes[start - 2] | 0x20) == 'p');
}

Py_ssize_t
read_number(Look *look, Py_ssize_t start)
{
    Py_ssize_t end = start + 1;
    while (kind_at(look, end) == DIGIT) {
        end++;
    }
    Py_ssize_t count = end - start;
    unsigned after = kind_at(look, end);
    look->grouped = count + (start - look->number <= PHONE_GAP ? look->grouped : 0);
    if (count >= PHONE_END && look->grouped >= PHONE_DIGITS) {
        look->signs |= PHONE;
    }
    if (count == STATUS_DIGITS && look->reply >= 0 && start - look->reply <= MAX_REPLY) {
        look->signs |= HTTP_ERROR;
    }
    if (look->bytes[end] == '.' && kind_at(look, end + 1) == DIGIT) {
        look->signs |= IP_OR_SEMVER;
        if ((look->bytes[start - 1] | 0x20) == 'v') {
            look->signs |= VERSION_NUMBER;
        } else if (look->bytes[start - 1] == '/') { /* HTTP/1.1 */
            look->reply = end + 2;
        }
    }
    if ((after == STOP || after == COLON || after == SPECIAL) && is_step(look, start)) {
        look->steps++;
    }
    if (!(look->signs & NUMERIC_WITH_UNITS) && has_unit(look, end) && is_whole(look, start)) {
        look->signs |= NUMERIC_WITH_UNITS;
    }
    look->digits = count;
    look->number = end;
    return end;
}
