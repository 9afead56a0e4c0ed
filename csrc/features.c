/* The signs of worth in a sentence, run by run.
 *
 * A run is a stretch of word characters, and goes through a machine that is spelled out in
 * `refold.scoring.feature_tables`. What reaches over several runs, a place in a file or the name of an
 * error, takes back the points that its parts have got. The patterns of `refold.scoring.sentence_features` say
 * what is right.
 */
#include "features.h"

enum { SHORTEST_SHORT = 3 };
enum { VOWELS = 0x2208222 }; /* a, e, i, o, u and y: the bits that their lower five bits say */

/* How far something like src/app.py:12: has come. */
enum { NOTHING, FIRST_PART, AFTER_DOT, LATER_PART, AFTER_COLON, LINE_NUMBER, NO_PLACE };

typedef struct {
    const Text *text;
    const Rules *rules;
    Py_ssize_t start;
    Py_ssize_t end;    /* less than 0 once a rule has failed: there is no more to read */
    Py_ssize_t points; /* without those for emphasis and inference */
    Py_ssize_t held;   /* the points before the run */
    Py_ssize_t before_place;
    Py_ssize_t before_number; /* it may be the first part of another place */
    Py_ssize_t before_error;  /* less than 0 where nothing may be one */
    unsigned flags;
    int step;
} Tally;

/* A run: where it was opened, where a sign may begin in it, which is there or after an ideograph,
 * and where it ends. */
typedef struct {
    Py_ssize_t opened;
    Py_ssize_t first;
    Py_ssize_t end;
    unsigned state;
} Run;

/* Ask the rule whether the phrase is there that is known by the word at *place*. */
static unsigned
phrase_flags(Tally *tally, const unsigned char *known, Py_ssize_t place)
{
    if (tally->end < 0) {
        return 0;
    }
    PyObject *said = PyObject_CallFunction(tally->rules->phrase_flags, "Onns#n",
                                           tally->text->object, tally->start, place,
                                           (const char *)known + 2, (Py_ssize_t)known[0],
                                           tally->end);
    long flags = said == NULL ? -1 : PyLong_AsLong(said);
    Py_XDECREF(said);
    if (flags == -1 && PyErr_Occurred() != NULL) {
        tally->end = FAILED;
        return 0;
    }
    return (unsigned)flags;
}

/* See whether a word of *size* letters at *place* emphasizes or infers. */
static inline void
note_word(Tally *tally, const unsigned char *letters, Py_ssize_t size, Py_ssize_t place)
{
    const unsigned char *known = find_word(&tally->rules->telling, letters, size);
    if (known != NULL) {
        unsigned flags = known[1];
        tally->flags |= flags == IN_PHRASE ? phrase_flags(tally, known, place) : flags;
    }
}

/* Tell whether a word is an abbreviation: consonants only. */
static int
is_short(const unsigned char *letters, Py_ssize_t size)
{
    for (Py_ssize_t place = 0; place < size; place++) {
        if (!is_letter(letters[place]) || (VOWELS >> (letters[place] & LETTER_BITS) & 1)) {
            return 0;
        }
    }
    return size >= SHORTEST_SHORT;
}

/* Return the points for a run with letters that are from A to Z only where case is ignored. */
static Py_ssize_t
disguised_worth(Tally *tally, const Run *run)
{
    if (tally->end < 0) {
        return 0;
    }
    Py_ssize_t size = run->end - run->first;
    PyObject *said = PyUnicode_Substring(tally->text->object, run->first, run->end);
    PyObject *plain = said == NULL ? NULL : PyObject_CallOneArg(tally->rules->undisguised, said);
    Py_XDECREF(said);
    if (plain == NULL) {
        tally->end = FAILED;
        return 0;
    }
    Py_ssize_t worth = 0;
    if (PyUnicode_Check(plain) && PyUnicode_IS_ASCII(plain)
        && PyUnicode_GET_LENGTH(plain) == size) {
        const unsigned char *letters = PyUnicode_1BYTE_DATA(plain);
        if (run->first == run->opened) {
            note_word(tally, letters, size, run->first);
        }
        if (is_short(letters, size)) {
            worth = tally->rules->points[SHORT_POINTS];
        }
    }
    Py_DECREF(plain);
    return worth;
}

