/* A summary of texts: the best sentence of each paragraph first, then the others while they fit. */
#include <stdlib.h>

#include "scan.h"
#include "sentences.h"

typedef struct {
    const Sentence *sentence;
    Py_ssize_t cost; /* in characters, with a joint */
    size_t order;    /* among equals, so that a few of them already cover a text */
    int is_lead;     /* the best of its paragraph */
} Ranked;

typedef struct {
    Text *texts;
    Py_ssize_t text_count; /* those that have been opened */
    Sentences found;
    Ranked *ranked;
    PyObject **chosen; /* what each sentence says, if it was chosen */
    PyObject *taken;   /* a set of what was chosen, if anything may be said twice */
    Py_ssize_t joint;
    Py_ssize_t left; /* characters */
} Summary;

static int
compare(const void *one, const void *other)
{
    const Ranked *left = one, *right = other;
    if (left->is_lead != right->is_lead) {
        return left->is_lead ? -1 : 1;
    }
    if (left->sentence->score != right->sentence->score) {
        return left->sentence->score > right->sentence->score ? -1 : 1;
    }
    return left->order < right->order ? -1 : 1;
}

/* Return the place with its bits the other way round: first, middle, first quarter and so on. */
static size_t
spread(size_t place, size_t count)
{
    size_t order = 0;
    for (size_t bound = 1; bound < count; bound *= 2) {
        order = order * 2 + place % 2;
        place /= 2;
    }
    return order;
}

/* Return how long a sentence is once it is spelled. */
static Py_ssize_t
spelled_size(const Sentence *sentence)
{
    Py_ssize_t size = sentence->end - sentence->start;
    for (Py_ssize_t place = sentence->start + 1; sentence->is_wrapped && place < sentence->end;
         place++) {
        size -= is_space_at(sentence->text, place) && is_space_at(sentence->text, place - 1);
    }
    return size;
}

static void
find_leads(Summary *summary)
{
    size_t count = (size_t)summary->found.count;
    Ranked *lead = summary->ranked;
    for (size_t place = 0; place < count; place++) {
        const Sentence *sentence = summary->found.items + place;
        Ranked *ranked = summary->ranked + place;
        Py_ssize_t cost = spelled_size(sentence) + summary->joint;
        *ranked = (Ranked){sentence, cost, spread(place, count), 0};
        if (sentence->paragraph != lead->sentence->paragraph) {
            lead = ranked;
        } else if (sentence->score > lead->sentence->score) {
            lead->is_lead = 0;
            lead = ranked;
        }
        lead->is_lead = 1;
    }
}

/* Put the sentences that may be taken into the order in which they are tried; count them. */
static size_t
rank(Summary *summary)
{
    size_t count = 0;
    find_leads(summary);
    for (Py_ssize_t place = 0; place < summary->found.count; place++) {
        const Ranked *ranked = summary->ranked + place;
        if (ranked->sentence->score >= 0 && ranked->cost <= summary->left) {
            summary->ranked[count++] = *ranked;
        }
    }
    qsort(summary->ranked, count, sizeof(Ranked), compare);
    return count;
}

/* Take a sentence unless something else says the same. */
static int
take(Summary *summary, const Sentence *sentence)
{
    PyObject *said = spell_sentence(sentence);
    if (said == NULL) {
        return -1;
    }
    if (summary->taken != NULL) {
        Py_ssize_t known = PySet_GET_SIZE(summary->taken);
        int has_failed = PySet_Add(summary->taken, said) < 0;
        if (PySet_GET_SIZE(summary->taken) == known) {
            Py_DECREF(said);
            return has_failed ? -1 : 0;
        }
    }
    summary->left -= PyUnicode_GET_LENGTH(said) + summary->joint;
    summary->chosen[sentence - summary->found.items] = said;
    return 0;
}

/* Let each of several texts have a word in: its best sentence, the first one on a tie. Of those
 * that are the same, the last one is taken. */
