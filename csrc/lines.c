/* The output of tools, line by line: which lines have a shape, what they name and tell.
 *
 * Says what the patterns of refold.strategies.structured say, of texts of one byte a character: in
 * all others there are letters that a pattern takes for others.
 */
#include "scan.h"

#include <string.h>

enum { IS_SMALL = 0x20 }; /* the bit that tells small letters from capitals */

typedef struct {
    const Py_UCS1 *at;  /* the next character */
    const Py_UCS1 *end; /* behind the last one */
} Line;

enum { MOST_WORDS = 16 };

typedef struct {
    const char *at[MOST_WORDS];
    Py_ssize_t size[MOST_WORDS];
    int count;
    unsigned long firsts; /* one bit for each letter that one of them begins with */
    Py_UCS1 folding; /* what makes a letter small, if capitals do not matter */
} Words;

static int
is_blank(Py_UCS1 c)
{
    return Py_UNICODE_ISSPACE(c);
}

static int
is_word(Py_UCS1 c)
{
    return c < BEYOND ? is_letter(c) || is_digit(c) || c == '_' : Py_UNICODE_ISALNUM(c);
}

/* The line that begins at `at`, without its line feed. */
static Line
line_at(const Py_UCS1 *at, const Py_UCS1 *end)
{
    const Py_UCS1 *feed = memchr(at, '\n', (size_t)(end - at));
    Line line = {at, feed == NULL ? end : feed};
    return line;
}

/* The same line without the blanks around it. */
static Line
strip(Line line)
{
    while (line.at < line.end && is_blank(*line.at)) {
        line.at++;
    }
    while (line.at < line.end && is_blank(line.end[-1])) {
        line.end--;
    }
    return line;
}

/* Where the name of a file ends that a line begins with, as in `src/a.py:12: …`, or NULL. */
static const Py_UCS1 *
file_end(Line line)
{
    int has_dot = 0;
    const Py_UCS1 *at = line.at;
    for (; at < line.end && *at != ':' && !is_blank(*at); at++) {
        has_dot |= *at == '.';
    }
    if (!has_dot || at == line.end || *at != ':') {
        return NULL;
    }
    const Py_UCS1 *digits = at + 1, *behind = digits;
    while (behind < line.end && is_digit(*behind)) {
        behind++;
    }
    return behind > digits && behind < line.end && *behind == ':' ? at : NULL;
}

/* The bit of a letter, small or not; other characters share one with some letter. */
static unsigned long
bit_of(Py_UCS1 c)
{
    return 1UL << (c & 31);
}

/* Whether the characters from `at` to `end` are one of the words. */
static int
is_listed(const Py_UCS1 *at, const Py_UCS1 *end, const Words *words)
{
    if (at == end || !(words->firsts & bit_of(*at))) {
        return 0;
    }
    for (int number = 0; number < words->count; number++) {
        const char *word = words->at[number];
        Py_ssize_t size = words->size[number], same = 0;
        if (size != end - at) {
            continue;
        }
        while (same < size && (at[same] | words->folding) == (Py_UCS1)word[same]) {
            same++;
        }
        if (same == size) {
            return 1;
        }
    }
    return 0;
}

static const Py_UCS1 *
word_end(const Py_UCS1 *at, const Py_UCS1 *end)
{
    while (at < end && is_word(*at)) {
        at++;
    }
    return at;
}

static int
tells(Line line, const Words *words)
{
    while (line.at < line.end) {
        const Py_UCS1 *end = word_end(line.at, line.end);
        if (is_listed(line.at, end, words)) {
            return 1;
        }
        line.at = end + 1;
    }
    return 0;
}

/* Whether a line is a bullet or a pair: blanks and a mark, or a few words and a colon. */
static int
is_item(Line line)
{
    const Py_UCS1 *at = line.at;
    while (at < line.end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    if (at == line.end) {
        return 0;
    }
    if (at > line.at && (*at == '-' || *at == '*')) {
        return 1;
    }
    if (!is_word(*at)) {
        return 0;
    }
    while (at < line.end && (is_word(*at) || *at == ' ' || (*at >= '-' && *at <= '/'))) {
        at++;
    }
    return line.end - at > 1 && *at == ':' && is_blank(at[1]);
}

static int
has_shape(Line line, const Words *verdicts)
{
    const Py_UCS1 *end = word_end(line.at, line.end);
    return file_end(line) != NULL || is_item(line) || is_listed(line.at, end, verdicts);
}

/* Read words with a space between two of them; returns 0, or -1 with an error. */
static int
read_words(PyObject *object, Words *words)
{
    if (!PyBytes_CheckExact(object)) {
        PyErr_SetString(PyExc_TypeError, "words are wanted");
        return -1;
    }
    const char *at = PyBytes_AS_STRING(object), *end = at + PyBytes_GET_SIZE(object);
    for (words->count = 0; at < end; words->count++) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        if (words->count == MOST_WORDS) {
            PyErr_SetString(PyExc_ValueError, "there are too many words");
            return -1;
        }
        words->at[words->count] = at;
        words->size[words->count] = (space == NULL ? end : space) - at;
        words->firsts |= bit_of((Py_UCS1)*at);
        at = space == NULL ? end : space + 1;
    }
    return 0;
}

