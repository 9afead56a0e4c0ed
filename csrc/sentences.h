/* The sentences of a text, between the functions that find, score and spell them. */
#ifndef REFOLD_SENTENCES_H
#define REFOLD_SENTENCES_H

#include "plain.h"

enum { FEW_SENTENCES = 32 };

typedef struct {
    const Text *text;
    Py_ssize_t start;
    Py_ssize_t end;
    Py_ssize_t paragraph;
    int is_wrapped; /* there are line breaks in it */
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

/* All of these return -1 with an error if they fail. */

int add_sentence(Sentences *found, Sentence sentence);

/* Add the sentences of a text by rules, see `refold.text.sentence_tables`. */
int cut_sentences(const Text *text, PyObject *cutting, Sentences *found);

/* Score sentences, from one on, by rules, see `refold.scoring.feature_tables`. */
int score_sentences(Sentences *found, Py_ssize_t from, PyObject *scoring);

/* Add the sentences of a text with their scores; what is said twice counts where it is first. */
int read_sentences(const Text *text, PyObject *cutting, PyObject *scoring, Sentences *found);

/* Return what a sentence says; if it was wrapped, with single blanks for all white space. */
PyObject *spell_sentence(const Sentence *sentence);

#endif
