/* What sentences are worth: their signs, their size, and that they do not only fill. */
#include "features.h"

typedef enum { NO, YES, IN_DOUBT } Answer;
enum { OPENING = 32 }; /* characters: no filler is longer */

/* The places of the rules. */
enum {
    KINDS_RULE,
    STEPS_RULE,
    WORTHS_RULE,
    POINTS_RULE,
    ERRORS_RULE,
    TELLING_RULE,
    STATUSES_RULE,
    UNITS_RULE,
    FILLERS_RULE,
    NEGATIONS_RULE,
    UNDISGUISED_RULE,
    PHRASE_RULE,
    UNIT_RULE,
    FILLER_RULE,
    ALL_RULES
};

static int
read_rules(Rules *rules, PyObject *given)
{
    if (!PyTuple_CheckExact(given) || PyTuple_GET_SIZE(given) != ALL_RULES) {
        PyErr_SetString(PyExc_TypeError, "the rules of scores are wanted");
        return -1;
    }
    rules->kinds = table_of(PyTuple_GET_ITEM(given, KINDS_RULE), TABLED_KINDS);
    rules->steps = table_of(PyTuple_GET_ITEM(given, STEPS_RULE), STATES * STEP_ROW);
    rules->worths = table_of(PyTuple_GET_ITEM(given, WORTHS_RULE), STATES);
    rules->points = table_of(PyTuple_GET_ITEM(given, POINTS_RULE), ALL_POINTS);
    rules->error_ends = table_of(PyTuple_GET_ITEM(given, ERRORS_RULE), ERROR_ENDS * ERROR_END_SIZE);
    if (!rules->kinds || !rules->steps || !rules->worths || !rules->points || !rules->error_ends
        || words_of(&rules->telling, PyTuple_GET_ITEM(given, TELLING_RULE)) < 0
        || words_of(&rules->statuses, PyTuple_GET_ITEM(given, STATUSES_RULE)) < 0
        || words_of(&rules->units, PyTuple_GET_ITEM(given, UNITS_RULE)) < 0
        || words_of(&rules->fillers, PyTuple_GET_ITEM(given, FILLERS_RULE)) < 0
        || words_of(&rules->negations, PyTuple_GET_ITEM(given, NEGATIONS_RULE)) < 0) {
        return -1;
    }
    rules->undisguised = PyTuple_GET_ITEM(given, UNDISGUISED_RULE);
    rules->phrase_flags = PyTuple_GET_ITEM(given, PHRASE_RULE);
    rules->unit_end = PyTuple_GET_ITEM(given, UNIT_RULE);
    rules->is_filler = PyTuple_GET_ITEM(given, FILLER_RULE);
    return 0;
}

/* Tell whether a sentence opens with a filler and a mark or white space behind it. */
static int
opens_as_filler(const Text *text, const Rules *rules, const Sentence *sentence)
{
    const unsigned char *opening = text->plain + sentence->start;
    const unsigned char *word = next_word(&rules->fillers, opening[0], NULL);
    for (; word != NULL; word = next_word(&rules->fillers, opening[0], word)) {
        Py_ssize_t after = sentence->start + word[0];
        if (after < sentence->end && begins_with(opening, word)) {
            Py_UCS4 code = code_at(text, after);
            if (code == ',' || code == '.' || code == '!' || code == '?'
                || Py_UNICODE_ISSPACE(code)) {
                return 1;
            }
        }
    }
    return 0;
}

/* Tell whether letters in disguise are among the first characters. */
static int
opens_disguised(const Text *text, const Rules *rules, const Sentence *sentence)
{
    Py_ssize_t place = sentence->start;
    for (; place < sentence->end && place - sentence->start < OPENING; place++) {
        if (text->plain[place] >= BEYOND && kind_of(rules, code_at(text, place)) == FOLDED) {
            return 1;
        }
    }
    return 0;
}

static inline int
is_word_byte(unsigned byte)
{
    return is_letter(byte) || is_digit(byte) || byte == '_';
}

/* Tell whether *place* is the apostrophe of a word that ends in n't. */
static int
is_apostrophe_of_not(const unsigned char *plain, Py_ssize_t place, Py_ssize_t start)
{
    return plain[place] == '\'' && place >= start + 2 && is_word_byte(plain[place - 2])
           && lowered(plain[place - 1]) == 'n' && lowered(plain[place + 1]) == 't'
           && !is_word_byte(plain[place + 2]);
}

/* Tell whether a sentence negates; what is beyond ASCII is left to the rule. */
static Answer
negates(const Text *text, const Rules *rules, const Sentence *sentence)
{
    const unsigned char *plain = text->plain;
    Py_ssize_t place = sentence->start;
    for (Py_ssize_t any = place; any < sentence->end; any++) {
        if (plain[any] >= BEYOND) {
            return IN_DOUBT;
        }
    }
    while (place < sentence->end) {
        Py_ssize_t first = place;
        while (place < sentence->end && is_word_byte(plain[place])) {
            place++;
        }
        if (place > first && find_word(&rules->negations, plain + first, place - first)) {
            return YES;
        }
        if (place < sentence->end && is_apostrophe_of_not(plain, place, sentence->start)) {
            return YES;
        }
        place++;
    }
    return NO;
}

/* Tell whether a sentence only fills; -1 with an error if the rule fails that is asked in doubt. */
static int
is_filler(const Text *text, const Rules *rules, const Sentence *sentence)
{
    Answer answer = NO;
    if (opens_as_filler(text, rules, sentence)) {
        Answer is_negated = negates(text, rules, sentence);
        answer = is_negated == IN_DOUBT ? IN_DOUBT : is_negated == YES ? NO : YES;
    } else if (!PyUnicode_IS_ASCII(text->object) && opens_disguised(text, rules, sentence)) {
        answer = IN_DOUBT;
    }
    if (answer != IN_DOUBT) {
        return answer == YES;
    }
    PyObject *said = PyObject_CallFunction(rules->is_filler, "Onn", text->object, sentence->start,
                                           sentence->end);
    int is_true = said == NULL ? -1 : PyObject_IsTrue(said);
    Py_XDECREF(said);
    return is_true;
}

int
score_sentences(Sentences *found, Py_ssize_t from, PyObject *scoring)
{
    Rules rules;
    if (read_rules(&rules, scoring) < 0) {
        return -1;
    }
    for (Py_ssize_t number = from; number < found->count; number++) {
        Sentence *sentence = found->items + number;
        const Text *text = sentence->text;
        Py_ssize_t points = sign_points(text, &rules, sentence->start, sentence->end);
        int fills = points == FAILED ? -1 : is_filler(text, &rules, sentence);
        if (fills < 0) {
            return -1;
        }
        const unsigned char *worth = rules.points;
        Py_ssize_t size = sentence->end - sentence->start;
        int has_good_size = worth[SHORTEST_SIZE] <= size && size <= worth[LONGEST_SIZE];
        points += has_good_size ? worth[SIZE_POINTS] : 0;
        sentence->score = points - (fills ? worth[FILLER_PENALTY] : 0);
    }
    return 0;
}