/* Whether there is a text, as the first of so many arguments, and what it wants to be read with. */
static int
takes(PyObject *const *args, Py_ssize_t count, Py_ssize_t wanted, Words *words)
{
    if (count == wanted && PyUnicode_Check(args[0])) {
        return read_words(args[1], words) == 0;
    }
    PyErr_Format(PyExc_TypeError, "a text, words and %zd numbers are wanted", wanted - 2);
    return 0;
}

static Py_ssize_t
count_feeds(const Py_UCS1 *at, const Py_UCS1 *end)
{
    Py_ssize_t feeds = 0;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        feeds++;
        at++;
    }
    return feeds;
}

/* Whether more than half of the lines have a shape, and there are at least so many. */
static int
are_shaped(const Py_UCS1 *at, const Py_UCS1 *end, const Words *verdicts, Py_ssize_t least)
{
    Py_ssize_t lines = 0, shaped = 0;
    for (Line line = line_at(at, end);; line = line_at(line.end + 1, end)) {
        Line bare = strip(line);
        if (bare.at < bare.end) {
            lines++;
            shaped += has_shape(line, verdicts);
        }
        if (line.end == end) {
            return lines >= least && shaped > lines / 2;
        }
    }
}

PyObject *
scan_are_shaped(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Words verdicts = {.folding = 0};
    if (!takes(args, count, 4, &verdicts)) {
        return NULL;
    }
    Py_ssize_t least = PyLong_AsSsize_t(args[2]), width = PyLong_AsSsize_t(args[3]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (PyUnicode_KIND(args[0]) != PyUnicode_1BYTE_KIND) {
        Py_RETURN_NONE;
    }
    Py_ssize_t size = PyUnicode_GET_LENGTH(args[0]);
    const Py_UCS1 *at = PyUnicode_1BYTE_DATA(args[0]), *end = at + size;
    Py_ssize_t feeds = count_feeds(at, end);
    int is_dense = width > 0 && feeds >= size / width + (size % width != 0);
    return PyBool_FromLong(is_dense && feeds + 1 >= least
                           && are_shaped(at, end, &verdicts, least));
}

/* Add the characters of the text from `at` to `end` to the keys of `found`. */
static int
note(PyObject *found, PyObject *text, const Py_UCS1 *at, const Py_UCS1 *end)
{
    const Py_UCS1 *start = PyUnicode_1BYTE_DATA(text);
    PyObject *piece = PyUnicode_Substring(text, at - start, end - start);
    if (piece == NULL) {
        return -1;
    }
    int failed = PyDict_SetItem(found, piece, Py_None);
    Py_DECREF(piece);
    return failed;
}

static int
read_told(PyObject *text, const Words *words, Py_ssize_t most, PyObject *files, PyObject *status)
{
    const Py_UCS1 *at = PyUnicode_1BYTE_DATA(text), *end = at + PyUnicode_GET_LENGTH(text);
    for (Line line = line_at(at, end);; line = line_at(line.end + 1, end)) {
        Line bare = strip(line);
        const Py_UCS1 *behind = file_end(bare);
        if (behind != NULL && note(files, text, bare.at, behind) < 0) {
            return -1;
        }
        if (PyDict_GET_SIZE(status) < most && tells(bare, words)
            && note(status, text, bare.at, bare.end) < 0) {
            return -1;
        }
        if (line.end == end) {
            return 0;
        }
    }
}

PyObject *
scan_told(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Words words = {.folding = IS_SMALL};
    if (!takes(args, count, 3, &words)) {
        return NULL;
    }
    Py_ssize_t most = PyLong_AsSsize_t(args[2]);
    if (most == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (PyUnicode_KIND(args[0]) != PyUnicode_1BYTE_KIND) {
        Py_RETURN_NONE;
    }
    PyObject *files = PyDict_New(), *status = PyDict_New(), *both = NULL;
    if (files != NULL && status != NULL && read_told(args[0], &words, most, files, status) == 0) {
        both = PyTuple_Pack(2, files, status);
    }
    Py_XDECREF(files);
    Py_XDECREF(status);
    return both;
}
