/* Words and values of a text, and the shape of each. */
#ifndef REFOLD_ITEMS_H
#define REFOLD_ITEMS_H

#include "known.h"

enum { MAX_ITEM = 120 }; /* longer ones mean nothing */

/* As in src/refold/planner/items.py. */
typedef enum {
    PATH, EMAIL, ID, NUMBER, LONG_NUMBER, SMALL_NUMBER, DATE, DOTTED, SNAKE, CAMEL, MIXED,
    SHORT_MIXED, WORD, NAME, UPPER, CJK, NONE,
} Shape;

/* The shape of an item of at least one ASCII character and at most MAX_ITEM; words that are in
 * *stop*, in small letters, mean nothing. */
Shape shape_of(const KnownNames *stop, const unsigned char *item, Py_ssize_t length);

#endif
