/* A table of strings that is asked by characters: three names in four were seen before.
 *
 * Such a name costs no slice and no hash of Python's, and once two names are the same string, they
 * can be told apart by their addresses. Nothing is ever taken out, so a string that was handed out
 * lives as long as the table.
 */
#include "known.h"

#include <string.h>

enum { FIRST_COUNT = 512 };

/* Multiplying halves spreads each bit over all others; what comes out depends on the seed. */
static inline uint64_t
mix(uint64_t state, uint64_t more)
{
    state ^= more;
    return (uint64_t)((uint32_t)state ^ 0x53C5CA59u) * ((uint32_t)(state >> 32) ^ 0x74743C1Bu);
}

static inline uint64_t
four_bytes(const unsigned char *data)
{
    uint32_t bytes;
    memcpy(&bytes, data, sizeof bytes);
    return bytes;
}

/* A hash of the bytes; the last few are read together with some before, so there is no rest. */
static inline uint32_t
hash_of(uint64_t seed, Letters letters)
{
    const unsigned char *data = letters.data;
    size_t size = (size_t)letters.length * (size_t)letters.kind;
    uint64_t state = seed;
    if (size >= 8) {
        for (size_t place = 0; place + 8 < size; place += 8) {
            state = mix(state, eight_bytes(data + place));
        }
        state = mix(state, eight_bytes(data + size - 8));
    } else if (size >= 4) {
        state = mix(state, four_bytes(data) << 32 | four_bytes(data + size - 4));
    } else if (size > 0) {
        uint32_t bytes = (uint32_t)data[0] << 16 | (uint32_t)data[size / 2] << 8 | data[size - 1];
        state = mix(state, bytes);
    }
    state = mix(state, seed ^ size);
    return (uint32_t)(state ^ state >> 32);
}

static inline int
is_same(const Known *known, uint32_t hash, Letters letters)
{
    return known->hash == hash && PyUnicode_GET_LENGTH(known->name) == letters.length
        && (int)PyUnicode_KIND(known->name) == letters.kind
        && memcmp(PyUnicode_DATA(known->name), letters.data,
                  (size_t)letters.length * (size_t)letters.kind) == 0;
}

/* The slot of the letters: the one where they are, or the free one where they belong. */
static inline Known *
slot_of(const KnownNames *names, uint32_t hash, Letters letters)
{
    size_t place = hash & (names->count - 1);
    while (names->slots[place].name != NULL && !is_same(&names->slots[place], hash, letters)) {
        place = (place + 1) & (names->count - 1);
    }
    return &names->slots[place];
}

static int
make_room(KnownNames *names)
{
    size_t count = names->count * 2;
    Known *slots = PyMem_Calloc(count, sizeof *slots);
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t old = 0; old < names->count; old++) {
        if (names->slots[old].name != NULL) {
            size_t place = names->slots[old].hash & (count - 1);
            while (slots[place].name != NULL) {
                place = (place + 1) & (count - 1);
            }
            slots[place] = names->slots[old];
        }
    }
    PyMem_Free(names->slots);
    names->slots = slots;
    names->count = count;
    return 0;
}

/* Put a name where it belongs; the table takes the reference over, whatever comes of it. */
static Known *
put(KnownNames *names, Known *slot, uint32_t hash, Letters letters, PyObject *name)
{
    if (name == NULL) {
        return NULL;
    }
    if (names->used * 2 >= names->count) {
        if (make_room(names) < 0) {
            Py_DECREF(name);
            return NULL;
        }
        slot = slot_of(names, hash, letters);
    }
    slot->name = name;
    slot->hash = hash;
    slot->flags = 0;
    names->used++;
    return slot;
}

static Letters
letters_of(PyObject *name)
{
    Letters letters = {PyUnicode_DATA(name), PyUnicode_GET_LENGTH(name), PyUnicode_KIND(name)};
    return letters;
}

/* The seed comes from Python, which takes another one in every process: nobody can prepare names
 * that all fall on one place. */
int
known_init(KnownNames *names)
{
    PyObject *word = PyUnicode_FromString("names");
    if (word == NULL) {
        return -1;
    }
    names->seed = (uint64_t)PyObject_Hash(word);
    Py_DECREF(word);
    names->used = 0;
    names->count = FIRST_COUNT;
    names->slots = PyMem_Calloc(FIRST_COUNT, sizeof *names->slots);
    if (names->slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

void
known_clear(KnownNames *names)
{
    for (size_t place = 0; names->slots != NULL && place < names->count; place++) {
        Py_XDECREF(names->slots[place].name);
    }
    PyMem_Free(names->slots);
    names->slots = NULL;
}

const Known *
known_find(const KnownNames *names, Letters letters)
{
    return slot_of(names, hash_of(names->seed, letters), letters);
}

Known *
known_add(KnownNames *names, PyObject *name)
{
    Letters letters = letters_of(name);
    uint32_t hash = hash_of(names->seed, letters);
    Known *slot = slot_of(names, hash, letters);
    return slot->name != NULL ? slot : put(names, slot, hash, letters, Py_NewRef(name));
}

Known *
known_add_ascii(KnownNames *names, const unsigned char *data, Py_ssize_t length)
{
    Letters letters = {data, length, PyUnicode_1BYTE_KIND};
    uint32_t hash = hash_of(names->seed, letters);
    Known *slot = slot_of(names, hash, letters);
    if (slot->name != NULL) {
        return slot;
    }
    PyObject *name = PyUnicode_New(length, 127);
    if (name != NULL) {
        memcpy(PyUnicode_1BYTE_DATA(name), data, (size_t)length);
    }
    return put(names, slot, hash, letters, name);
}
