/* The signs of worth in a sentence, between the functions that read them. */
#ifndef REFOLD_SIGNS_H
#define REFOLD_SIGNS_H

#include "sentences.h"

/* Kinds of characters; vowels, consonants, capitals, digits and a line are in between. */
enum { JOINT = 1, LETTER = 8, IDEOGRAPH = 9, FOLDED = 10, ASK = 11, ASK_IDEOGRAPH = 12 };
enum { TABLED_KINDS = 0x10000 };

/* What a character does that is no step from one state of a run to the next, and some states. */
enum { CLOSED, JOINED, IDEOGRAPHIC, NUMBER, START, CAPS, DISGUISED, STATUS, ODD, QUANTITY };
enum { STATES = 29, STEP_ROW = 256 };

/* The places of all that is worth something, and of sizes. */
enum {
    QUANTITY_POINTS,
    SHORT_POINTS,
    PLACE_POINTS,
    ERROR_POINTS,
    EMPHASIS_POINTS,
    INFERENCE_POINTS,
    SIZE_POINTS,
    FILLER_PENALTY,
    SHORTEST_SIZE,
    LONGEST_SIZE,
    ALL_POINTS
};

/* What a word says about its sentence. */
enum { EMPHATIC = 1, INFERRING = 2, IN_PHRASE = 4 };
enum { ERROR_ENDS = 3, ERROR_END_SIZE = 5 };

/* The rules of `refold.scoring.feature_tables`, in their order. */
typedef struct {
    const unsigned char *kinds;
    const unsigned char *steps;
    const unsigned char *worths;
    const unsigned char *points;
    const unsigned char *error_ends;
    Words telling;
    Words statuses;
    Words units;
    Words fillers;
    Words negations;
    PyObject *undisguised;
    PyObject *phrase_flags;
    PyObject *unit_end;
    PyObject *is_filler;
} Rules;

/* Return the kind of any character. */
static inline unsigned
kind_of(const Rules *rules, Py_UCS4 code)
{
    unsigned kind = code < TABLED_KINDS ? rules->kinds[code] : ASK;
    if (kind < ASK) {
        return kind;
    }
    if (!Py_UNICODE_ISALNUM(code)) {
        return 0;
    }
    return kind == ASK ? LETTER : IDEOGRAPH;
}

enum { NO_QUANTITY = -1, FAILED = -2 };

/* Return where the quantity ends whose number begins at *place* of a sentence from *start* on.
 *
 * It is *place* itself if the quantity lies in one piece between blanks and commas: then it ends
 * with its run, and something longer may begin with it.
 */
Py_ssize_t quantity_end(const Text *text, const Rules *rules, Py_ssize_t place, Py_ssize_t start);

/* Add up the points of all signs in a part of the text; FAILED with an error if a rule fails. */
Py_ssize_t sign_points(const Text *text, const Rules *rules, Py_ssize_t start, Py_ssize_t end);

#endif