static int
take_best_of_each(Summary *summary)
{
    const Sentence *items = summary->found.items, *next = items + summary->found.count;
    while (next > items) {
        const Sentence *best = --next;
        while (next > items && next[-1].text == best->text) {
            next--;
            best = next->score >= best->score ? next : best;
        }
        if (take(summary, best) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Tell whether the sentences may have something twice: those of a single text were seen to be
 * different before wrapped lines were joined. */
static int
may_say_twice(const Summary *summary)
{
    int is_any_wrapped = 0;
    for (Py_ssize_t place = 0; place < summary->found.count; place++) {
        is_any_wrapped |= summary->found.items[place].is_wrapped;
    }
    return summary->text_count > 1 || is_any_wrapped;
}

/* Return the best sentence, the first one on a tie, or the beginning of it: one character more than
 * fits, at least. */
static PyObject *
spell_best(const Summary *summary)
{
    Py_ssize_t room = Py_MAX(summary->left - summary->joint, 0), size = 0;
    const Sentence *items = summary->found.items, *best = items;
    for (const Sentence *next = items; next < items + summary->found.count; next++) {
        best = next->score > best->score ? next : best;
    }
    Sentence part = *best;
    for (part.end = part.start; part.end < best->end && size <= room; part.end++) {
        int is_space = is_space_at(part.text, part.end);
        /* White space where it was wrapped becomes a blank once something stands behind it. */
        size += !part.is_wrapped || !is_space;
        size += part.is_wrapped && !is_space && part.end > part.start
                && is_space_at(part.text, part.end - 1);
    }
    return spell_sentence(&part);
}

/* Return what was chosen, in reading order. */
static PyObject *
join_chosen(const Summary *summary, PyObject *joint)
{
    PyObject *said = PyList_New(0);
    for (Py_ssize_t place = 0; said != NULL && place < summary->found.count; place++) {
        PyObject *chosen = summary->chosen[place];
        if (chosen != NULL && PyList_Append(said, chosen) < 0) {
            Py_CLEAR(said);
        }
    }
    PyObject *joined = said == NULL ? NULL : PyUnicode_Join(joint, said);
    Py_XDECREF(said);
    return joined;
}

/* Choose from the sentences that were found. */
static PyObject *
choose(Summary *summary, PyObject *joint)
{
    size_t count = (size_t)summary->found.count;
    Py_ssize_t room = summary->left;
    summary->ranked = PyMem_Malloc(count * sizeof(Ranked) + 1);
    summary->chosen = PyMem_Calloc(count + 1, sizeof(PyObject *));
    if (summary->ranked == NULL || summary->chosen == NULL) {
        return PyErr_NoMemory();
    }
    if (may_say_twice(summary) && (summary->taken = PySet_New(NULL)) == NULL) {
        return NULL;
    }
    if (summary->text_count > 1 && take_best_of_each(summary) < 0) {
        return NULL;
    }
    const Ranked *end = summary->ranked + rank(summary);
    for (const Ranked *next = summary->ranked; next < end; next++) {
        if (next->cost <= summary->left && take(summary, next->sentence) < 0) {
            return NULL;
        }
    }
    int is_any_chosen = summary->left < room;
    return count > 0 && !is_any_chosen ? spell_best(summary) : join_chosen(summary, joint);
}

static void
close_summary(Summary *summary)
{
    for (Py_ssize_t place = 0; summary->chosen != NULL && place < summary->found.count; place++) {
        Py_XDECREF(summary->chosen[place]);
    }
    for (Py_ssize_t number = 0; number < summary->text_count; number++) {
        close_text(summary->texts + number);
    }
    close_sentences(&summary->found);
    PyMem_Free(summary->chosen);
    PyMem_Free(summary->ranked);
    PyMem_Free(summary->texts);
    Py_XDECREF(summary->taken);
}

/* Find the sentences of all texts. */
static int
read_texts(Summary *summary, PyObject *texts, PyObject *cutting, PyObject *scoring)
{
    Py_ssize_t count = PyTuple_GET_SIZE(texts);
    summary->texts = PyMem_Malloc((size_t)count * sizeof(Text) + 1);
    if (summary->texts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    while (summary->text_count < count) {
        Text *text = summary->texts + summary->text_count;
        if (open_text(text, PyTuple_GET_ITEM(texts, summary->text_count)) < 0) {
            return -1;
        }
        summary->text_count++;
        if (read_sentences(text, cutting, scoring, &summary->found) < 0) {
            return -1;
        }
    }
    return 0;
}

PyObject *
scan_summary(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || !PyTuple_Check(args[0]) || !PyUnicode_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError,
                        "summary(texts, chars, joint, cutting, scoring) is wanted");
        return NULL;
    }
    Py_ssize_t chars = PyLong_AsSsize_t(args[1]);
    if (chars == -1 && PyErr_Occurred() != NULL) {
        return NULL;
    }
    Py_ssize_t joint = PyUnicode_GET_LENGTH(args[2]);
    /* The first sentence may have a joint as well. */
    Summary summary = {.joint = joint, .left = Py_MIN(chars, PY_SSIZE_T_MAX - joint) + joint};
    open_sentences(&summary.found);
    PyObject *joined = NULL;
    if (read_texts(&summary, args[0], args[3], args[4]) == 0) {
        joined = choose(&summary, args[2]);
    }
    close_summary(&summary);
    return joined;
}
