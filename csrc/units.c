/* The sentences of a text as Python has them: places, scores, and what may be chosen from. */
#include "scan.h"
#include "sentences.h"

enum { TRACE_BITS = 12, TRACE_WORDS = 1 << (TRACE_BITS - 6) };

/* Return up to eight bytes as a number. */
static uint64_t
bytes_at(const char *bytes, size_t size)
{
    uint64_t number = 0;
    memcpy(&number, bytes, size < 8 ? size : 8);
    return number;
}

/* Tell at little cost whether a sentence may be there twice: same size, same beginning and end. */
static int
may_repeat(const Text *text, const Sentences *found, Py_ssize_t from)
{
    uint64_t seen[TRACE_WORDS] = {0};
    if (found->count - from > FEW_SENTENCES) {
        return 1;
    }
    for (Py_ssize_t number = from; number < found->count; number++) {
        const Sentence *sentence = found->items + number;
        const char *first = (const char *)text->data + sentence->start * text->kind;
        size_t size = (size_t)((sentence->end - sentence->start) * text->kind);
        uint64_t head = bytes_at(first, size);
        uint64_t tail = bytes_at(first + (size < 8 ? 0 : size - 8), size);
        uint64_t mixed = (head ^ (tail << 1 | tail >> 63)) * 0x9E3779B97F4A7C15u + size;
        unsigned trace = (unsigned)(mixed * 0x9E3779B97F4A7C15u >> (64 - TRACE_BITS));
        if (seen[trace >> 6] >> (trace & 63) & 1) {
            return 1;
        }
        seen[trace >> 6] |= (uint64_t)1 << (trace & 63);
    }
    return 0;
}

/* Leave out what is said again; return -1 with an error if that fails. */
static int
drop_repeats(const Text *text, Sentences *found, Py_ssize_t from)
{
    PyObject *seen = PySet_New(NULL);
    int has_failed = seen == NULL;
    Py_ssize_t kept = from;
    for (Py_ssize_t number = from; !has_failed && number < found->count; number++) {
        Sentence sentence = found->items[number];
        PyObject *said = PyUnicode_Substring(text->object, sentence.start, sentence.end);
        has_failed = said == NULL || PySet_Add(seen, said) < 0;
        Py_XDECREF(said);
        if (!has_failed && PySet_GET_SIZE(seen) > kept - from) {
            found->items[kept++] = sentence;
        }
    }
    Py_XDECREF(seen);
    found->count = kept;
    return has_failed ? -1 : 0;
}

int
read_sentences(const Text *text, PyObject *cutting, PyObject *scoring, Sentences *found)
{
    Py_ssize_t from = found->count;
    if (cut_sentences(text, cutting, found) < 0 || score_sentences(found, from, scoring) < 0) {
        return -1;
    }
    return may_repeat(text, found, from) ? drop_repeats(text, found, from) : 0;
}

PyObject *
spell_sentence(const Sentence *sentence)
{
    PyObject *said = PyUnicode_Substring(sentence->text->object, sentence->start, sentence->end);
    if (said == NULL || !sentence->is_wrapped) {
        return said;
    }
    PyObject *words = PyUnicode_Split(said, NULL, -1);
    PyObject *blank = PyUnicode_FromOrdinal(' ');
    Py_DECREF(said);
    said = words == NULL || blank == NULL ? NULL : PyUnicode_Join(blank, words);
    Py_XDECREF(blank);
    Py_XDECREF(words);
    return said;
}

/* Return texts, scores and paragraphs, a list of each. */
static PyObject *
columns_of(const Sentences *found)
{
    PyObject *texts = PyList_New(found->count);
    PyObject *scores = PyList_New(found->count);
    PyObject *paragraphs = PyList_New(found->count);
    int is_good = texts != NULL && scores != NULL && paragraphs != NULL;
    for (Py_ssize_t number = 0; is_good && number < found->count; number++) {
        const Sentence *sentence = found->items + number;
        PyObject *said = spell_sentence(sentence);
        PyObject *score = PyLong_FromSsize_t(sentence->score);
        PyObject *paragraph = PyLong_FromSsize_t(sentence->paragraph);
        is_good = said != NULL && score != NULL && paragraph != NULL;
        PyList_SET_ITEM(texts, number, said);
        PyList_SET_ITEM(scores, number, score);
        PyList_SET_ITEM(paragraphs, number, paragraph);
    }
    PyObject *columns = is_good ? PyTuple_Pack(3, texts, scores, paragraphs) : NULL;
    Py_XDECREF(paragraphs);
    Py_XDECREF(scores);
    Py_XDECREF(texts);
    return columns;
}

static PyObject *
spans_of(const Sentences *found)
{
    PyObject *spans = PyList_New(found->count);
    for (Py_ssize_t number = 0; spans != NULL && number < found->count; number++) {
        const Sentence *sentence = found->items + number;
        PyObject *span = Py_BuildValue("nnn", sentence->start, sentence->end, sentence->paragraph);
        if (span == NULL) {
            Py_CLEAR(spans);
        } else {
            PyList_SET_ITEM(spans, number, span);
        }
    }
    return spans;
}

static PyObject *
scores_of(const Sentences *found)
{
    PyObject *scores = PyList_New(found->count);
    for (Py_ssize_t number = 0; scores != NULL && number < found->count; number++) {
        PyObject *score = PyLong_FromSsize_t(found->items[number].score);
        if (score == NULL) {
            Py_CLEAR(scores);
        } else {
            PyList_SET_ITEM(scores, number, score);
        }
    }
    return scores;
}

/* Read spans that somebody gives, each inside the text. */
static int
take_spans(const Text *text, PyObject *given, Sentences *found)
{
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(given); number++) {
        Py_ssize_t start, end, paragraph;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(given, number), "nnn", &start, &end, &paragraph)) {
            return -1;
        }
        if (start < 0 || start > end || end > text->size) {
            PyErr_SetString(PyExc_ValueError, "a sentence must lie in its text");
            return -1;
        }
        if (add_sentence(found, (Sentence){text, start, end, paragraph, 0, 0}) < 0) {
            return -1;
        }
    }
    return 0;
}

PyObject *
scan_units(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Text text;
    Sentences found;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "units(text, cutting, scoring) is wanted");
        return NULL;
    }
    if (open_text(&text, args[0]) < 0) {
        return NULL;
    }
    open_sentences(&found);
    int has_failed = read_sentences(&text, args[1], args[2], &found) < 0;
    PyObject *columns = has_failed ? NULL : columns_of(&found);
    close_sentences(&found);
    close_text(&text);
    return columns;
}

PyObject *
scan_sentences(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Text text;
    Sentences found;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "sentences(text, cutting) is wanted");
        return NULL;
    }
    if (open_text(&text, args[0]) < 0) {
        return NULL;
    }
    open_sentences(&found);
    PyObject *spans = cut_sentences(&text, args[1], &found) == 0 ? spans_of(&found) : NULL;
    close_sentences(&found);
    close_text(&text);
    return spans;
}

PyObject *
scan_scores(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Text text;
    Sentences found;
    if (count != 3 || !PyList_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "scores(text, sentences, scoring) is wanted");
        return NULL;
    }
    if (open_text(&text, args[0]) < 0) {
        return NULL;
    }
    open_sentences(&found);
    PyObject *scores = NULL;
    if (take_spans(&text, args[1], &found) == 0 && score_sentences(&found, 0, args[2]) == 0) {
        scores = scores_of(&found);
    }
    close_sentences(&found);
    close_text(&text);
    return scores;
}