/* Return the points for a run alone, and see whether it emphasizes or infers. */
static Py_ssize_t
run_worth(Tally *tally, const Run *run)
{
    if (run->state == DISGUISED) {
        return disguised_worth(tally, run);
    }
    const Rules *rules = tally->rules;
    const unsigned char *letters = tally->text->plain + run->first;
    Py_ssize_t size = run->end - run->first;
    if (run->first == run->opened) {
        note_word(tally, letters, size, run->first);
    }
    if (run->state == CAPS) {
        return find_word(&rules->statuses, letters, size) ? rules->worths[STATUS] : 0;
    }
    return rules->worths[run->state];
}

/* Remember where something with a capital began: it may be an error. */
static void
note_capital(Tally *tally, Py_ssize_t first)
{
    if (tally->before_error < 0 && is_capital(tally->text->plain[first])) {
        tally->before_error = tally->points;
    }
}

static int
is_number(const Text *text, Py_ssize_t start, Py_ssize_t end)
{
    while (start < end && is_digit(text->plain[start])) {
        start++;
    }
    return start == end;
}

/* Take a run as a part of a place. */
static void
add_part(Tally *tally, const Run *run)
{
    if (tally->step == AFTER_DOT) {
        tally->step = LATER_PART;
    } else if (tally->step == AFTER_COLON && is_number(tally->text, run->opened, run->end)) {
        tally->step = LINE_NUMBER;
        tally->before_number = tally->held;
    } else if (tally->step == NOTHING || tally->step == AFTER_COLON) {
        tally->step = FIRST_PART;
        tally->before_place = tally->held;
    }
}

