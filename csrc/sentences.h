/* The sentences of a text, between the functions that find, score and spell them. */
#ifndef REFOLD_SENTENCES_H
#define REFOLD_SENTENCES_H

#include "plain.h"

enum { FEW_SENTENCES = 32 };

typedef struct {
    Py_ssize_t start;
    Py_ssize_t end;
    Py_ssize_t paragraph;
    Py_ssize_t score;
} Sentence;

typedef struct {
    Sentence *items;
    Py_ssize_t count;
    Py_ssize_t room;
    Sentence few[FEW_SENTENCES]; /* most texts have no more */
} Sentences;

static inline void
open_sentences(Sentences *found)
{
    found->items = found->few;
    found->count = 0;
    found->room = FEW_SENTENCES;
}

static inline void
close_sentences(Sentences *found)
{
    if (found->items != found->few) {
        PyMem_Free(found->items);
    }
}

/* Add a sentence; return -1 with an error if there is no room for it. */
int add_sentence(Sentences *found, Py_ssize_t start, Py_ssize_t end, Py_ssize_t paragraph);

/* Find the sentences of a text by *rules*, see `refold.text.sentence_tables`. */
int cut_sentences(const Text *text, PyObject *rules, Sentences *found);

/* Score the sentences of a text by *rules*, see `refold.scoring.sign_tables`. */
int score_sentences(const Text *text, PyObject *rules, Sentences *found);

#endif
