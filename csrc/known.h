/* The names and words that were found so far: one string for each, found again by its characters. */
#ifndef REFOLD_KNOWN_H
#define REFOLD_KNOWN_H

#include "text.h"

enum { IS_STARTER = 1, IS_UNIT = 2 };

typedef struct {
    PyObject *name; /* NULL where nothing is known */
    uint32_t hash;
    uint32_t flags; /* what else is known of it, such as that it is a unit; 0 if nothing */
} Known;

typedef struct {
    Known *slots;
    size_t count; /* of slots: a power of two, and at least half of them are free */
    size_t used;
    uint64_t seed;
} KnownNames;

/* The characters of a name, one to four bytes each. */
typedef struct {
    const void *data;
    Py_ssize_t length;
    int kind;
} Letters;

int known_init(KnownNames *names);
void known_clear(KnownNames *names);

/* What is known of the letters, or a slot without a name. */
const Known *known_find(const KnownNames *names, Letters letters);

/* Add a string, or find the one that was added before; NULL with an error if there is no memory. */
Known *known_add(KnownNames *names, PyObject *name);

/* The same for ASCII letters, of which a string is made only if they are new. */
Known *known_add_ascii(KnownNames *names, const unsigned char *data, Py_ssize_t length);

#endif