static int
ends_error(const Text *text, const Rules *rules, Py_ssize_t end)
{
    for (int place = 0; end >= ERROR_END_SIZE && place < ERROR_ENDS; place++) {
        const unsigned char *error_end = rules->error_ends + place * ERROR_END_SIZE;
        if (memcmp(text->plain + end - ERROR_END_SIZE, error_end, ERROR_END_SIZE) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Take a colon, which ends errors and places. */
static void
join_colon(Tally *tally, Py_ssize_t place)
{
    const unsigned char *points = tally->rules->points;
    if (tally->before_error >= 0 && ends_error(tally->text, tally->rules, place)) {
        tally->points = tally->before_error + points[ERROR_POINTS];
    }
    tally->before_error = -1;
    if (tally->step == LINE_NUMBER) {
        tally->points = tally->before_place + points[PLACE_POINTS];
    }
    tally->step = tally->step == LATER_PART ? AFTER_COLON : NOTHING;
}

/* Take a dot, slash, dash or colon between parts. */
static void
join(Tally *tally, Py_ssize_t place)
{
    unsigned sign = tally->text->plain[place];
    if (sign == ':') {
        join_colon(tally, place);
        return;
    }
    if (tally->step == LINE_NUMBER) {
        tally->step = FIRST_PART;
        tally->before_place = tally->before_number;
    }
    if (sign == '.') {
        int is_after_part = tally->step == FIRST_PART || tally->step == LATER_PART;
        tally->step = is_after_part ? AFTER_DOT : NO_PLACE;
        return;
    }
    tally->before_error = -1;
    if (tally->step == AFTER_DOT) {
        tally->step = LATER_PART;
    } else if (tally->step == NOTHING || tally->step == AFTER_COLON) {
        tally->step = FIRST_PART;
        tally->before_place = tally->points;
    }
}

/* Take a run, and the dot, slash, dash or colon at its end. */
static void
join_run(Tally *tally, const Run *run)
{
    Py_ssize_t worth = 0;
    if (run->end > run->first) {
        worth = run_worth(tally, run);
    }
    if (run->end > run->opened) {
        if (run->end > run->first && (run->state != CAPS || worth == 0)) {
            note_capital(tally, run->first);
        }
        add_part(tally, run);
    }
    tally->points += worth;
    join(tally, run->end);
    tally->held = tally->points;
}

/* Take a run that has nothing to do with the next one. */
static void
end_run(Tally *tally, const Run *run)
{
    if (run->end > run->first) {
        tally->points += run_worth(tally, run);
    }
    tally->held = tally->points;
    tally->step = NOTHING;
    tally->before_error = -1;
}

/* Take an ideograph, which belongs to a run, but lets a sign begin after it. */
static void
add_ideograph(Tally *tally, const Run *run)
{
    if (run->state == QUANTITY) {
        tally->points += tally->rules->points[QUANTITY_POINTS];
    } else if (run->end > run->first) {
        note_capital(tally, run->first);
    }
}

/* Take the number with which a run begins; return where to go on in the run.
 *
 * With a number and the next word, its unit, nothing else can begin. */
static Py_ssize_t
read_number(Tally *tally, Run *run, Py_ssize_t place)
{
    Py_ssize_t end = quantity_end(tally->text, tally->rules, place, tally->start);
    if (end == FAILED) {
        tally->end = FAILED;
    }
    run->state = end == place ? QUANTITY : ODD;
    if (end <= place) {
        return place + 1;
    }
    tally->points += tally->rules->points[QUANTITY_POINTS];
    tally->step = NO_PLACE;
    tally->before_error = -1;
    return end;
}

/* Read the run at *start* and those that may belong to it; return where an ordinary one may be.
 *
 * What joins them counts only if something goes on after it in the sentence. */
static Py_ssize_t
read_runs(Tally *tally, Py_ssize_t start)
{
    const Text *text = tally->text;
    const Rules *rules = tally->rules;
    Run run = {start, start, start, START};
    Py_ssize_t place = start;
    while (place < tally->end) {
        unsigned byte = text->plain[place];
        unsigned column = byte < BEYOND ? byte : BEYOND + kind_of(rules, code_at(text, place));
        unsigned after = rules->steps[run.state * STEP_ROW + column];
        run.end = place;
        if (after == CLOSED) {
            break;
        }
        if (after == NUMBER) {
            place = read_number(tally, &run, place);
            continue;
        }
        place++;
        if (after == JOINED) {
            join_run(tally, &run);
            run = (Run){place, place, place, START};
        } else if (after == IDEOGRAPHIC) {
            add_ideograph(tally, &run);
            run.first = place;
            run.state = START;
        } else {
            run.state = after;
        }
    }
    run.end = place;
    end_run(tally, &run);
    return place + 1;
}

/* Read a sentence. Most runs are ordinary words, small letters with or without a capital, between
 * blanks; their letters are all that has to be known of them. */
static void
read_sentence(Tally *tally)
{
    const Rules *rules = tally->rules;
    const unsigned char *plain = tally->text->plain, *kinds = rules->kinds;
    Py_ssize_t place = tally->start;
    while (place < tally->end) {
        Py_ssize_t opened = place;
        unsigned letters = 0, byte = plain[place];
        if (is_capital(byte)) {
            letters = 1u << (byte & LETTER_BITS);
            byte = plain[++place];
        }
        while (is_small(byte)) {
            letters |= 1u << (byte & LETTER_BITS);
            byte = plain[++place];
        }
        unsigned kind = kinds[byte];
        if (kind > JOINT || (kind == JOINT && (byte == ':' || plain[place + 1] > ' '))) {
            place = read_runs(tally, opened);
            continue;
        }
        Py_ssize_t size = place - opened;
        place++;
        note_word(tally, plain + opened, size, opened);
        if (!(letters & VOWELS) & (size >= SHORTEST_SHORT)) { /* seldom, but each alone is not */
            tally->points += rules->points[SHORT_POINTS];
            tally->held = tally->points;
        }
    }
}

Py_ssize_t
sign_points(const Text *text, const Rules *rules, Py_ssize_t start, Py_ssize_t end)
{
    Tally tally = {.text = text, .rules = rules, .start = start, .end = end, .before_error = -1};
    read_sentence(&tally);
    if (tally.end == FAILED) {
        return FAILED;
    }
    Py_ssize_t points = tally.points;
    points += tally.flags & EMPHATIC ? rules->points[EMPHASIS_POINTS] : 0;
    points += tally.flags & INFERRING ? rules->points[INFERENCE_POINTS] : 0;
    return points;
}
